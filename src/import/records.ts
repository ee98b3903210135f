import { z } from 'zod'
import { managedObjects } from '../account/views.ts'
import { requireScope } from '../core/access.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Context } from '../core/context.ts'
import { DAY } from '../core/time.ts'
import { lineText, validate } from '../core/validation.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { importHistories, MAX_HISTORIES } from '../monitoring/uptime/imported-history.ts'
import type { NotificationContext } from '../notification/context.ts'
import { importConfirmedSubscribers, MAX_IMPORTED_SUBSCRIBERS } from '../notification/subscriber/subscriber-import.ts'
import type { ImportOutcome, ImportSource } from '../status/imported-record.ts'
import { importIncidents, MAX_IMPORTED_INCIDENTS } from '../status/incident/incident-import.ts'
import { importMaintenances, MAX_IMPORTED_MAINTENANCES } from '../status/maintenance/maintenance-import.ts'
import { importSeries, MAX_IMPORTED_SERIES } from '../status/maintenance/series-import.ts'
import { services } from '../status/views.ts'
import type { RecordSection } from './translation.ts'

/** The outcome of importing a record. */
export interface RecordResult extends ImportOutcome {
  readonly section: RecordSection
  /** The key or id at the source. For a history, the key of its service. */
  readonly key: string
  readonly name: string
  /** A summary of the imported data, or why the record is skipped. */
  readonly reason: string
}

const keyText = z.string().max(200)
/** Records are validated one by one on import, so that an invalid one does not stop the others. */
const records = <T extends z.ZodRawShape>(most: number, shape: T) =>
  z.array(z.looseObject(shape)).max(most, `must be at most ${most}`).nullish()
const MAX_LINKS = 1000

const recordsInput = z.object({
  source: lineText(40),
  name: z.string().max(40).nullish(),
  dryRun: z.boolean().nullish(),
  histories: records(MAX_HISTORIES, { key: z.string().max(100), since: z.string(), up: z.array(z.int()) }),
  incidents: records(MAX_IMPORTED_INCIDENTS, {
    id: keyText,
    title: z.string(),
    startedAt: z.unknown(),
    updates: z
      .array(
        z.looseObject({
          services: z
            .array(z.looseObject({ key: keyText, status: z.string() }))
            .max(MAX_LINKS)
            .nullish(),
        }),
      )
      .max(MAX_LINKS),
  }),
  maintenances: records(MAX_IMPORTED_MAINTENANCES, {
    id: keyText,
    title: z.string(),
    startsAt: z.unknown(),
    services: z.array(keyText).max(MAX_LINKS),
  }),
  series: records(MAX_IMPORTED_SERIES, { id: keyText, title: z.string(), services: z.array(keyText).max(MAX_LINKS) }),
  subscribers: records(MAX_IMPORTED_SUBSCRIBERS, {
    address: z.string().max(400),
    services: z.array(keyText).max(MAX_LINKS).nullish(),
  }),
})

/**
 * Imports records of another tool: daily counts of services, incidents, maintenance and confirmed subscribers. Marks them as
 * imported and sends no notifications. Finds earlier imports by key or id and updates them. Requires the scope ADMIN.
 * @param input with `dryRun`, returns the outcomes without changing anything, and treats missing services of histories as existing.
 * @throws Invalid.
 */
export async function importRecords(ctx: NotificationContext, input: unknown): Promise<RecordResult[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const given = validate(recordsInput, input)
  const { source } = given
  const from: ImportSource = {
    source,
    installation: given.name ? `${source} (${given.name})` : source,
    dryRun: given.dryRun ?? false,
  }
  const services = await servicesByKey(ctx, organizationId, keysIn(given))
  const idOf = (key: string) => services.byKey.get(key)?.id
  const idsOf = (keys: readonly string[]) => keys.flatMap((key) => idOf(key) ?? [])
  const results: RecordResult[] = []
  if (given.histories?.length) results.push(...(await importDays(ctx, from, given.histories, services.byKey)))
  if (given.incidents?.length) {
    const incidents = []
    for (const incident of given.incidents) {
      await yieldAfterTimeSlice(organizationId)
      const updates = incident.updates.map(({ services: named, ...update }) => ({
        ...update,
        services: (named ?? []).flatMap(({ key, status }) => {
          const serviceId = idOf(key)
          return serviceId === undefined ? [] : [{ serviceId, status }]
        }),
      }))
      incidents.push({ ...incident, updates })
    }
    const outcomes = await importIncidents(ctx, from, incidents)
    results.push(...named('incidents', given.incidents, outcomes, ({ startedAt }) => startedAt))
  }
  if (given.maintenances?.length) {
    const maintenances = given.maintenances.map((each) => ({ ...each, serviceIds: idsOf(each.services) }))
    const outcomes = await importMaintenances(ctx, from, maintenances)
    results.push(...named('maintenance', given.maintenances, outcomes, ({ startsAt }) => startsAt))
  }
  if (given.series?.length) {
    const series = given.series.map((each) => ({ ...each, serviceIds: idsOf(each.services) }))
    results.push(...named('maintenance', given.series, await importSeries(ctx, from, series), () => 'repeats'))
  }
  if (given.subscribers?.length) {
    const found = given.subscribers.map(({ address, services: wanted }) => {
      const ids = (wanted ?? []).flatMap((key) => idOf(key) ?? services.byName.get(key.trim().toLowerCase()) ?? [])
      // A dry run does not know the services that the import will create.
      const isLost = (wanted?.length ?? 0) > 0 && ids.length === 0 && !from.dryRun
      return { address, serviceIds: isLost ? null : ids }
    })
    const outcomes = await importConfirmedSubscribers(ctx, { subscribers: found, dryRun: from.dryRun })
    results.push(
      ...given.subscribers.map(({ address }, index) => ({
        ...{ section: 'subscribers' as const, key: address, name: address, outcome: 'SKIPPED' as const, reason: '' },
        ...outcomes[index],
      })),
    )
  }
  return results
}

type Given = z.infer<typeof recordsInput>

function keysIn({ histories, incidents, maintenances, series, subscribers }: Given): string[] {
  const keys = [
    ...(histories ?? []).map(({ key }) => key),
    ...(incidents ?? []).flatMap(({ updates }) =>
      updates.flatMap(({ services }) => (services ?? []).map(({ key }) => key)),
    ),
    ...[...(maintenances ?? []), ...(series ?? []), ...(subscribers ?? [])].flatMap(({ services }) => services ?? []),
  ]
  return [...new Set(keys)]
}

function named<T extends { readonly id: string; readonly title: string }>(
  section: RecordSection,
  given: readonly T[],
  outcomes: readonly ImportOutcome[],
  when: (each: T) => unknown,
): RecordResult[] {
  return given.map((each, index) => {
    const { outcome, reason } = outcomes[index] ?? { outcome: 'SKIPPED' as const, reason: '' }
    const at = when(each)
    const day = at instanceof Date ? at.toISOString().slice(0, 10) : String(at).slice(0, 10)
    return { section, key: each.id, name: each.title, outcome, reason: reason || day }
  })
}

/** Imports daily counts. */
async function importDays(
  ctx: ChangeContext,
  { source, dryRun }: ImportSource,
  given: NonNullable<Given['histories']>,
  services: ReadonlyMap<string, KeyedService>,
): Promise<RecordResult[]> {
  const known = given.filter(({ key }) => services.has(key))
  const results = await importHistories(ctx, {
    ...{ source, dryRun },
    histories: known.map(({ key, ...of }) => ({ ...of, serviceId: services.get(key)?.id })),
  })
  const byKey = new Map(known.map(({ key }, index) => [key, results[index]]))
  return given.map(({ key, since, up }) => {
    const result = byKey.get(key)
    const expected = dryRun ? ('CREATED' as const) : ('SKIPPED' as const)
    const outcome = result?.outcome ?? expected
    const missing = dryRun ? '' : 'No service has this key.'
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

interface KeyedService {
  readonly id: string
  readonly name: string
}

/** Returns the services that imports and configuration files manage by these keys, and those with these names. */
async function servicesByKey({ db }: Context, organizationId: string, keys: readonly string[]) {
  if (keys.length === 0) return { byKey: new Map<string, KeyedService>(), byName: new Map<string, string>() }
  const found = await db.$queryRaw<(KeyedService & { readonly key: string | null })[]>`
    SELECT managed.key, service.id, service.name FROM ${services} AS service
    LEFT JOIN ${managedObjects} AS managed ON managed."objectId" = service.id AND managed.section = 'services'
      AND managed."organizationId" = ${organizationId} AND managed.key = ANY (${[...keys]}::text[])
    WHERE service."organizationId" = ${organizationId} AND (managed.key IS NOT NULL
      OR lower(service.name) = ANY (${keys.map((key) => key.trim().toLowerCase())}::text[]))`
  return {
    byKey: new Map(found.flatMap(({ key, ...service }) => (key === null ? [] : [[key, service] as const]))),
    byName: new Map(found.map(({ id, name }) => [name.toLowerCase(), id])),
  }
}
