// The door of the feature: its types and operations.
import { Invalid } from '../../core/errors.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { MAX_HISTORIES, MAX_IMPORTED_DAYS } from '../../monitoring/imported-history.ts'
import type { RecordResult } from '../records.ts'
import { importRecords } from '../records.ts'

const Outcome = builder.enumType('ImportOutcome', {
  description: 'What becomes of a record of another tool.',
  values: describedValues<RecordResult['outcome']>({
    CREATED: 'It is imported.',
    CHANGED: 'It was imported before, and has changed there.',
    UNCHANGED: 'It was imported before.',
    SKIPPED: 'It is left out.',
  }),
})

const RecordRef = builder.objectRef<RecordResult>('ImportedRecord').implement({
  description: 'What becomes of a record of another tool.',
  fields: (t) => ({
    section: t.exposeString('section', { description: 'What it is: history.' }),
    key: t.exposeString('key', { description: 'Its key, as given.' }),
    name: t.exposeString('name', { description: 'The name of its service, if there is one.' }),
    outcome: t.expose('outcome', { type: Outcome, description: 'What becomes of it.' }),
    reason: t.exposeString('reason', { description: 'What comes along, or why it does not.' }),
  }),
})

const ImportRecordsPayload = builder.objectRef<readonly RecordResult[]>('ImportRecordsPayload').implement({
  description: 'What becomes of records of another tool.',
  fields: (t) => ({
    records: t.field({
      type: [RecordRef],
      extensions: costs({ items: MAX_HISTORIES }),
      description: 'Each of them, in the order given.',
      resolve: (records) => [...records],
    }),
  }),
})

const HistoryInput = builder.inputType('ImportHistoryInput', {
  description: 'What another tool counted of a service by day.',
  fields: (t) => ({
    key: t.string({ description: 'The key of the service in the configuration file or the import that made it.' }),
    since: t.string({ description: 'The first day, of UTC, such as 2026-11-20.' }),
    up: t.intList({
      description: `How many checks of each day from then on succeeded, at most ${MAX_IMPORTED_DAYS} days.`,
    }),
    down: t.intList({ description: 'How many failed.' }),
    maintenance: t.intList({ description: 'How many fell into maintenance.' }),
  }),
})

const ImportRecordsInput = builder.inputType('ImportRecordsInput', {
  description: 'What to import.',
  fields: (t) => ({
    source: t.string({ description: 'The name of the tool, such as Uptime Kuma, with which it is shown.' }),
    dryRun: t.boolean({
      required: false,
      description:
        'Whether to say what would be done and change nothing. Services that are missing then count as if they existed.',
    }),
    histories: t.field({
      type: [HistoryInput],
      required: false,
      description: `At most ${MAX_HISTORIES}. A day that was imported before gets the new counts.`,
    }),
  }),
})

builder.mutationField('importRecords', (t) =>
  t.field({
    type: ImportRecordsPayload,
    description:
      'Imports what another tool recorded about services. It is shown as imported, counts in no uptime, and notifies nobody. Requires a key with scope ADMIN.',
    args: { input: t.arg({ type: ImportRecordsInput }) },
    errors: { types: [Invalid] },
    resolve: (_root, { input }, ctx) => importRecords(ctx, input),
  }),
)
