import { SECOND } from '../../core/time.ts'
import { invalid } from '../../core/validation.ts'
import { ServiceStatus, UptimeSource } from '../../generated/prisma/enums.ts'
import { costs } from '../../graphql/document/cost.ts'
import { CACHEABLE, cacheable } from '../../graphql/execution/cacheable.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { countedUptime } from '../../graphql/subscription/path-value.ts'
import type { ImportedDay } from '../uptime/imported-history.ts'
import { readImportedDays } from '../uptime/imported-history.ts'
import type { ServiceDay, UptimeSettings } from '../uptime/service-uptime.ts'
import { readServiceBars, readServiceDays, readServiceUptimes, readUptimeSettings } from '../uptime/service-uptime.ts'
import type { Condition, Span, Tally } from '../uptime/uptime.ts'
import { coveragePercent, nothing, outageTime, PARTIAL_OUTAGE_PERCENT, uptimePercent } from '../uptime/uptime.ts'
import type { DayUptime, RequestedSpan } from '../uptime/uptime-days.ts'
import { daySpans, readDays, visibleSpan } from '../uptime/uptime-days.ts'
import type { SpanQuery } from '../uptime/uptime-history.ts'
import { readUptimes } from '../uptime/uptime-history.ts'
import type { RangeName } from '../uptime/uptime-range.ts'
import { barCount } from '../uptime/uptime-range.ts'
import { builder } from './builder.ts'

interface Measured extends Span {
  readonly tally: Tally
  /** The source of the figures; absent: the measurements of monitors. */
  readonly source?: UptimeSource
}

const seconds = (description: string, ...conditions: readonly Condition[]) => ({
  description,
  resolve: ({ tally }: Measured) => Math.floor(conditions.reduce((sum, each) => sum + tally[each], 0) / SECOND),
})

const Figures = builder.interfaceRef<Measured>('UptimeFigures').implement({
  description: 'The uptime of a period, without maintenance. Time without probes is unknown.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'The start, at the earliest that of the tier’s history.' }),
    to: t.expose('to', { type: 'DateTime', description: 'The end, which is never in the future.' }),
    percentage: t.float({
      nullable: true,
      description:
        'The share of the known time that does not count as outage, in percent, rounded down. Null: no data.',
      resolve: ({ tally }) => uptimePercent(tally),
    }),
    coverage: t.float({
      nullable: true,
      description:
        'The share of the time without maintenance in which the state was known, in percent. Null: all of it was maintenance.',
      resolve: ({ tally }) => coveragePercent(tally),
    }),
    source: t.field({
      type: UptimeSource,
      description: 'The source of the figures.',
      resolve: ({ source }) => source ?? 'MONITORS',
    }),
    knownSeconds: t.int(seconds('Seconds known.', 'up', 'degraded', 'partial', 'down')),
    upSeconds: t.int(seconds('Seconds up.', 'up')),
    degradedSeconds: t.int(seconds('Seconds degraded.', 'degraded')),
    partialSeconds: t.int(
      seconds(
        `Seconds of partial outage, which incidents declared. ${PARTIAL_OUTAGE_PERCENT} % of them count as outage.`,
        'partial',
      ),
    ),
    downSeconds: t.int(seconds('Seconds down.', 'down')),
    outageSeconds: t.int({
      description: 'Seconds that count as outage: those down, and a share of those in partial outage.',
      resolve: ({ tally }) => Math.floor(outageTime(tally) / SECOND),
    }),
    unknownSeconds: t.int(seconds('Seconds unknown.', 'unknown')),
    maintenanceSeconds: t.int(seconds('Seconds under maintenance, which do not count.', 'maintenance')),
  }),
})

const FIGURES = [
  'from',
  'to',
  'percentage',
  'coverage',
  'source',
  'knownSeconds',
  'upSeconds',
  'degradedSeconds',
  'partialSeconds',
  'downSeconds',
  'outageSeconds',
  'unknownSeconds',
  'maintenanceSeconds',
] as const

const UptimeRef = builder.objectRef<Measured>('Uptime').implement({
  interfaces: [Figures],
  description: 'The availability of a monitor or service in a period.',
  extensions: cacheable(...FIGURES),
})

type ShownDay = DayUptime & Partial<Pick<ServiceDay, 'source' | 'incidentStatus'>>

const UptimeDayRef = builder.objectRef<ShownDay>('UptimeDay').implement({
  description: 'The uptime of a day in the organization’s time zone, up to now.',
  extensions: cacheable('date', 'incidentStatus', ...FIGURES),
  interfaces: [Figures],
  fields: (t) => ({
    date: t.string({
      description: 'The date, such as 2026-11-20.',
      resolve: ({ day }) => day.toISOString().slice(0, 'yyyy-mm-dd'.length),
    }),
    incidentStatus: t.field({
      type: ServiceStatus,
      nullable: true,
      description:
        'The worst status that incidents set on the service that day, regardless of monitors. Null: none; always null for a monitor.',
      resolve: ({ incidentStatus }) => incidentStatus,
    }),
  }),
})

const UptimeBarRef = builder.objectRef<ShownDay>('UptimeBar').implement({
  description: 'The uptime of one bar on a status page: an hour, a day or seven days.',
  extensions: cacheable('incidentStatus', ...FIGURES),
  interfaces: [Figures],
  fields: (t) => ({
    incidentStatus: t.field({
      type: ServiceStatus,
      nullable: true,
      description: 'The worst status that incidents set on the service in the time of the bar. Null: none.',
      resolve: ({ incidentStatus }) => incidentStatus,
    }),
  }),
})

const ranges = {
  HOURS_24: '24h',
  DAYS_7: '7d',
  DAYS_30: '30d',
  DAYS_90: '90d',
  YEAR: 'year',
} as const satisfies Record<string, RangeName>

type Range = keyof typeof ranges
const rangeOrder = Object.keys(ranges) as readonly Range[]

const UptimeRangeRef = builder.enumType('UptimeRange', {
  description: 'A range of a status page, up to now.',
  values: describedValues<Range>({
    DAYS_30: 'The last 30 days, with a bar per day.',
    DAYS_7: 'The last 7 days, with a bar per day.',
    DAYS_90: 'The last 90 days, with a bar per day.',
    HOURS_24: 'The last 24 hours, with a bar per hour in the page’s time zone.',
    YEAR: 'The last 365 days, with a bar per seven days.',
  }),
})

/** A monitor or a service. */
interface Subject {
  readonly id: string
  readonly organizationId: string
  /** The uptime source of the page through which the query reads it; null: the organization's. */
  readonly source?: UptimeSource | null
}

/** Reads the organizations of subjects, once per request. */
export const organizationOf = batchPerOperation(
  async ({ db }, ids: readonly string[]): Promise<readonly UptimeSettings[]> => {
    const byId = await readUptimeSettings({ db }, ids)
    return ids.map(
      (id) => byId.get(id) ?? { id, timeZone: 'UTC', tier: 'FREE', uptimeSource: 'MONITORS_AND_INCIDENTS' },
    )
  },
)

/** Returns the requested span of a subject's history, limited to the history of its organization's tier. */
export async function spanOf(ctx: GraphContext, { organizationId }: Subject, given: RequestedSpan): Promise<Span> {
  return visibleSpan(await organizationOf(ctx, organizationId), given, ctx.now())
}

const uptimeOf = batchPerOperation((ctx, asked: readonly SpanQuery[]) => readUptimes(ctx.db, asked, ctx.now()))

type AskedSpan = SpanQuery & Subject

const serviceUptimeOf = batchPerOperation(async (ctx, asked: readonly AskedSpan[]): Promise<readonly Measured[]> => {
  const uptimes = new Map<AskedSpan, Measured>()
  for (const [settings, together] of await byOrganization(ctx, asked)) {
    const read = await readServiceUptimes(ctx.db, settings, together, ctx.now())
    for (const [index, query] of together.entries()) {
      const uptime = read[index]
      if (uptime) uptimes.set(query, uptime)
    }
  }
  return asked.map((query) => uptimes.get(query) ?? { from: query.from, to: query.to, tally: nothing })
})

/** Groups queries by organization and uptime source. */
async function byOrganization<T extends Subject>(
  ctx: GraphContext,
  asked: readonly T[],
): Promise<[UptimeSettings, T[]][]> {
  const groups = new Map<string, { readonly first: T; readonly all: T[] }>()
  for (const each of asked) {
    const key = `${each.organizationId} ${each.source ?? ''}`
    const group = groups.get(key)
    if (group) group.all.push(each)
    else groups.set(key, { first: each, all: [each] })
  }
  return Promise.all(
    [...groups.values()].map(
      async ({ first, all }): Promise<[UptimeSettings, T[]]> => [await settingsOf(ctx, first), all],
    ),
  )
}

async function settingsOf(ctx: GraphContext, { organizationId, source }: Subject): Promise<UptimeSettings> {
  const settings = await organizationOf(ctx, organizationId)
  return source ? { ...settings, uptimeSource: source } : settings
}

interface DaysQuery extends Subject {
  readonly count: number
}

type ReadDays = (
  ctx: GraphContext,
  settings: UptimeSettings,
  ids: readonly string[],
  count: number,
) => Promise<Map<string, readonly ShownDay[]>>

function daysLoader(readDays: ReadDays) {
  return batchPerOperation(async (ctx, asked: readonly DaysQuery[]): Promise<readonly (readonly ShownDay[])[]> => {
    const found = new Map<DaysQuery, readonly ShownDay[]>()
    for (const [settings, together] of await byOrganization(ctx, asked)) {
      for (const count of new Set(together.map((each) => each.count))) {
        const alike = together.filter((each) => each.count === count)
        const days = await readDays(ctx, settings, [...new Set(alike.map(({ id }) => id))], count)
        for (const each of alike) found.set(each, days.get(each.id) ?? [])
      }
    }
    return asked.map((each) => found.get(each) ?? [])
  })
}

const monitorDaysOf = daysLoader((ctx, settings, ids, count) => readDays(ctx.db, settings, ids, count, ctx.now()))
const serviceDaysOf = daysLoader((ctx, settings, ids, count) =>
  readServiceDays(ctx.db, settings, ids, count, ctx.now()),
)

/** Returns the query for the last `n` days of a subject. @throws Invalid if `n` is not from 1 to 730. */
function daysQuery({ id, organizationId, source = null }: Subject, n: number): DaysQuery {
  if (n < 1 || n > MAX_DAYS) throw invalid([{ path: ['n'], message: `must be from 1 to ${MAX_DAYS}` }])
  return { id, organizationId, source, count: n }
}
const MAX_DAYS = 730

interface AskedBars extends Subject {
  readonly range: Range
}

const serviceBarsOf = batchPerOperation(
  async (ctx, asked: readonly AskedBars[]): Promise<readonly (readonly ShownDay[])[]> => {
    const found = new Map<AskedBars, readonly ShownDay[]>()
    for (const [settings, together] of await byOrganization(ctx, asked)) {
      for (const range of new Set(together.map((each) => each.range))) {
        const alike = together.filter((each) => each.range === range)
        const ids = [...new Set(alike.map(({ id }) => id))]
        const bars = await readServiceBars(ctx.db, settings, ids, ranges[range], ctx.now())
        for (const each of alike) found.set(each, bars.get(each.id) ?? [])
      }
    }
    return asked.map((each) => found.get(each) ?? [])
  },
)

const UPTIME = costs({ itself: 20 })
const DAYS = costs({ itself: 10, items: ({ n }) => Math.min(Math.max(Number(n), 1), MAX_DAYS) })

const isRange = (name: unknown): name is Range => rangeOrder.some((range) => range === name)
/** The cost of bars. `itself` is high, because a year is read by day. */
const BARS = costs({ itself: 50, items: ({ range }) => (isRange(range) ? barCount(ranges[range]) : 0) })

const spanArgs = {
  from: { required: false, type: 'DateTime', description: 'The start. Default: 30 days before the end.' },
  to: { required: false, type: 'DateTime', description: 'The end. Default: now.' },
} as const

builder.prismaObjectFields('Monitor', (t) => ({
  uptime: t.field({
    type: UptimeRef,
    extensions: UPTIME,
    description: 'Its availability in a period.',
    args: { from: t.arg(spanArgs.from), to: t.arg(spanArgs.to) },
    resolve: async (monitor, args, ctx) => uptimeOf(ctx, { id: monitor.id, ...(await spanOf(ctx, monitor, args)) }),
  }),
  days: t.field({
    type: [UptimeDayRef],
    extensions: DAYS,
    description: 'The last `n` days, including today, within the history of the tier.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'The number of days, 1 to 730.' }) },
    resolve: async (monitor, { n }, ctx) => [...(await monitorDaysOf(ctx, daysQuery(monitor, n)))],
  }),
}))

interface ShownImport extends ImportedDay {
  readonly day: Date
}

const ImportedDayRef = builder.objectRef<ShownImport>('ImportedDay').implement({
  description: 'The checks of a service by another tool on one UTC day. They do not count towards uptime.',
  extensions: cacheable('date', 'importedFrom', 'up', 'down', 'maintenance'),
  fields: (t) => ({
    date: t.string({
      description: 'The date, such as 2026-11-20.',
      resolve: ({ day }) => day.toISOString().slice(0, 'yyyy-mm-dd'.length),
    }),
    importedFrom: t.string({ description: 'The name of the tool.', resolve: ({ source }) => source }),
    up: t.exposeInt('up', { description: 'The number of successful checks.' }),
    down: t.exposeInt('down', { description: 'The number of failed checks.' }),
    maintenance: t.exposeInt('maintenance', { description: 'The number of checks during maintenance.' }),
  }),
})

const importedDaysOf = batchPerOperation(
  async (ctx, asked: readonly DaysQuery[]): Promise<readonly (readonly ShownImport[])[]> => {
    const found = new Map<DaysQuery, readonly ShownImport[]>()
    for (const [settings, together] of await byOrganization(ctx, asked)) {
      const now = ctx.now()
      const count = Math.max(...together.map((each) => each.count))
      const spans = daySpans(settings, count, now)
      const ids = [...new Set(together.map(({ id }) => id))]
      const days = await readImportedDays(ctx.db, ids, spans[0]?.day ?? now, spans.at(-1)?.day ?? now)
      for (const each of together) {
        const own = days.get(each.id) ?? new Map<number, ImportedDay>()
        const shown = spans.slice(-each.count).flatMap(({ day }) => {
          const imported = own.get(day.getTime())
          return imported ? [{ day, ...imported }] : []
        })
        found.set(each, shown)
      }
    }
    return asked.map((each) => found.get(each) ?? [])
  },
)

builder.prismaObjectFields('Service', (t) => ({
  importedDays: t.field({
    type: [ImportedDayRef],
    extensions: { ...CACHEABLE, ...DAYS },
    description: 'The imported days among the last `n` days, within the history that the page shows.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'The number of days, 1 to 730.' }) },
    resolve: async ({ id, organizationId }, { n }, ctx) => [
      ...(await importedDaysOf(ctx, daysQuery({ id, organizationId }, n))),
    ],
  }),
  uptime: t.field({
    type: UptimeRef,
    extensions: { ...CACHEABLE, ...UPTIME },
    description:
      'Its availability according to its monitors (down if any was down, known if any was known), its incidents, or the worse of both at each time; see `source`. If you query it through a page, it uses the source of that page.',
    args: { from: t.arg(spanArgs.from), to: t.arg(spanArgs.to) },
    resolve: async (service, args, ctx, info) => {
      const { id, organizationId } = service
      const source = countedUptime.above(info.path)
      return serviceUptimeOf(ctx, { id, organizationId, source, ...(await spanOf(ctx, service, args)) })
    },
  }),
  days: t.field({
    type: [UptimeDayRef],
    extensions: { ...CACHEABLE, ...DAYS },
    description: 'The last `n` days, including today, within the history that the page shows.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'The number of days, 1 to 730.' }) },
    resolve: async ({ id, organizationId }, { n }, ctx, info) => {
      const source = countedUptime.above(info.path)
      return [...(await serviceDaysOf(ctx, daysQuery({ id, organizationId, source }, n)))]
    },
  }),
  bars: t.field({
    type: [UptimeBarRef],
    extensions: { ...CACHEABLE, ...BARS },
    description:
      'Its uptime bars on a status page in a range, within the history of the tier. To read them for all services of a page, query the page.',
    args: {
      range: t.arg({ type: UptimeRangeRef, defaultValue: 'DAYS_90', description: 'The range, up to now.' }),
    },
    resolve: async ({ id, organizationId }, { range }, ctx, info) => {
      const source = countedUptime.above(info.path)
      return [...(await serviceBarsOf(ctx, { id, organizationId, source, range }))]
    },
  }),
}))
