import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { typeOfId } from '../../core/id.ts'
import { invalid, validate } from '../../core/validation.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { notFound, requireDistinct } from '../ownership.ts'

/**
 * Objects with an order per organization. Stored positions stay when others are deleted, because callers' cursors
 * contain them, so there may be gaps. Callers see positions from 0 without gaps.
 */
type Ordered = 'Service' | 'ServiceGroup'

const reorderInput = z.object({ ids: z.array(z.string()) })

/**
 * Puts an organization's objects into the order of the input's `ids`, inside a change. Returns whether the order
 * changed.
 * @throws Invalid unless `ids` names each object once. @throws NotFound for other ids.
 */
export async function reorder(
  { db }: Context,
  type: Ordered,
  organizationId: string,
  input: unknown,
): Promise<boolean> {
  const { ids } = validate(reorderInput, input)
  requireDistinct(ids, (index) => ['ids', index])
  if (ids.some((id) => typeOfId(id) !== type)) throw notFound(type)
  const table = Prisma.raw(`"${type}"`)
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM ${table} WHERE "organizationId" = ${organizationId} ORDER BY position, id`
  const existing = new Set(rows.map(({ id }) => id))
  if (ids.some((id) => !existing.has(id))) throw notFound(type)
  if (ids.length !== existing.size) {
    const message = `must contain each of the ${existing.size} ids once, but contains ${ids.length}`
    throw invalid([{ path: ['ids'], message }])
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

/** Returns the number of objects, and a position after all of them. */
export async function placeAtEnd(
  { db }: Context,
  type: Ordered,
  organizationId: string,
): Promise<{ readonly count: number; readonly next: number }> {
  const [row] = await db.$queryRaw<{ count: number; next: number }[]>`
    SELECT count(*)::int AS count, coalesce(max(position) + 1, 0) AS next FROM ${Prisma.raw(`"${type}"`)}
    WHERE "organizationId" = ${organizationId}`
  return row ?? { count: 0, next: 0 }
}

/** Returns all ids, with those of `part` reordered within the positions that they occupy. */
export function placedWithin(all: readonly string[], part: readonly string[]): string[] {
  const moving = new Set(part)
  const next = part.values()
  return all.map((id) => (moving.has(id) ? (next.next().value ?? id) : id))
}

/**
 * Returns ids with one of them moved by one position among its siblings, which are in the same order as all; at the end
 * it stays.
 */
export function movedByOne(
  all: readonly string[],
  siblings: readonly string[],
  id: string,
  to: 'up' | 'down',
): string[] {
  const from = siblings.indexOf(id)
  const neighbour = siblings[to === 'up' ? from - 1 : from + 1]
  if (from < 0 || neighbour === undefined) return [...all]
  return placedWithin(all, to === 'up' ? [id, neighbour] : [neighbour, id])
}
