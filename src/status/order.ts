import { z } from 'zod'
import type { Context } from '../context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { typeOfId } from '../id.ts'
import { invalid, validate } from '../validate.ts'
import { notFound, requireDistinct } from './guard.ts'

/** Things that an organization has in an order of its own: their positions count from 0, without gaps. */
type Ordered = 'Service' | 'ServiceGroup'

const wholeOrder = z.object({ ids: z.array(z.string()) })

/**
 * Puts things in the order of the input's `ids`, inside a change.
 * @throws Invalid unless `ids` names each of them once. @throws NotFound when it names anything else.
 */
export async function putInOrder(
  { db }: Context,
  type: Ordered,
  organizationId: string,
  input: unknown,
): Promise<void> {
  const { ids } = validate(wholeOrder, input)
  requireDistinct(ids, (index) => ['ids', index])
  if (ids.some((id) => typeOfId(id) !== type)) throw notFound(type)
  const table = Prisma.raw(`"${type}"`)
  const rows = await db.$queryRaw<{ id: string }[]>`SELECT id FROM ${table} WHERE "organizationId" = ${organizationId}`
  const existing = new Set(rows.map(({ id }) => id))
  if (ids.some((id) => !existing.has(id))) throw notFound(type)
  if (ids.length !== existing.size) {
    throw invalid([{ path: ['ids'], message: `must name each of the ${existing.size} once, and names ${ids.length}` }])
  }
  await db.$executeRaw`
    UPDATE ${table} AS thing SET position = place.number - 1
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS place (id, number) WHERE thing.id = place.id`
}

/** Closes the gap that a deleted thing has left. */
export async function closeGap(
  { db }: Context,
  type: Ordered,
  organizationId: string,
  position: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE ${Prisma.raw(`"${type}"`)} SET position = position - 1
    WHERE "organizationId" = ${organizationId} AND position > ${position}`
}
