import { SECOND } from '../../core/time.ts'
import type { Objective as ObjectiveRow } from '../../generated/prisma/client.ts'
import { BurnSpeed, CorrectionKind, UptimeSource } from '../../generated/prisma/enums.ts'
import { costs, STATEMENT_COST, text } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import type { ObjectiveVerdict } from '../objective/budget.ts'
import type { BurnRate } from '../objective/burn-rate.ts'
import { MAX_REASON } from '../objective/correction.ts'
import { targetPercent } from '../objective/objective.ts'
import type { Counted } from '../objective/objective-tally.ts'
import type { Standing } from '../objective/standing.ts'
import { readStandings } from '../objective/standing.ts'
import { builder } from './builder.ts'
import { organizationOf } from './uptime.ts'

builder.enumType(BurnSpeed, {
  name: 'BurnSpeed',
  description:
    'The burn rate of an error budget. The thresholds apply to a window of 30 days and are scaled for others.',
  values: describedValues({
    FAST: 'A burn rate of at least 14.4, over an hour and the last 5 minutes.',
    SLOW: 'A burn rate of at least 6, over 6 hours and the last 30 minutes.',
    STEADY: 'A burn rate of at least 1, over 3 days and the last 6 hours.',
  }),
})
builder.enumType(CorrectionKind, {
  name: 'CorrectionKind',
  description: 'How a corrected period counts, regardless of measurements.',
  values: describedValues({
    BAD: 'As an outage.',
    EXCLUDED: 'Not at all, as maintenance.',
    GOOD: 'As available.',
  }),
})
const Verdict = builder.enumType('ObjectiveVerdict', {
  description: 'The verdict on an objective.',
  values: describedValues<ObjectiveVerdict>({
    AT_RISK: 'At most a fifth of the error budget is left.',
    EXHAUSTED: 'The error budget is used up.',
    HEALTHY: 'More than a fifth of the error budget is left.',
    NO_DATA: 'The window has no data.',
  }),
})

const BurnRateRef = builder.objectRef<BurnRate>('BurnRate').implement({
  description:
    'The burn rate of the error budget in two windows. A rate of 1 uses it up in exactly the objective’s window.',
  fields: (t) => ({
    speed: t.expose('speed', { type: BurnSpeed, description: 'The kind of burn rate that the windows detect.' }),
    longMinutes: t.int({ description: 'The long window.', resolve: ({ longMs }) => longMs / (60 * SECOND) }),
    shortMinutes: t.int({ description: 'The short window.', resolve: ({ shortMs }) => shortMs / (60 * SECOND) }),
    threshold: t.exposeFloat('threshold', {
      description: 'The rate that counts as too fast if both windows reach it.',
    }),
    longRate: t.exposeFloat('longRate', {
      nullable: true,
      description: 'The rate in the long window. Null: no data.',
    }),
    shortRate: t.exposeFloat('shortRate', {
      nullable: true,
      description: 'The rate in the short window. Null: no data.',
    }),
    isBurning: t.exposeBoolean('isBurning', {
      nullable: true,
      description:
        'Whether it burns too fast. Null: unknown, because there is no data, or monitoring began within the long window.',
    }),
  }),
})

const seconds = (description: string, counted: Counted | 'corrected') => ({
  description,
  resolve: ({ tally }: Standing) => Math.floor(tally[counted] / SECOND),
})

const StandingRef = builder.objectRef<Standing>('ObjectiveStanding').implement({
  description: 'The current status of an objective, with its figures.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'When its window began.' }),
    to: t.expose('to', { type: 'DateTime', description: 'The end of the figures.' }),
    verdict: t.expose('verdict', { type: Verdict, description: 'The verdict.' }),
    percentage: t.exposeFloat('percent', {
      nullable: true,
      description:
        'The share of the known time in which the service was available, in percent, rounded down. Null: no data.',
    }),
    coverage: t.exposeFloat('coverage', {
      nullable: true,
      description: 'The known share of the counted time since monitoring began, in percent.',
    }),
    isFull: t.exposeBoolean('isFull', {
      description:
        'Whether the service has been monitored for the whole window. False: the figures cover only a part of it.',
    }),
    source: t.expose('source', { type: UptimeSource, description: 'The source of the figures.' }),
    budgetSeconds: t.float({
      description: 'The error budget: the bad time that the whole window allows.',
      resolve: ({ budgetMs }) => budgetMs / SECOND,
    }),
    remainingSeconds: t.float({
      description: 'The remaining error budget. Negative: overspent.',
      resolve: ({ remainingMs }) => remainingMs / SECOND,
    }),
    goodSeconds: t.int(seconds('Seconds available.', 'good')),
    badSeconds: t.int(seconds('Seconds of outage.', 'bad')),
    unknownSeconds: t.int(seconds('Seconds without data, which do not count.', 'unknown')),
    maintenanceSeconds: t.int(seconds('Seconds under maintenance, which do not count.', 'maintenance')),
    excludedSeconds: t.int(seconds('Seconds that corrections exclude.', 'excluded')),
    correctedSeconds: t.int(seconds('Corrected seconds, however they count.', 'corrected')),
    burnRates: t.field({
      type: [BurnRateRef],
      extensions: costs({ items: 3 }),
      description: 'The burn rates of the budget, without those whose long window exceeds the objective’s window.',
      resolve: ({ burnRates }) => [...burnRates],
    }),
  }),
})

const standingOf = batchPerOperation(async (ctx, asked: readonly ObjectiveRow[]): Promise<readonly Standing[]> => {
  const found = new Map<string, Standing>()
  for (const organizationId of new Set(asked.map((each) => each.organizationId))) {
    const settings = await organizationOf(ctx, organizationId)
    const own = asked.filter((each) => each.organizationId === organizationId)
    for (const [id, standing] of await readStandings(ctx.db, settings, own, ctx.now())) found.set(id, standing)
  }
  return asked.flatMap(({ id }) => found.get(id) ?? [])
})

/** An objective. */
export const Objective = builder.prismaNode('Objective', {
  id: { field: 'id' },
  nullable: true,
  description: 'The target availability of a service (SLO). Visible to the organization only.',
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    target: t.float({
      description: 'The target availability, in percent.',
      resolve: ({ target }) => targetPercent(target),
    }),
    windowDays: t.exposeInt('windowDays', {
      nullable: true,
      description: 'The length of a rolling window in days of 24 hours. Null: the calendar month.',
    }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone of calendar months.' }),
    burnSpeed: t.expose('burnSpeed', {
      type: BurnSpeed,
      nullable: true,
      description: 'The burn rate of its budget, checked each minute. Null: it does not burn too fast.',
    }),
    burningSince: t.expose('burningSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When it started to burn that fast.',
    }),
    standing: t.field({
      type: StandingRef,
      extensions: costs({ itself: STATEMENT_COST }),
      description: 'The current status.',
      resolve: (objective, _args, ctx) => standingOf(ctx, objective),
    }),
    version: t.exposeInt('version', { description: 'Incremented by every update.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

/** A correction. */
export const UptimeCorrection = builder.prismaNode('UptimeCorrection', {
  id: { field: 'id' },
  nullable: true,
  description:
    'A correction of how a period of a service counts in objectives and reports. Visible to the organization only.',
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'When it begins.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it ends.' }),
    kind: t.expose('kind', { type: CorrectionKind, description: 'How the period counts.' }),
    reason: t.exposeString('reason', { extensions: text(MAX_REASON), description: 'The reason.' }),
    author: t.exposeString('author', { description: 'Who made it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const objectiveOrder = orderOf('Objective', { createdAt: ['time', 'asc'], id: ['text', 'asc'] })
const correctionOrder = orderOf('UptimeCorrection', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

builder.prismaObjectFields('Organization', (t) => ({
  objectives: t.field({
    type: connectionOf('Objective'),
    description: 'The objectives, oldest first.',
    args: pageArgs,
    resolve: ({ id }, args, ctx, info) =>
      pageOf({
        order: objectiveOrder,
        args,
        where: { organizationId: id },
        read: (slice) => ctx.db.objective.findMany({ ...nodeQuery('Objective', ctx, info), ...slice }),
        count: (query) => ctx.db.objective.count(query),
      }),
  }),
  uptimeCorrections: t.field({
    type: connectionOf('UptimeCorrection'),
    description: 'The uptime corrections, newest first.',
    args: pageArgs,
    resolve: ({ id }, args, ctx, info) =>
      pageOf({
        order: correctionOrder,
        args,
        where: { organizationId: id },
        read: (slice) => ctx.db.uptimeCorrection.findMany({ ...nodeQuery('UptimeCorrection', ctx, info), ...slice }),
        count: (query) => ctx.db.uptimeCorrection.count(query),
      }),
  }),
}))
