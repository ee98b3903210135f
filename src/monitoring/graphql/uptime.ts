import type { Organization } from '../../generated/prisma/client.ts'
import type { GraphContext } from '../../graphql/builder.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { perOperation } from '../../graphql/loader.ts'
import { DAY, SECOND } from '../../time.ts'
import { invalid } from '../../validate.ts'
import { startOfDay } from '../../zone.ts'
import type { DayUptime } from '../day.ts'
import { firstDayShown, readDays } from '../day.ts'
import type { Asked } from '../past.ts'
import { readUptimes } from '../past.ts'
import type { Condition, Span, Tally } from '../uptime.ts'
import { coveragePercent, uptimePercent } from '../uptime.ts'

interface Measured extends Span {
  readonly tally: Tally
}

const seconds = (description: string, ...conditions: readonly Condition[]) => ({
  description,
  resolve: ({ tally }: Measured) => Math.floor(conditions.reduce((sum, each) => sum + tally[each], 0) / SECOND),
})

const Figures = builder.interfaceRef<Measured>('UptimeFigures').implement({
  description: 'How a span of time was. Maintenance is left out; time in which nobody watched is unknown.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'Never before what the tier shows of the past.' }),
    to: t.expose('to', { type: 'DateTime', description: 'Never ahead.' }),
    percentage: t.float({
      nullable: true,
      description: 'The share of the known time in which it was not down, rounded down; null when nothing is known.',
      resolve: ({ tally }) => uptimePercent(tally),
    }),
    coverage: t.float({
      nullable: true,
      description: 'How much of the time that counts is known, in percent; null when maintenance was all there was.',
      resolve: ({ tally }) => coveragePercent(tally),
    }),
    knownSeconds: t.int(seconds('Seconds in which something was known.', 'up', 'degraded', 'down')),
    upSeconds: t.int(seconds('Seconds up.', 'up')),
    degradedSeconds: t.int(seconds('Seconds degraded.', 'degraded')),
    downSeconds: t.int(seconds('Seconds down.', 'down')),
    unknownSeconds: t.int(seconds('Seconds in which nothing was known.', 'unknown')),
    maintenanceSeconds: t.int(seconds('Seconds under maintenance, which count neither way.', 'maintenance')),
  }),
})

const UptimeRef = builder
  .objectRef<Measured>('Uptime')
  .implement({ interfaces: [Figures], description: 'How available something was in a span of time.' })

const UptimeDayRef = builder.objectRef<DayUptime>('UptimeDay').implement({
  description: 'How a day of the organization’s time zone was, as far as it has passed.',
  interfaces: [Figures],
  fields: (t) => ({
    date: t.string({
      description: 'Such as 2026-11-20.',
      resolve: ({ day }) => day.toISOString().slice(0, 'yyyy-mm-dd'.length),
    }),
  }),
})

/** What has a past: a monitor, or a service by all its monitors. */
interface Subject {
  readonly id: string
  readonly organizationId: string
}

/** The organization that a subject belongs to, read once for all that are asked for together. */
export const organizationOf = perOperation(
  async ({ db }, ids: readonly string[]): Promise<readonly Pick<Organization, 'timeZone' | 'tier'>[]> => {
    const found = await db.organization.findMany({
      where: { id: { in: [...new Set(ids)] } },
      select: { id: true, timeZone: true, tier: true },
    })
    const byId = new Map(found.map((organization) => [organization.id, organization]))
    return ids.map((id) => byId.get(id) ?? { timeZone: 'UTC', tier: 'FREE' })
  },
)

/** A span as it is asked for, cut at what the tier shows of the past. @throws Invalid when it ends before it begins. */
export async function shownSpan(
  ctx: GraphContext,
  { organizationId }: Subject,
  given: { readonly from?: Date | null | undefined; readonly to?: Date | null | undefined },
): Promise<{ from: Date; to: Date }> {
  const now = ctx.now()
  const to = given.to && given.to < now ? given.to : now
  const from = given.from ?? new Date(to.getTime() - USUAL)
  if (from > to) throw invalid([{ path: ['from'], message: 'must not be after the end' }])
  const organization = await organizationOf(ctx, organizationId)
  const first = startOfDay(organization.timeZone, firstDayShown(organization, now))
  return { from: new Date(Math.min(+to, Math.max(+from, +first))), to }
}

/** The span that is told of when none is asked for. */
const USUAL = 30 * DAY

const uptimeOf = perOperation((ctx, asked: readonly Asked[]) => readUptimes(ctx.db, asked, ctx.now()))

interface AskedDays extends Subject {
  readonly count: number
}

const daysOf = perOperation(async (ctx, asked: readonly AskedDays[]): Promise<readonly DayUptime[][]> => {
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

/** The days of a subject, read together with those of others. @throws Invalid when `n` is not from 1 to 730. */
function days(ctx: GraphContext, { id, organizationId }: Subject, n: number): Promise<DayUptime[]> {
  if (n < 1 || n > MOST_DAYS) throw invalid([{ path: ['n'], message: `must be from 1 to ${MOST_DAYS}` }])
  return daysOf(ctx, { id, organizationId, count: n })
}
const MOST_DAYS = 730

const DAYS = costs({ itself: 5, items: ({ n }) => Math.min(Math.max(Number(n), 1), MOST_DAYS) })

const spanArgs = {
  from: { required: false, type: 'DateTime', description: 'Absent: 30 days before the end.' },
  to: { required: false, type: 'DateTime', description: 'Absent: now.' },
} as const

builder.prismaObjectFields('Monitor', (t) => ({
  uptime: t.field({
    type: UptimeRef,
    description: 'How available it was in a span of time.',
    args: { from: t.arg(spanArgs.from), to: t.arg(spanArgs.to) },
    resolve: async (monitor, args, ctx) => uptimeOf(ctx, { id: monitor.id, ...(await shownSpan(ctx, monitor, args)) }),
  }),
  days: t.field({
    type: [UptimeDayRef],
    extensions: DAYS,
    description: 'The last `n` days, the last of them today; no more than the tier shows.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'How many days, 1 to 730.' }) },
    resolve: (monitor, { n }, ctx) => days(ctx, monitor, n),
  }),
}))

builder.prismaObjectFields('Service', (t) => ({
  uptime: t.field({
    type: UptimeRef,
    description: 'By all its monitors: down when any was, known when any was.',
    args: { from: t.arg(spanArgs.from), to: t.arg(spanArgs.to) },
    resolve: async (service, args, ctx) => uptimeOf(ctx, { id: service.id, ...(await shownSpan(ctx, service, args)) }),
  }),
  days: t.field({
    type: [UptimeDayRef],
    extensions: DAYS,
    description: 'The last `n` days by all its monitors, the last of them today; no more than the page shows.',
    args: { n: t.arg.int({ defaultValue: 90, description: 'How many days, 1 to 730.' }) },
    resolve: (service, { n }, ctx) => days(ctx, service, n),
  }),
}))
