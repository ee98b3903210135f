import { Invalid, NotFound, RateLimited, TierLimitReached } from '../../errors.ts'
import { Topic } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { bulkMutationOfIds } from '../../graphql/bulk.ts'
import { deletionOf } from '../../graphql/deletion.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { reportBounce } from '../bounce.ts'
import type { Imported, Skipped } from '../import.ts'
import { importSubscribers } from '../import.ts'
import { deleteSubscriber } from '../subscriber.ts'
import { liftSuppression } from '../suppression.ts'

const DeleteSubscriberPayload = deletionOf('Subscriber')

builder.mutationField('deleteSubscriber', (t) =>
  t.field({
    type: DeleteSubscriberPayload,
    description:
      'Deletes a subscriber with what was sent to it. An address that unsubscribed stays suppressed. Needs a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteSubscriber(ctx, id),
  }),
)

bulkMutationOfIds('deleteSubscribers', {
  type: DeleteSubscriberPayload,
  description: 'Deletes up to 100 subscribers with what was sent to them. Needs a key with scope WRITE.',
  errors: [NotFound],
  work: deleteSubscriber,
})

const ImportSubscribersInput = builder.inputType('ImportSubscribersInput', {
  description: 'The addresses to import, and what to notify them about.',
  fields: (t) => ({
    csv: t.string({
      description: 'Mail addresses in the column `email`, or in the first one; up to about 4,000 at once.',
    }),
    topics: t.field({ type: [Topic], required: false, description: 'Absent: incidents and maintenance.' }),
    serviceIds: t.idList({ required: false, description: 'Absent or empty: everything.' }),
  }),
})

const ImportProblem = builder.objectRef<Imported['problems'][number]>('ImportProblem').implement({
  description: 'A line that could not be used.',
  fields: (t) => ({ line: t.exposeInt('line', { description: 'From 1.' }), message: t.exposeString('message') }),
})

const SkipReason = builder.enumType('ImportSkipReason', {
  description: 'Why an address may not be subscribed by you.',
  values: {
    UNSUBSCRIBED: { description: 'It unsubscribed from your page. Its owner can subscribe again, and confirm that.' },
    BLOCKED: { description: 'Nothing can be sent to it from this service, whoever sends it.' },
  } as const,
})

const ImportSkipped = builder.objectRef<Skipped>('ImportSkipped').implement({
  description: 'A line whose address may not be subscribed.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'From 1.' }),
    reason: t.expose('reason', { type: SkipReason, description: 'Why it was skipped.' }),
    message: t.exposeString('message', { description: 'The reason, for people.' }),
  }),
})

const ImportSubscribersPayload = builder.objectRef<Imported>('ImportSubscribersPayload').implement({
  description: 'How the import went.',
  fields: (t) => ({
    imported: t.exposeInt('imported', { description: 'How many subscribers were added.' }),
    known: t.exposeInt('known', { description: 'Those that were there: subscribed, or stopped, which stays so.' }),
    skippedCount: t.exposeInt('skippedCount', { description: 'How many may not be written to.' }),
    skipped: t.expose('skipped', { type: [ImportSkipped], description: 'The first 100 of these.' }),
    problems: t.expose('problems', { type: [ImportProblem], description: 'At most 100.' }),
  }),
})

builder.mutationField('importSubscribers', (t) =>
  t.field({
    type: ImportSubscribersPayload,
    description:
      'Subscribes mail addresses without asking them to confirm: you vouch that they want it. On a day (UTC) as many as your tier has subscribers. Needs a key with scope WRITE.',
    args: { input: t.arg({ type: ImportSubscribersInput }) },
    errors: { types: [Invalid, NotFound, RateLimited, TierLimitReached] },
    resolve: (_root, { input }, ctx) => importSubscribers(ctx, input),
  }),
)

const BounceKind = builder.enumType('BounceKind', {
  description: 'BOUNCE: mail came back for good. COMPLAINT: its reader reported it as unwanted.',
  values: describedValues({
    BOUNCE: 'Mail came back permanently.',
    COMPLAINT: 'The reader reported the mail as unwanted.',
  }),
})

const ReportBounceInput = builder.inputType('ReportBounceInput', {
  description: 'An address that your mail system reports.',
  fields: (t) => ({
    email: t.string({ description: 'The address.' }),
    kind: t.field({ type: BounceKind, description: 'What was reported.' }),
  }),
})

const ReportBouncePayload = builder.objectRef<{ readonly stopped: number }>('ReportBouncePayload').implement({
  description: 'What the report led to.',
  fields: (t) => ({ stopped: t.exposeInt('stopped', { description: 'How many subscriptions that ended.' }) }),
})

builder.mutationField('reportBounce', (t) =>
  t.field({
    type: ReportBouncePayload,
    description:
      'Takes word from your mail system: a complaint ends all subscriptions of a mailbox, as does its third bounce in a row, and no organization can subscribe it again. Operator only.',
    args: { input: t.arg({ type: ReportBounceInput }) },
    errors: { types: [Invalid] },
    resolve: async (_root, { input }, ctx) => ({ stopped: await reportBounce(ctx, input) }),
  }),
)

const LiftSuppressionInput = builder.inputType('LiftSuppressionInput', {
  description: 'Which mailbox may be written to again.',
  fields: (t) => ({ email: t.string({ description: 'Any address of the mailbox.' }) }),
})

const LiftSuppressionPayload = builder.objectRef<{ readonly lifted: boolean }>('LiftSuppressionPayload').implement({
  description: 'What came of lifting a suppression.',
  fields: (t) => ({ lifted: t.exposeBoolean('lifted', { description: 'Whether the mailbox was suppressed.' }) }),
})

builder.mutationField('liftSuppression', (t) =>
  t.field({
    type: LiftSuppressionPayload,
    description:
      'Lets a mailbox be written to again that complained or bounced. It is subscribed nowhere by that: its owner has to subscribe and confirm. Operator only.',
    args: { input: t.arg({ type: LiftSuppressionInput }) },
    errors: { types: [Invalid] },
    resolve: async (_root, { input }, ctx) => ({ lifted: await liftSuppression(ctx, input) }),
  }),
)
