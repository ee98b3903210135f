import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { rows, text } from '../../graphql/document/cost.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { createRowResolver } from '../../graphql/schema/idempotent-mutation.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import {
  createMaintenanceSeries,
  deleteMaintenanceSeries,
  endMaintenanceSeries,
  newSeries,
  ruleWithEnd,
  seriesEdit,
  updateMaintenanceSeries,
} from '../maintenance/maintenance-series.ts'
import { instantOf, nextDates, ruleInWords } from '../maintenance/recurrence.ts'
import { MAX_SERVICES } from '../ownership.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'
import type { BothTexts } from '../timeline/translations.ts'
import { storedTexts } from '../timeline/translations.ts'
import { builder } from './builder.ts'
import { Service } from './service.ts'
import { messagesCost, SeriesTranslation } from './translation.ts'

/** The maximum number of starts in `nextStarts`. */
const NEXT_STARTS = 5

const MaintenanceSeries = builder.prismaNode('MaintenanceSeries', {
  id: { field: 'id' },
  nullable: true,
  description:
    'A maintenance that repeats. Its next dates are scheduled as maintenance: the next one always, up to three within 35 days.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'A short title.' }),
    message: t.exposeString('message', {
      description: 'The first update of each date, in markdown.',
      extensions: text(MAX_MESSAGE_LENGTH),
    }),
    translations: t.field({
      type: [SeriesTranslation],
      extensions: messagesCost,
      description: 'Title and message in other languages.',
      resolve: ({ translations }) => storedTexts<BothTexts[string]>(translations),
    }),
    timeZone: t.exposeString('timeZone', { description: 'The IANA time zone in which the rule is evaluated.' }),
    startsAt: t.field({
      type: 'DateTime',
      description: 'The first start.',
      resolve: ({ timeZone, firstStart }) => instantOf(timeZone, firstStart),
    }),
    durationMinutes: t.exposeInt('durationMinutes', { description: 'How long each date takes, in minutes.' }),
    rule: t.string({
      description: 'The recurrence rule (RFC 5545), such as `FREQ=WEEKLY;BYDAY=SU`. A COUNT is returned as an UNTIL.',
      resolve: (series) => ruleWithEnd(series),
    }),
    repeats: t.string({
      description: 'The rule in English, such as “Every Sunday at 02:00”.',
      resolve: ({ rule, firstStart }) => ruleInWords(rule, firstStart),
    }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'The last possible start. Null: no end.',
    }),
    skips: t.field({
      type: ['DateTime'],
      description: 'The starts to skip, at most 200.',
      resolve: ({ timeZone, skipped }) => skipped.map((local) => instantOf(timeZone, local)),
    }),
    nextStarts: t.field({
      type: ['DateTime'],
      description: 'The next starts by the rule, at most five.',
      resolve: async (series, _args, ctx) =>
        (await nextDates(series, ctx.now(), NEXT_STARTS)).dates.map(({ startsAt }) => startsAt),
    }),
    services: t.field({
      type: [Service],
      extensions: rows(MAX_SERVICES, 'servicesOfMaintenanceSeries'),
      description: 'The affected services, in page order.',
      select: (_args, _ctx, nestedSelection) => ({
        services: {
          select: { service: nestedSelection(true) },
          orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }],
        },
      }),
      resolve: ({ services }) => services.map(({ service }) => service),
    }),
    notifySubscribers: t.exposeBoolean('notifySubscribers', {
      description: 'Whether subscribers are notified of the start and end of each date.',
    }),
    version: t.exposeInt('version', VERSION),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

builder.mutationField('createMaintenanceSeries', (t) =>
  t.field({
    type: MaintenanceSeries,
    description: 'Creates a repeating maintenance and schedules its next dates. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newSeries, { isCreation: true }) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: createRowResolver('createMaintenanceSeries', createMaintenanceSeries),
  }),
)

builder.mutationField('updateMaintenanceSeries', (t) =>
  t.field({
    type: MaintenanceSeries,
    description:
      'Updates a repeating maintenance from now on. Past and running dates stay, and so do dates that were edited separately. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(seriesEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => updateMaintenanceSeries(ctx, input),
  }),
)

builder.mutationField('endMaintenanceSeries', (t) =>
  t.field({
    type: MaintenanceSeries,
    description:
      'Ends a repeating maintenance now and deletes its scheduled dates, except those that were edited separately. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => endMaintenanceSeries(ctx, id),
  }),
)

builder.mutationField('deleteMaintenanceSeries', (t) =>
  t.field({
    type: deletionPayload('MaintenanceSeries'),
    description:
      'Deletes a repeating maintenance and its scheduled dates. Past and running dates stay, and so do dates that were edited separately. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteMaintenanceSeries(ctx, id),
  }),
)
