import { SECOND } from '../../core/time.ts'
import { invalid } from '../../core/validation.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { GraphContext } from '../../graphql/builder.ts'
import { builder } from '../../graphql/builder.ts'
import { CACHEABLE, cacheable } from '../../graphql/cacheable.ts'
import { costs } from '../../graphql/cost.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import type { Condition, Span, Tally } from '../uptime.ts'
import { coveragePercent, uptimePercent } from '../uptime.ts'
import type { DayUptime, RequestedSpan } from '../uptime-days.ts'
import { readDays, visibleSpan } from '../uptime-days.ts'
import type { SpanQuery } from '../uptime-history.ts'
import { readUptimes } from '../uptime-history.ts'

interface Measured extends Span {
  readonly tally: Tally
}

const seconds = (description: string, ...conditions: readonly Condition[]) => ({
  description,
  resolve: ({ tally }: Measured) => Math.floor(conditions.reduce((sum, each) => sum + tally[each], 0) / SECOND),
})

const Figures = builder.interfaceRef<Measured>('UptimeFigures').implement({
  description: 'The uptime of a period, without maintenance. Time without probes is unknown.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'The start; not before the history that the tier shows.' }),
    to: t.expose('to', { type: 'DateTime', description: 'The end; never in the future.' }),
    percentage: t.float({
      nullable: true,
      description:
        'The share of the known time that was not down, in percent, rounded down; null when nothing is known.',
      resolve: ({ tally }) => uptimePercent(tally),
    }),
    coverage: t.float({
      nullable: true,
      description:
        'The share of time with a known state, in percent, without maintenance; null when all of it was maintenance.',
      resolve: ({ tally }) => coveragePercent(tally),
    }),
    knownSeconds: t.int(seconds('Seconds known.', 'up', 'degraded', 'down')),
    upSeconds: t.int(seconds('Seconds up.', 'up')),
    degradedSeconds: t.int(seconds('Seconds degraded.', 'degraded')),
    downSeconds: t.int(seconds('Seconds down.', 'down')),
    unknownSeconds: t.int(seconds('Seconds unknown.', 'unknown')),
    maintenanceSeconds: t.int(seconds('Seconds under maintenance, which do not count.', 'maintenance')),
  }),
})

const FIGURES = [
  'from',
  'to',
  'percentage',
  'coverage',
  'knownSeconds',
  'upSeconds',
  'degradedSeconds',
  'downSeconds',
  'unknownSeconds',
  'maintenanceSeconds',
] as const

const UptimeRef = builder.objectRef<Measured>('Uptime').implement({
  interfaces: [Figures],
  description: 'The availability of a monitor or service in a span.',
  extensions: cacheable(...FIGURES),
})

const UptimeDayRef = builder.objectRef<DayUptime>('UptimeDay').implement({
  description: 'The uptime of a day in the organization’s time zone, up to now.',
  extensions: cacheable('date', ...FIGURES),
  interfaces: [Figures],
  fields: (t) => ({
    date: t.string({
      description: 'The date, such as 2026-11-20.',
      resolve: ({ day }) => day.toISOString().slice(0, 'yyyy-mm-dd'.length),
    }),
  }),
})

/** A monitor, or a service with all its monitors. */
interface Subject {
  readonly id: string
  readonly organizationId: string
}

/** Reads the organizations of subjects, once per request. */
export const organizationOf = batchPerOperation(
  async ({ db }, ids: readonly string[]): Promise<readonly Pick<Organization, 'timeZone' | 'tier'>[]> => {
    const found = await db.organization.findMany({
      where: { id: { in: [...new Set(ids)] } },
      select: { id: true, timeZone: true, tier: true },
    })
    const byId = new Map(found.map((organization) => [organization.id, organization]))
    return ids.map((id) => byId.get(id) ?? { timeZone: 'UTC', tier: 'FREE' })
  },
)

/** Returns the requested span of a subject's history, as far as its organization's tier shows it. */
export async function spanOf(ctx: GraphContext, { organizationId }: Subject, given: RequestedSpan): Promise<Span> {
  return visibleSpan(await organizationOf(ctx, organizationId), given, ctx.now())
}

const uptimeOf = batchPerOperation((ctx, asked: readonly SpanQuery[]) => readUptimes(ctx.db, asked, ctx.now()))

interface AskedDays extends Subject {
  readonly count: number
}

const daysOf = batchPerOperation(async (ctx, asked: readonly AskedDays[]): Promise<readonly DayUptime[][]> => {
  const read = new Map<string, Promise<Map<string, DayUptime[]>>>()
  for (const { organizationId, count } of asked) {
    const key = `${organizationId} ${count}`
    if (read.has(key)) continue
    const together = asked.filter((each) => each.organizationId === organizationId && each.count === count)
    const ids = [...new Set(together.map(({ id }) => id))]
    const organization = await organizationOf(ctx, organizationId)
    read.set(key, readDays(ctx.db, organization, ids, count, ctx.now()))
  }
  const all = asked.map(async (each) => (await read.get(`${each.organizationId} ${each.count}`))?.get(each.id) ?? [])
  return Promise.all(all)
})

/** Reads the days of a subject, batched with other subjects. @throws Invalid when `n` is not from 1 to 730. */
function days(ctx: GraphContext, { id, organizationId }: Subject, n: number): Promise<DayUptime[]> {
  if (n < 1 || n > MAX_DAYS) throw invalid([{ path: ['n'], message: `must be from 1 to ${MAX_DAYS}` }])
  return daysOf(ctx, { id, organizationId, count: n })
}
const MAX_DAYS = 730

const UPTIME = costs({ itself: 20 })
const DAYS = costs({ itself: 10, items: ({ n }) => Math.min(Math.max(Number(n), 1), MAX_DAYS) })

const spanArgs = {
  from: { required: false, type: 'DateTime', description: 'Default: 30 days before the end.' },
  to: { required: false, type: 'DateTime', description: 'Default: now.' },
} as const

builder.prismaObjectFields('Monitor', (t) => ({
  uptime: t.field({
    type: UptimeRef,
    extensions: UPTIME,
    description: 'Its availability in a span.',
    args: { from: t.arg(spanArgs.from), to: t.arg(spanArgs.to) },
    resolve: async (monitor, args, ctx) => uptimeOf(ctx, { id: monitor.id, ...(await spanOf(ctx, monitor, args)) }),
  }),
  days: t.field({
    type: [UptimeDayRef],
    extensions: DAYS,
    description: 'The last `n` days, including today; no more than the tier shows.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'How many days, 1 to 730.' }) },
    resolve: (monitor, { n }, ctx) => days(ctx, monitor, n),
  }),
}))

builder.prismaObjectFields('Service', (t) => ({
  uptime: t.field({
    type: UptimeRef,
    extensions: { ...CACHEABLE, ...UPTIME },
    description: 'The availability by all its monitors: down when any was down, known when any was known.',
    args: { from: t.arg(spanArgs.from), to: t.arg(spanArgs.to) },
    resolve: async (service, args, ctx) => uptimeOf(ctx, { id: service.id, ...(await spanOf(ctx, service, args)) }),
  }),
  days: t.field({
    type: [UptimeDayRef],
    extensions: { ...CACHEABLE, ...DAYS },
    description: 'The last `n` days by all its monitors, including today; no more than the page shows.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'How many days, 1 to 730.' }) },
    resolve: (service, { n }, ctx) => days(ctx, service, n),
  }),
}))
