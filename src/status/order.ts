import { z } from 'zod'
import type { Context } from '../context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { typeOfId } from '../id.ts'
import { invalid, validate } from '../validate.ts'
import { notFound, requireDistinct } from './guard.ts'

/**
 * What an organization puts in an order of its own. A position stays as it is until the order changes, also when others are
 * deleted, since the cursors of callers hold it: there may be gaps. What callers see counts from 0 without gaps.
 */
type Ordered = 'Service' | 'ServiceGroup'

const wholeOrder = z.object({ ids: z.array(z.string()) })

/**
 * Puts things in the order of the input's `ids`, inside a change. Gives whether it was another before.
 * @throws Invalid unless `ids` names each of them once. @throws NotFound when it names anything else.
 */
export async function putInOrder(
  { db }: Context,
  type: Ordered,
  organizationId: string,
  input: unknown,
): Promise<boolean> {
  const { ids } = validate(wholeOrder, input)
  requireDistinct(ids, (index) => ['ids', index])
  if (ids.some((id) => typeOfId(id) !== type)) throw notFound(type)
  const table = Prisma.raw(`"${type}"`)
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM ${table} WHERE "organizationId" = ${organizationId} ORDER BY position, id`
  const existing = new Set(rows.map(({ id }) => id))
  if (ids.some((id) => !existing.has(id))) throw notFound(type)
  if (ids.length !== existing.size) {
    throw invalid([{ path: ['ids'], message: `must name each of the ${existing.size} once, and names ${ids.length}` }])
  }
  if (rows.every(({ id }, index) => id === ids[index])) return false
  await db.$executeRaw`
    UPDATE ${table} AS thing SET position = slot.position
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS place (id, number)
    JOIN (
      SELECT position, row_number() OVER (ORDER BY position, id) AS number
      FROM ${table} WHERE "organizationId" = ${organizationId}
    ) AS slot ON slot.number = place.number
    WHERE thing.id = place.id`
  return true
}

/** A position after all that an organization has. */
export async function nextPosition({ db }: Context, type: Ordered, organizationId: string): Promise<number> {
  const [row] = await db.$queryRaw<{ next: number }[]>`
    SELECT coalesce(max(position) + 1, 0) AS next FROM ${Prisma.raw(`"${type}"`)}
    WHERE "organizationId" = ${organizationId}`
  return row?.next ?? 0
}
