import { z } from 'zod'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { DAY } from '../core/time.ts'
import { lineText, validate } from '../core/validation.ts'
import { importHistories, MAX_HISTORIES } from '../monitoring/imported-history.ts'

/** What becomes of a record. */
export interface RecordResult {
  readonly section: 'history'
  /** Its key there: of a history, that of its service. */
  readonly key: string
  readonly name: string
  readonly outcome: 'CREATED' | 'CHANGED' | 'UNCHANGED' | 'SKIPPED'
  /** What comes along, or why it does not. */
  readonly reason: string
}

const recordsInput = z.object({
  source: lineText(40),
  dryRun: z.boolean().nullish(),
  histories: z
    .array(z.looseObject({ key: z.string().max(100), since: z.string(), up: z.array(z.int()) }))
    .max(MAX_HISTORIES, `must be at most ${MAX_HISTORIES}`)
    .nullish(),
})

/**
 * Imports what another tool recorded about services that an import made: it is marked as imported, nobody is notified, and no figure here
 * changes. What was imported before is found by its key, and changes if it has changed there. Requires the scope ADMIN.
 * @param input `dryRun`: says what it would do, and changes nothing; services that do not exist count as if they did.
 * @throws Invalid.
 */
export async function importRecords(ctx: Context, input: unknown): Promise<RecordResult[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { source, dryRun, histories } = validate(recordsInput, input)
  const given = histories ?? []
  if (given.length === 0) return []
  const services = await servicesByKey(
    ctx,
    organizationId,
    given.map(({ key }) => key),
  )
  const known = given.filter(({ key }) => services.has(key))
  const results = await importHistories(ctx, {
    ...{ source, dryRun: dryRun ?? false },
    histories: known.map(({ key, ...of }) => ({ ...of, serviceId: services.get(key)?.id })),
  })
  const byKey = new Map(known.map(({ key }, index) => [key, results[index]]))
  return given.map(({ key, since, up }) => {
    const result = byKey.get(key)
    const expected = dryRun ? ('CREATED' as const) : ('SKIPPED' as const)
    const outcome = result?.outcome ?? expected
    const missing = dryRun ? '' : 'There is no such service.'
    const reason = (result === undefined ? missing : result.reason) || daysWords(since, up.length)
    return { section: 'history', key, name: services.get(key)?.name ?? key, outcome, reason }
  })
}

function daysWords(since: string, count: number): string {
  const last = new Date(Date.parse(since) + (count - 1) * DAY).toISOString().slice(0, 10)
  return count === 1
    ? `1 day, ${since}, labelled as imported`
    : `${count} days, ${since} to ${last}, labelled as imported`
}

/** Returns the services that imports and configuration files manage by these keys. */
async function servicesByKey({ db }: Context, organizationId: string, keys: readonly string[]) {
  const found = await db.$queryRaw<{ key: string; id: string; name: string }[]>`
    SELECT key, id, name FROM "ManagedObject" JOIN "Service" ON id = "objectId"
    WHERE "ManagedObject"."organizationId" = ${organizationId} AND "Service"."organizationId" = ${organizationId}
      AND section = 'services' AND key = ANY (${[...keys]}::text[])`
  return new Map(found.map(({ key, ...service }) => [key, service]))
}
