import { builder } from '../../graphql/builder.ts'
import { costs, STATEMENT } from '../../graphql/cost.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { perOperation } from '../../graphql/loader.ts'
import type { LatencyPoint, LatencyRange, LatencyResolution } from '../latency.ts'
import { readLatencies } from '../latency.ts'
import { organizationOf } from './uptime.ts'

const LatencyRangeRef = builder.enumType('LatencyRange', {
  description: 'How far back.',
  values: describedValues<LatencyRange>({
    DAYS_30: 'The last 30 days.',
    DAYS_7: 'The last 7 days.',
    DAYS_90: 'The last 90 days.',
    HOURS_24: 'The last 24 hours.',
  }),
})

const LatencyResolutionRef = builder.enumType('LatencyResolution', {
  description: 'How much time one figure is of. Hours are those of UTC, days those of the organization’s time zone.',
  values: describedValues<LatencyResolution>({
    DAY: 'A point a day.',
    HOUR: 'A point an hour.',
    MINUTES_5: 'A point every five minutes.',
  }),
})

const LatencyPointRef = builder.objectRef<LatencyPoint>('LatencyPoint').implement({
  description: 'How long answers took in a piece of time; those that did not come are not in it.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it begins.' }),
    count: t.exposeInt('count', { description: 'How many answers there were.' }),
    p50: t.exposeFloat('p50', { nullable: true, description: 'The milliseconds that half of them did not exceed.' }),
    p95: t.exposeFloat('p95', { nullable: true, description: 'The milliseconds that 95 % did not exceed.' }),
    p99: t.exposeFloat('p99', { nullable: true, description: 'The milliseconds that 99 % did not exceed.' }),
  }),
})

interface Asked {
  readonly id: string
  readonly organizationId: string
  readonly range: LatencyRange
  readonly resolution: LatencyResolution
}

const keyOf = ({ organizationId, range, resolution }: Asked) => `${organizationId} ${range} ${resolution}`

const latenciesOf = perOperation(async (ctx, asked: readonly Asked[]): Promise<readonly LatencyPoint[][]> => {
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

builder.prismaObjectField('Monitor', 'latency', (t) =>
  t.field({
    type: [LatencyPointRef],
    extensions: costs({ itself: STATEMENT, items: 800 }),
    description: 'How long it took to answer: a point for every piece of the range, at most 800.',
    args: {
      range: t.arg({ type: LatencyRangeRef, defaultValue: 'HOURS_24', description: 'How far back.' }),
      resolution: t.arg({
        type: LatencyResolutionRef,
        description: 'How much time one point covers.',
        defaultValue: 'HOUR',
      }),
    },
    resolve: ({ id, organizationId }, { range, resolution }, ctx) =>
      latenciesOf(ctx, { id, organizationId, range, resolution }),
  }),
)
