// The GraphQL types and operations of imports.
import { Invalid } from '../../core/errors.ts'
import { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import { costs } from '../../graphql/document/cost.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { MAX_HISTORIES, MAX_IMPORTED_DAYS } from '../../monitoring/uptime/imported-history.ts'
import { MAX_IMPORTED_SUBSCRIBERS } from '../../notification/subscriber/subscriber-import.ts'
import { MAX_IMPORTED_INCIDENTS } from '../../status/incident/incident-import.ts'
import { MAX_IMPORTED_MAINTENANCES } from '../../status/maintenance/maintenance-import.ts'
import { MAX_IMPORTED_SERIES } from '../../status/maintenance/series-import.ts'
import { MAX_UPDATES } from '../../status/timeline/timeline-limits.ts'
import type { RecordResult } from '../records.ts'
import { importRecords } from '../records.ts'
import { builder } from './builder.ts'

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0]

const Outcome = builder.enumType('ImportOutcome', {
  description: 'The outcome of importing a record of another tool.',
  values: describedValues<RecordResult['outcome']>({
    CREATED: 'The record is new.',
    CHANGED: 'The record was imported before and has changed.',
    UNCHANGED: 'The record was imported before and has not changed.',
    SKIPPED: 'The record is not imported.',
  }),
})

const RecordRef = builder.objectRef<RecordResult>('ImportedRecord').implement({
  description: 'A record of another tool, and the outcome of importing it.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'The kind: history, incidents, maintenance or subscribers.' }),
    key: t.exposeString('key', { description: 'The key or id, as given.' }),
    name: t.exposeString('name', { description: 'The title or address, or the name of the service.' }),
    outcome: t.expose('outcome', { type: Outcome, description: 'The outcome.' }),
    reason: t.exposeString('reason', { description: 'A summary of the imported data, or why the record is skipped.' }),
  }),
})

/** The maximum number of records in one request. */
const MAX_RECORDS = Math.max(MAX_HISTORIES, MAX_IMPORTED_SUBSCRIBERS)

const ImportRecordsPayload = builder.objectRef<readonly RecordResult[]>('ImportRecordsPayload').implement({
  description: 'The outcomes of importing records of another tool.',
  fields: (t) => ({
    records: t.field({
      type: [RecordRef],
      extensions: costs({ items: MAX_RECORDS }),
      description:
        'One result per record: histories, incidents, maintenances, series and subscribers, each in the order given.',
      resolve: (records) => [...records],
    }),
  }),
})

const HistoryInput = builder.inputType('ImportHistoryInput', {
  description: 'The daily counts of checks of a service by another tool.',
  fields: (t) => ({
    key: t.string({ description: 'The key of the service in the configuration file or import that created it.' }),
    since: t.string({ description: 'The first day in UTC, such as 2026-11-20.' }),
    up: t.intList({
      description: `The number of successful checks on each day from \`since\` on, for at most ${MAX_IMPORTED_DAYS} days.`,
    }),
    down: t.intList({ description: 'The number of failed checks on each day.' }),
    maintenance: t.intList({ description: 'The number of checks during maintenance on each day.' }),
  }),
})

const ServiceInput = builder.inputType('ImportServiceInput', {
  description: 'A service that an update affects.',
  fields: (t) => ({
    key: t.string({
      description:
        'The key of the service in the configuration file or import that created it. Unknown keys are ignored.',
    }),
    status: t.field({ type: ServiceStatus, description: 'The status that the update sets.' }),
  }),
})

const UpdateInput = builder.inputType('ImportIncidentUpdateInput', {
  description: 'An update of an incident of another tool.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When it was posted.' }),
    status: t.field({ type: IncidentStatus, description: 'The status from this update on.' }),
    message: t.string({ description: 'Markdown.' }),
    services: t.field({ type: [ServiceInput], required: false, description: 'The affected services.' }),
  }),
})

const PostmortemInput = builder.inputType('ImportPostmortemInput', {
  description: 'A post-mortem of another tool.',
  fields: (t) => ({
    message: t.string({ description: 'Markdown.' }),
    publishedAt: t.field({ type: 'DateTime', description: 'When it was published.' }),
  }),
})

const IncidentInput = builder.inputType('ImportIncidentInput', {
  description: 'An incident of another tool.',
  fields: (t) => ({
    id: t.string({ description: 'Its id there.' }),
    title: t.string({ description: 'Its title.' }),
    impact: t.field({ type: IncidentImpact, description: 'Its impact.' }),
    startedAt: t.field({ type: 'DateTime', description: 'When it started.' }),
    resolvedAt: t.field({
      type: 'DateTime',
      required: false,
      description: 'When it was resolved. Default: derived from its updates.',
    }),
    updates: t.field({ type: [UpdateInput], description: `Its timeline, in any order: 1 to ${MAX_UPDATES}.` }),
    postmortem: t.field({ type: PostmortemInput, required: false, description: 'Its post-mortem.' }),
  }),
})

const MaintenanceUpdateInput = builder.inputType('ImportMaintenanceUpdateInput', {
  description: 'An update of a maintenance of another tool.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When it was posted.' }),
    status: t.field({ type: MaintenanceStatus, description: 'The status from this update on.' }),
    message: t.string({ description: 'Markdown.' }),
  }),
})

const servicesOf = (t: InputFields) =>
  t.stringList({ description: 'The keys of the affected services. Unknown keys are ignored.' })

const MaintenanceInput = builder.inputType('ImportMaintenanceInput', {
  description: 'A maintenance of another tool, past or planned.',
  fields: (t) => ({
    id: t.string({ description: 'Its id there.' }),
    title: t.string({ description: 'Its title.' }),
    status: t.field({ type: MaintenanceStatus, description: 'Its status there.' }),
    startsAt: t.field({ type: 'DateTime', description: 'When it starts or started.' }),
    endsAt: t.field({ type: 'DateTime', description: 'When it ends or ended.' }),
    services: servicesOf(t),
    updates: t.field({ type: [MaintenanceUpdateInput], description: 'Its timeline, in any order.' }),
  }),
})

const SeriesInput = builder.inputType('ImportMaintenanceSeriesInput', {
  description: 'A repeating maintenance of another tool.',
  fields: (t) => ({
    id: t.string({ description: 'Its id there.' }),
    title: t.string({ description: 'Its title.' }),
    message: t.string({ description: 'The first update of each date, in markdown.' }),
    startsAt: t.field({ type: 'DateTime', description: 'The first start.' }),
    durationMinutes: t.int({ description: 'The duration of each date, in minutes.' }),
    rule: t.string({ description: 'The recurrence rule (RFC 5545).' }),
    timeZone: t.string({ required: false, description: 'The time zone of the rule. Default: the organization’s.' }),
    services: servicesOf(t),
  }),
})

const SubscriberInput = builder.inputType('ImportSubscriberInput', {
  description: 'A confirmed subscriber of another tool.',
  fields: (t) => ({
    address: t.string({ description: 'The email address.' }),
    services: t.stringList({
      required: false,
      description: 'The keys or names of the subscribed services. Absent or empty: all.',
    }),
  }),
})

const ImportRecordsInput = builder.inputType('ImportRecordsInput', {
  description: 'The records to import.',
  fields: (t) => ({
    source: t.string({ description: 'The name of the tool to show with the records, such as Uptime Kuma.' }),
    name: t.string({
      required: false,
      description: 'The name of the installation, if the tool has several installations whose ids may collide.',
    }),
    dryRun: t.boolean({
      required: false,
      description:
        'Whether to return the outcomes without changing anything. Missing services are then treated as existing.',
    }),
    histories: t.field({
      type: [HistoryInput],
      required: false,
      description: `At most ${MAX_HISTORIES}. Replaces the counts of days that were imported before.`,
    }),
    incidents: t.field({ type: [IncidentInput], required: false, description: `At most ${MAX_IMPORTED_INCIDENTS}.` }),
    maintenances: t.field({
      type: [MaintenanceInput],
      required: false,
      description: `At most ${MAX_IMPORTED_MAINTENANCES}.`,
    }),
    series: t.field({ type: [SeriesInput], required: false, description: `At most ${MAX_IMPORTED_SERIES}.` }),
    subscribers: t.field({
      type: [SubscriberInput],
      required: false,
      description: `At most ${MAX_IMPORTED_SUBSCRIBERS}. They subscribe to the first page without a message.`,
    }),
  }),
})

builder.mutationField('importRecords', (t) =>
  t.field({
    type: ImportRecordsPayload,
    description:
      'Imports records of another tool: history, incidents, maintenance and confirmed subscribers. Marks them as imported and sends no notifications. Daily counts do not affect uptime; incidents and maintenance count like any others. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: ImportRecordsInput }) },
    errors: { types: [Invalid] },
    resolve: (_root, { input }, ctx) => importRecords(ctx, input),
  }),
)
