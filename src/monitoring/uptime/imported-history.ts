import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { DAY } from '../../core/time.ts'
import { cappedText, lineText, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'

/** The checks of a service by another tool on a UTC day. They are shown separately and never part of our figures. */
export interface ImportedDay {
  /** The name of the tool. */
  readonly source: string
  readonly up: number
  readonly down: number
  /** Checks during maintenance. */
  readonly maintenance: number
}

/** The maximum number of days of a history: the year that a page shows, and a margin. */
export const MAX_IMPORTED_DAYS = 400
/** The maximum number of histories per import. */
export const MAX_HISTORIES = 500
/** The maximum number of checks per day: more than ten per second. */
const MAX_CHECKS = 1_000_000

const counts = z
  .array(z.int().min(0).max(MAX_CHECKS))
  .min(1, 'must have a day')
  .max(MAX_IMPORTED_DAYS, `must have at most ${MAX_IMPORTED_DAYS} days`)

/** A date such as `2026-11-20`, as midnight UTC. */
const date = cappedText(20)
  .regex(/^20\d\d-(0[1-9]|1[0-2])-([0-2]\d|3[01])$/, 'must be a date such as 2026-11-20')
  .transform((text) => new Date(`${text}T00:00:00Z`))
  .refine((at) => !Number.isNaN(at.getTime()), 'must be a date such as 2026-11-20')

const history = z
  .object({ serviceId: z.string(), since: date, up: counts, down: counts, maintenance: counts })
  .refine(({ up, down, maintenance }) => up.length === down.length && up.length === maintenance.length, {
    message: 'must have the same number of days in each list',
  })

const importInput = z.object({
  source: lineText(40),
  histories: z
    .array(history)
    .max(MAX_HISTORIES, `must have at most ${MAX_HISTORIES} histories`)
    .refine(
      (all) => new Set(all.map(({ serviceId }) => serviceId)).size === all.length,
      'must not contain a service twice',
    ),
  dryRun: z.boolean(),
})

type History = Readonly<z.infer<typeof history>>

/** The result of importing a history. */
export interface ImportedHistoryResult {
  readonly serviceId: string
  readonly outcome: 'CREATED' | 'CHANGED' | 'UNCHANGED' | 'SKIPPED'
  /** Why it was skipped; empty: it was not skipped. */
  readonly reason: string
}

/**
 * Stores the daily counts of services by another tool. Replaces the counts of days that were imported before and keeps
 * other days, up to the newest `MAX_IMPORTED_DAYS`. Does not change uptimes or send notifications. Requires the scope
 * ADMIN.
 * @param input with `dryRun`, the function only returns the outcomes.
 * @throws Invalid.
 */
export async function importHistories(ctx: ChangeContext, input: unknown): Promise<ImportedHistoryResult[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { source, histories, dryRun } = validate(importInput, input)
  if (dryRun) return (await compare(ctx, organizationId, source, histories)).map(({ result }) => result)
  return change(ctx, organizationId, async (tx) => {
    const compared = await compare(tx, organizationId, source, histories)
    const changed = compared.filter(({ result }) => result.outcome === 'CREATED' || result.outcome === 'CHANGED')
    const results = compared.map(({ result }) => result)
    if (changed.length === 0) return [results]
    const rows = changed.map(({ next }) => ({ ...next, source, organizationId, importedAt: tx.now() }))
    await tx.db.$executeRaw`
      INSERT INTO "ImportedHistory" ("serviceId", "organizationId", source, since, up, down, maintenance, "importedAt")
      SELECT "serviceId", "organizationId", source, since, up, down, maintenance, "importedAt"
      FROM jsonb_populate_recordset(NULL::"ImportedHistory", ${JSON.stringify(rows)}::jsonb)
      ON CONFLICT ("serviceId") DO UPDATE SET source = EXCLUDED.source, since = EXCLUDED.since, up = EXCLUDED.up,
        down = EXCLUDED.down, maintenance = EXCLUDED.maintenance, "importedAt" = EXCLUDED."importedAt"`
    const subjectName = `${source}: ${changed.length} ${changed.length === 1 ? 'service' : 'services'}`
    return [results, { kind: 'HISTORY_IMPORTED', subjectId: organizationId, subjectName }]
  })
}

interface Compared {
  readonly result: ImportedHistoryResult
  /** The history to store. */
  readonly next: History
}

async function compare(
  { db, now }: Context,
  organizationId: string,
  source: string,
  histories: readonly History[],
): Promise<Compared[]> {
  const ids = histories.map(({ serviceId }) => serviceId)
  const own = await db.service.findMany({
    where: { organizationId, id: { in: ids } },
    select: { id: true, imported: true },
  })
  const services = new Map(own.map(({ id, imported }) => [id, imported]))
  return histories.map((given) => {
    const { serviceId } = given
    const result = (outcome: ImportedHistoryResult['outcome'], reason = '') => ({ serviceId, outcome, reason })
    const known = services.get(serviceId)
    if (known === undefined) return { next: given, result: result('SKIPPED', 'The service does not exist.') }
    if (lastDayOf(given) > now().getTime() + DAY)
      return { next: given, result: result('SKIPPED', 'Its days are in the future.') }
    if (known === null) return { next: newest(given), result: result('CREATED') }
    const next = known.source === source ? merged(known, given) : newest(given)
    const isSame = known.source === source && JSON.stringify(plain(known)) === JSON.stringify(plain(next))
    return { next, result: result(isSame ? 'UNCHANGED' : 'CHANGED') }
  })
}

const lastDayOf = ({ since, up }: Pick<History, 'since' | 'up'>) => since.getTime() + (up.length - 1) * DAY

const plain = ({ since, up, down, maintenance }: Omit<History, 'serviceId'>) => [+since, up, down, maintenance]

/** Cuts a history to the newest days. */
function newest({ serviceId, since, up, down, maintenance }: History): History {
  const left = Math.max(0, up.length - MAX_IMPORTED_DAYS)
  return {
    serviceId,
    since: new Date(since.getTime() + left * DAY),
    up: up.slice(left),
    down: down.slice(left),
    maintenance: maintenance.slice(left),
  }
}

/** Merges two histories. Days with checks in `given` replace those of `known`. */
function merged(known: History, given: History): History {
  const end = Math.max(lastDayOf(known), lastDayOf(given))
  const begin = Math.max(Math.min(+known.since, +given.since), end - (MAX_IMPORTED_DAYS - 1) * DAY)
  const days = Array.from({ length: Math.round((end - begin) / DAY) + 1 }, (_, index) => {
    const at = begin + index * DAY
    return countsAt(given, at) ?? countsAt(known, at) ?? ([0, 0, 0] as const)
  })
  return {
    serviceId: given.serviceId,
    since: new Date(begin),
    up: days.map(([up]) => up),
    down: days.map(([, down]) => down),
    maintenance: days.map(([, , maintenance]) => maintenance),
  }
}

function countsAt({ since, up, down, maintenance }: History, at: number): readonly [number, number, number] | null {
  const index = Math.round((at - since.getTime()) / DAY)
  const found = [up[index] ?? 0, down[index] ?? 0, maintenance[index] ?? 0] as const
  return found.some((count) => count > 0) ? found : null
}

/** An imported day in JSON: its offset from the first day, and its counts. */
type DayJson = readonly [number, number, number, number]

/**
 * Reads the imported days of services within a range of days (midnight UTC, inclusive), by service id and then by epoch
 * milliseconds of the day. Runs one statement.
 */
export async function readImportedDays(
  db: Database,
  serviceIds: readonly string[],
  first: Date,
  last: Date,
): Promise<Map<string, ReadonlyMap<number, ImportedDay>>> {
  const rows = await db.$queryRaw<{ id: string; source: string; days: string }[]>`
    SELECT "serviceId" AS id, source, json_agg(json_build_array(since + number - ${first}::date, up, down, maintenance))::text AS days
    FROM (
      SELECT "serviceId", source, since, number, counted.up, counted.down, counted.maintenance
      FROM "ImportedHistory", unnest(up, down, maintenance) WITH ORDINALITY AS counted (up, down, maintenance, place),
        LATERAL (SELECT (place - 1)::int AS number) AS numbered
      WHERE "serviceId" = ANY (${[...serviceIds]}::text[])
        AND since + number BETWEEN ${first}::date AND ${last}::date AND counted.up + counted.down + counted.maintenance > 0
    ) AS imported GROUP BY "serviceId", source`
  return new Map(
    rows.map(({ id, source, days }) => {
      const found = (JSON.parse(days) as DayJson[]).map(([place, up, down, maintenance]) => {
        return [first.getTime() + place * DAY, { source, up, down, maintenance }] as const
      })
      return [id, new Map(found)]
    }),
  )
}

/** Sums the imported days of a service; null: there are none. */
export function sumImported(days: readonly (ImportedDay | undefined)[]): ImportedDay | null {
  return days.reduce<ImportedDay | null>((sum, day) => {
    if (day === undefined || sum === null) return day ?? sum
    const { up, down, maintenance } = day
    return {
      source: day.source,
      up: sum.up + up,
      down: sum.down + down,
      maintenance: sum.maintenance + maintenance,
    }
  }, null)
}
