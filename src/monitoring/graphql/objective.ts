import { SECOND } from '../../core/time.ts'
import type { Objective as ObjectiveRow } from '../../generated/prisma/client.ts'
import { BurnSpeed, CorrectionKind, UptimeSource } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { costs, STATEMENT_COST, text } from '../../graphql/cost.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import type { Counted } from '../objective/account.ts'
import type { ObjectiveVerdict } from '../objective/budget.ts'
import type { BurnRate } from '../objective/burn-rate.ts'
import { MAX_REASON } from '../objective/correction.ts'
import { targetPercent } from '../objective/objective.ts'
import type { Standing } from '../objective/standing.ts'
import { readStandings } from '../objective/standing.ts'
import { organizationOf } from './uptime.ts'

builder.enumType(BurnSpeed, {
  name: 'BurnSpeed',
  description: 'How fast an error budget burns, for a window of 30 days; thresholds are scaled to others.',
  values: describedValues({
    FAST: 'At least 14.4 times too fast, over an hour and the last 5 minutes.',
    SLOW: 'At least 6 times too fast, over 6 hours and the last 30 minutes.',
    STEADY: 'All of it in the window, over 3 days and the last 6 hours.',
  }),
})
builder.enumType(CorrectionKind, {
  name: 'CorrectionKind',
  description: 'What a corrected time counts as, whatever was measured.',
  values: describedValues({
    BAD: 'As an outage.',
    EXCLUDED: 'Not at all, as maintenance.',
    GOOD: 'As available.',
  }),
})
const Verdict = builder.enumType('ObjectiveVerdict', {
  description: 'How an objective stands.',
  values: describedValues<ObjectiveVerdict>({
    AT_RISK: 'At most a fifth of the error budget is left.',
    EXHAUSTED: 'Nothing is left of the error budget.',
    HEALTHY: 'More than a fifth of the error budget is left.',
    NO_DATA: 'Nothing is known of the window.',
  }),
})

const BurnRateRef = builder.objectRef<BurnRate>('BurnRate').implement({
  description: 'How fast the error budget burns in two windows. 1 uses it up in exactly the objective’s window.',
  fields: (t) => ({
    speed: t.expose('speed', { type: BurnSpeed, description: 'What the two windows tell.' }),
    longMinutes: t.int({ description: 'The long window.', resolve: ({ longMs }) => longMs / (60 * SECOND) }),
    shortMinutes: t.int({ description: 'The short window.', resolve: ({ shortMs }) => shortMs / (60 * SECOND) }),
    threshold: t.exposeFloat('threshold', { description: 'The rate from which, in both windows, it is too fast.' }),
    longRate: t.exposeFloat('longRate', {
      nullable: true,
      description: 'The rate in the long window; null: nothing is known of it.',
    }),
    shortRate: t.exposeFloat('shortRate', {
      nullable: true,
      description: 'The rate in the short window; null: nothing is known of it.',
    }),
    isBurning: t.exposeBoolean('isBurning', {
      nullable: true,
      description:
        'Whether it burns too fast; null: that cannot be told, because nothing is known or the service is watched for less than the long window.',
    }),
  }),
})

const seconds = (description: string, counted: Counted | 'corrected') => ({
  description,
  resolve: ({ account }: Standing) => Math.floor(account[counted] / SECOND),
})

const StandingRef = builder.objectRef<Standing>('ObjectiveStanding').implement({
  description: 'How an objective stands now, with what its figures are made of.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'When its window began.' }),
    to: t.expose('to', { type: 'DateTime', description: 'Until when it is counted.' }),
    verdict: t.expose('verdict', { type: Verdict, description: 'How it stands.' }),
    percentage: t.exposeFloat('percent', {
      nullable: true,
      description: 'The share of the known time that was good, in percent, rounded down; null: nothing is known.',
    }),
    coverage: t.exposeFloat('coverage', {
      nullable: true,
      description: 'The known share of the time that counts, in percent, since the service is watched.',
    }),
    isFull: t.exposeBoolean('isFull', {
      description: 'Whether the service was watched since the window began. False: the figures are those of a part.',
    }),
    source: t.expose('source', { type: UptimeSource, description: 'What it counts.' }),
    budgetSeconds: t.float({
      description: 'The error budget: how much of the whole window may be bad.',
      resolve: ({ budgetMs }) => budgetMs / SECOND,
    }),
    remainingSeconds: t.float({
      description: 'What is left of it; negative: it is overspent.',
      resolve: ({ remainingMs }) => remainingMs / SECOND,
    }),
    goodSeconds: t.int(seconds('Seconds available.', 'good')),
    badSeconds: t.int(seconds('Seconds of outage.', 'bad')),
    unknownSeconds: t.int(seconds('Seconds of which nothing is known; they do not count.', 'unknown')),
    maintenanceSeconds: t.int(seconds('Seconds under maintenance, which do not count.', 'maintenance')),
    excludedSeconds: t.int(seconds('Seconds that corrections exclude.', 'excluded')),
    correctedSeconds: t.int(seconds('Seconds that were corrected, whatever they count as.', 'corrected')),
    burnRates: t.field({
      type: [BurnRateRef],
      extensions: costs({ items: 3 }),
      description: 'How fast the budget burns; pairs whose long window is longer than the objective’s are left out.',
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
  description: 'How much of the time a service is to be available (SLO). Visible to the organization only.',
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    target: t.float({
      description: 'The share of the time that is to be good, in percent.',
      resolve: ({ target }) => targetPercent(target),
    }),
    windowDays: t.exposeInt('windowDays', {
      nullable: true,
      description: 'The days of 24 hours up to now over which it counts; null: the calendar month.',
    }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone of calendar months.' }),
    burnSpeed: t.expose('burnSpeed', {
      type: BurnSpeed,
      nullable: true,
      description: 'How much too fast its budget burns, looked at each minute; null: it does not.',
    }),
    burningSince: t.expose('burningSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it burns that fast.',
    }),
    standing: t.field({
      type: StandingRef,
      extensions: costs({ itself: STATEMENT_COST }),
      description: 'How it stands now.',
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
    'What a time of a service counts as in objectives and reports, whatever was measured. Visible to the organization only.',
  fields: (t) => ({
    service: t.relation('service', { description: 'The service.' }),
    startsAt: t.expose('startsAt', { type: 'DateTime', description: 'When it begins.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it ends.' }),
    kind: t.expose('kind', { type: CorrectionKind, description: 'What the time counts as.' }),
    reason: t.exposeString('reason', { extensions: text(MAX_REASON), description: 'Why.' }),
    author: t.exposeString('author', { description: 'Who made it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

const objectiveOrder = orderOf('Objective', { createdAt: ['time', 'asc'], id: ['text', 'asc'] })
const correctionOrder = orderOf('UptimeCorrection', { createdAt: ['time', 'desc'], id: ['text', 'desc'] })

builder.prismaObjectFields('Organization', (t) => ({
  objectives: t.field({
    type: connectionOf('Objective'),
    description: 'In the order in which they were created.',
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
    description: 'Newest first.',
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
