import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { DomainError } from '../../core/errors.ts'
import { DAY } from '../../core/time.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { ImportOutcome, ImportSource, KnownRecord, NewRecord, ReadRecord } from '../imported-record.ts'
import { digestOf, importedTime, importRead, readRecord, requireBounds, skipped } from '../imported-record.ts'
import { findServiceIds, MAX_SERVICES } from '../ownership.ts'
import { message, titleText } from '../timeline/timeline-limits.ts'
import { renderUpdate } from './maintenance.ts'
import type { StoredSchedule } from './maintenance-series.ts'
import { insertSeries, removeScheduled, scheduleOf, zoneOf } from './maintenance-series.ts'
import { instantOf, localOf } from './recurrence.ts'

/** How many maintenance series one import may have. */
export const MAX_IMPORTED_SERIES = 50

const series = z.object({
  id: z.string().min(1).max(200),
  title: titleText,
  message,
  startsAt: importedTime,
  durationMinutes: z
    .int()
    .min(1)
    .max(7 * 24 * 60),
  rule: z.string().max(300),
  timeZone: z.string().max(100).nullish(),
  serviceIds: z.array(z.string()).max(MAX_SERVICES, `must have at most ${MAX_SERVICES} items`),
})

type Read = z.infer<typeof series> &
  ReadRecord & {
    readonly schedule: StoredSchedule
  }

/**
 * Imports maintenance series of another tool and schedules their next dates. Importing sends no notifications. The
 * installation and id identify a series that was imported before; if it has changed, it replaces the imported one with
 * its future dates. Requires the scope ADMIN.
 * @returns the outcome for each, in order.
 * @throws Invalid if there are too many.
 */
export async function importSeries(
  ctx: ChangeContext,
  from: ImportSource,
  given: readonly unknown[],
): Promise<ImportOutcome[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  requireBounds([['series', 'repeating maintenances', given.length, MAX_IMPORTED_SERIES]])
  const read = await readSeries(ctx, organizationId, given)
  const texts = new Map(
    await Promise.all(
      read.flatMap((each) =>
        'outcome' in each || from.dryRun
          ? []
          : [renderUpdate(ctx, organizationId, each.message, null).then((text) => [each.id, text] as const)],
      ),
    ),
  )
  return importRead(ctx, organizationId, from, {
    kind: 'SERIES',
    read,
    textsOf: () => [],
    write: async (tx, all) => {
      const written: NewRecord[] = []
      for (const each of all) {
        const { id, title, message: text, schedule, serviceIds, digest } = each
        await removeFormer(tx, organizationId, each.known)
        const rendered = texts.get(id)
        if (rendered === undefined) throw new Error('A message was not rendered.')
        const data = { ...schedule, title, message: text, notifySubscribers: true, translations: {} }
        // An import is one event; the dates that it schedules are not announced.
        const [made] = await insertSeries(tx, organizationId, { data, serviceIds, rendered })
        written.push({ recordId: id, objectId: made.id, digest, version: made.version })
      }
      return written
    },
  })
}

async function readSeries(
  ctx: Context,
  organizationId: string,
  given: readonly unknown[],
): Promise<(Read | ImportOutcome)[]> {
  const zone = await zoneOf(ctx, organizationId)
  const read: (Read | ImportOutcome)[] = []
  const seen = new Set<string>()
  for (const each of given) {
    // A rule without dates takes 8 ms.
    await yieldAfterTimeSlice(organizationId)
    const valid = readRecord(series, each)
    if ('outcome' in valid) read.push(valid)
    else if (seen.size === seen.add(valid.id).size) read.push(skipped('It is listed twice.'))
    else read.push(await planned(ctx, organizationId, valid, zone))
  }
  return read
}

async function planned(
  ctx: Context,
  organizationId: string,
  given: z.infer<typeof series>,
  zone: string,
): Promise<Read | ImportOutcome> {
  const { startsAt, durationMinutes, rule } = given
  const own = await findServiceIds(ctx, organizationId, given.serviceIds)
  const serviceIds = [...new Set(given.serviceIds)].filter((id) => own.has(id))
  const content = { ...given, serviceIds }
  try {
    const timeZone = given.timeZone ?? zone
    const planned = { startsAt: recentStart({ startsAt, rule, timeZone }, ctx.now()), durationMinutes, rule, timeZone }
    const schedule = await scheduleOf({ ...planned, skips: [] }, ctx.now())
    return { ...content, schedule, digest: digestOf(content) }
  } catch (error) {
    // An unknown time zone, or an unsupported rule.
    if (error instanceof DomainError || error instanceof RangeError)
      return skipped(`Its rule can’t be used: ${error.message}`)
    throw error
  }
}

/** The maximum age of a first start. */
const MAX_AGE = 300 * DAY

/** Returns a recent start with the same future dates: moved by whole days or weeks in local time. */
function recentStart(
  { startsAt, rule, timeZone }: { readonly startsAt: Date; readonly rule: string; readonly timeZone: string },
  now: Date,
): Date {
  const age = now.getTime() - startsAt.getTime()
  if (age < MAX_AGE) return startsAt
  const every = /(?:^|;)INTERVAL=(\d{1,3})(?:;|$)/.exec(rule)?.[1] ?? '1'
  const cycle = (/FREQ=WEEKLY/.test(rule) ? 7 : 1) * Number(every) * DAY
  // A rule with an interval of several months or years depends on its start.
  if (cycle === 0 || (!/FREQ=(?:DAILY|WEEKLY)/.test(rule) && every !== '1')) return startsAt
  const local = Date.parse(`${localOf(timeZone, startsAt)}:00Z`)
  const later = local + Math.floor((age - DAY) / cycle) * cycle
  return instantOf(timeZone, new Date(later).toISOString().slice(0, 16))
}

/** Removes a series that was imported before, with its scheduled dates. */
async function removeFormer(tx: Context, organizationId: string, known: KnownRecord | undefined): Promise<void> {
  if (known === undefined) return
  await removeScheduled(tx, known.objectId, [])
  await tx.db.maintenanceSeries.delete({ where: { id: known.objectId, organizationId } })
}
