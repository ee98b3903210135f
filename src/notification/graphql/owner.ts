import { Invalid, NotFound, RateLimited, TierLimitReached } from '../../core/errors.ts'
import { Topic } from '../../generated/prisma/enums.ts'
import { costs } from '../../graphql/document/cost.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { liftSuppression } from '../mail/suppression.ts'
import { reportBounce } from '../subscriber/bounce.ts'
import { deleteSubscriber } from '../subscriber/subscriber.ts'
import type { ImportResult, SkippedAddress } from '../subscriber/subscriber-import.ts'
import { importSubscribers } from '../subscriber/subscriber-import.ts'
import { builder, bulkMutationOfIds } from './builder.ts'

const DeleteSubscriberPayload = deletionPayload('Subscriber')

builder.mutationField('deleteSubscriber', (t) =>
  t.field({
    type: DeleteSubscriberPayload,
    description:
      'Deletes a subscriber and its deliveries. An address that unsubscribed stays suppressed. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound] },
    resolve: (_root, { id }, ctx) => deleteSubscriber(ctx, id),
  }),
)

bulkMutationOfIds('deleteSubscribers', {
  type: DeleteSubscriberPayload,
  description: 'Deletes up to 100 subscribers and their deliveries. Requires a key with scope WRITE.',
  errors: [NotFound],
  work: deleteSubscriber,
})

const ImportSubscribersInput = builder.inputType('ImportSubscribersInput', {
  description: 'The addresses to import, and what to notify them about.',
  fields: (t) => ({
    csv: t.string({
      description: 'CSV with email addresses in the column `email`, or in the first column; up to about 4,000 lines.',
    }),
    topics: t.field({
      type: [Topic],
      required: false,
      description: 'The topics to notify them about. Default: incidents and maintenance.',
    }),
    serviceIds: t.idList({ required: false, description: 'The services to notify them about. Default: everything.' }),
    pageId: t.id({ required: false, description: 'The page that they follow. Default: the first page.' }),
  }),
})

const ImportProblem = builder.objectRef<ImportResult['problems'][number]>('ImportProblem').implement({
  description: 'A line that could not be read.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'The line number, from 1.' }),
    message: t.exposeString('message'),
  }),
})

const SkipReason = builder.enumType('ImportSkipReason', {
  description: 'Why an address cannot be imported.',
  values: {
    UNSUBSCRIBED: { description: 'It unsubscribed from your page. Its owner can subscribe and confirm again.' },
    BLOCKED: { description: 'This service no longer sends to it, for any organization.' },
  } as const,
})

const ImportSkipped = builder.objectRef<SkippedAddress>('ImportSkipped').implement({
  description: 'A line whose address was skipped.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'The line number, from 1.' }),
    reason: t.expose('reason', { type: SkipReason, description: 'Why it was skipped.' }),
    message: t.exposeString('message', { description: 'A human-readable reason.' }),
  }),
})

const ImportSubscribersPayload = builder.objectRef<ImportResult>('ImportSubscribersPayload').implement({
  description: 'The result of an import.',
  fields: (t) => ({
    imported: t.exposeInt('imported', { description: 'How many subscribers were added.' }),
    known: t.exposeInt('known', { description: 'How many already existed. Stopped subscribers stay stopped.' }),
    skippedCount: t.exposeInt('skippedCount', {
      description: 'How many were skipped because they cannot receive messages.',
    }),
    skipped: t.expose('skipped', {
      type: [ImportSkipped],
      extensions: costs({ items: 100 }),
      description: 'The skipped lines, at most 100.',
    }),
    problems: t.expose('problems', {
      type: [ImportProblem],
      extensions: costs({ items: 100 }),
      description: 'The lines that could not be read, at most 100.',
    }),
  }),
})

builder.mutationField('importSubscribers', (t) =>
  t.field({
    type: ImportSubscribersPayload,
    description:
      'Imports email addresses as subscribers without confirmation. You are responsible for their consent. The limit per day (UTC) is the subscriber limit of your tier. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: ImportSubscribersInput }) },
    errors: { types: [Invalid, NotFound, RateLimited, TierLimitReached] },
    resolve: (_root, { input }, ctx) => importSubscribers(ctx, input),
  }),
)

const BounceKind = builder.enumType('BounceKind', {
  description: 'What a mail system reports about an address.',
  values: describedValues({
    BOUNCE: 'An email bounced permanently.',
    COMPLAINT: 'The recipient marked an email as spam.',
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
  description: 'The result of the report.',
  fields: (t) => ({ stopped: t.exposeInt('stopped', { description: 'How many subscriptions it ended.' }) }),
})

builder.mutationField('reportBounce', (t) =>
  t.field({
    type: ReportBouncePayload,
    description:
      'Records a bounce or complaint that your mail system reports. A complaint, or the third bounce in a row, ends all subscriptions of the mailbox, and no organization can subscribe it again. Operator only.',
    args: { input: t.arg({ type: ReportBounceInput }) },
    errors: { types: [Invalid] },
    resolve: async (_root, { input }, ctx) => ({ stopped: await reportBounce(ctx, input) }),
  }),
)

const LiftSuppressionInput = builder.inputType('LiftSuppressionInput', {
  description: 'The mailbox that may receive email again.',
  fields: (t) => ({ email: t.string({ description: 'Any address of the mailbox.' }) }),
})

const LiftSuppressionPayload = builder.objectRef<{ readonly lifted: boolean }>('LiftSuppressionPayload').implement({
  description: 'The result of lifting a suppression.',
  fields: (t) => ({ lifted: t.exposeBoolean('lifted', { description: 'Whether the mailbox was suppressed.' }) }),
})

builder.mutationField('liftSuppression', (t) =>
  t.field({
    type: LiftSuppressionPayload,
    description:
      'Lifts the suppression of a mailbox after a complaint or bounces. It restores no subscription: the owner has to subscribe and confirm. Operator only.',
    args: { input: t.arg({ type: LiftSuppressionInput }) },
    errors: { types: [Invalid] },
    resolve: async (_root, { input }, ctx) => ({ lifted: await liftSuppression(ctx, input) }),
  }),
)
