import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import type { LatencyPoint, LatencyRange, LatencyResolution } from '../uptime/latency.ts'
import { latencyRanges, latencyResolutions, pointCount, readLatencies } from '../uptime/latency.ts'
import { builder } from './builder.ts'
import { organizationOf } from './uptime.ts'

const LatencyRangeRef = builder.enumType('LatencyRange', {
  description: 'The time range, up to now.',
  values: describedValues<LatencyRange>({
    DAYS_30: 'The last 30 days.',
    DAYS_7: 'The last 7 days.',
    DAYS_90: 'The last 90 days.',
    HOURS_24: 'The last 24 hours.',
  }),
})

const LatencyResolutionRef = builder.enumType('LatencyResolution', {
  description: 'The time that one point covers. Hours are UTC, days are in the organization’s time zone.',
  values: describedValues<LatencyResolution>({
    DAY: 'One point per day.',
    HOUR: 'One point per hour.',
    MINUTES_5: 'One point per five minutes.',
  }),
})

const LatencyPointRef = builder.objectRef<LatencyPoint>('LatencyPoint').implement({
  description: 'Response times within an interval. Failed probes are not included.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the interval begins.' }),
    count: t.exposeInt('count', { description: 'The number of responses.' }),
    p50: t.exposeFloat('p50', { nullable: true, description: 'The median, in milliseconds. Null: no responses.' }),
    p95: t.exposeFloat('p95', {
      nullable: true,
      description: 'The 95th percentile, in milliseconds. Null: no responses.',
    }),
    p99: t.exposeFloat('p99', {
      nullable: true,
      description: 'The 99th percentile, in milliseconds. Null: no responses.',
    }),
  }),
})

interface Asked {
  readonly id: string
  readonly organizationId: string
  readonly range: LatencyRange
  readonly resolution: LatencyResolution
}

const keyOf = ({ organizationId, range, resolution }: Asked) => `${organizationId} ${range} ${resolution}`

const latenciesOf = batchPerOperation(async (ctx, asked: readonly Asked[]): Promise<readonly LatencyPoint[][]> => {
  const read = new Map<string, Map<string, LatencyPoint[]>>()
  for (const each of asked) {
    const key = keyOf(each)
    if (read.has(key)) continue
    const ids = new Set(asked.filter((other) => keyOf(other) === key).map(({ id }) => id))
    const organization = await organizationOf(ctx, each.organizationId)
    read.set(key, await readLatencies(ctx.db, organization, [...ids], each, ctx.now()))
  }
  return asked.map((each) => read.get(keyOf(each))?.get(each.id) ?? [])
})

const isRange = (name: unknown): name is LatencyRange => latencyRanges.some((range) => range === name)
const isResolution = (name: unknown): name is LatencyResolution =>
  latencyResolutions.some((resolution) => resolution === name)

const pointsAsked = ({ range, resolution }: Readonly<Record<string, unknown>>) =>
  isRange(range) && isResolution(resolution) ? pointCount(range, resolution) : 0

builder.prismaObjectField('Monitor', 'latency', (t) =>
  t.field({
    type: [LatencyPointRef],
    extensions: costs({ itself: STATEMENT_COST, items: pointsAsked }),
    description: 'Response times: one point per interval of the range, at most 800.',
    args: {
      range: t.arg({ type: LatencyRangeRef, defaultValue: 'HOURS_24', description: 'The time range, up to now.' }),
      resolution: t.arg({
        type: LatencyResolutionRef,
        description: 'The time that one point covers.',
        defaultValue: 'HOUR',
      }),
    },
    resolve: ({ id, organizationId }, { range, resolution }, ctx) =>
      latenciesOf(ctx, { id, organizationId, range, resolution }),
  }),
)
