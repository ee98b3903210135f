import { recordedActorName } from '../../account/actor-name.ts'
import { canReadOrganization } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { text } from '../../graphql/document/cost.ts'
import { readTogether } from '../../graphql/execution/loader.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { ownerOnly } from '../../graphql/schema/owner-only.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import {
  deletePostmortem,
  postmortemPublication,
  postmortemText,
  publishPostmortem,
  savePostmortem,
  unpublishPostmortem,
} from '../incident/postmortem.ts'
import {
  approval,
  approvePostmortem,
  cancelPostmortemReview,
  requestPostmortemReview,
} from '../incident/postmortem-review.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'
import { builder } from './builder.ts'
import { MessageTranslation, messagesCost, messagesIn } from './translation.ts'

/** Reads the name of a person; null: no longer exists. */
function nameOf(ctx: GraphContext, actorUserId: string | null): Promise<string | null> {
  return readTogether(ctx, () => recordedActorName(ctx, { actorUserId, actorKeyId: null }))
}

const Postmortem = builder.prismaObject('Postmortem', {
  description: 'An organization’s account of an incident, written afterwards.',
  fields: (t) => ({
    incidentId: t.exposeID('id', { description: 'The incident it is about.' }),
    message: t.exposeString('message', {
      description: 'The text, in markdown.',
      extensions: text(MAX_MESSAGE_LENGTH),
    }),
    translations: t.field({
      type: [MessageTranslation],
      extensions: messagesCost,
      description: 'The text in other languages.',
      resolve: ({ translations }) => messagesIn(translations),
    }),
    publishedAt: t.expose('publishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was published. Null: it is a draft, which only the organization sees.',
    }),
    editedAt: t.expose('editedAt', { type: 'DateTime', description: 'When its text was last changed.' }),
    reviewRequestedAt: t.expose('reviewRequestedAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description:
        'When a review was requested, without which it cannot be published. Null: none is requested. Requires a key of the organization.',
    }),
    reviewRequestedBy: t.string({
      nullable: true,
      authScopes: ownerOnly,
      description:
        'The name of the member who requested the review. Null: none is requested, or a key requested it. Requires a key of the organization.',
      resolve: ({ reviewRequestedById }, _args, ctx) => nameOf(ctx, reviewRequestedById),
    }),
    reviewedAt: t.expose('reviewedAt', {
      type: 'DateTime',
      nullable: true,
      authScopes: ownerOnly,
      description:
        'When its text was approved. Null: it was not approved, or has changed since. Requires a key of the organization.',
    }),
    reviewedBy: t.string({
      nullable: true,
      authScopes: ownerOnly,
      description: 'The name of the member who approved its text. Null: none. Requires a key of the organization.',
      resolve: ({ reviewedById }, _args, ctx) => nameOf(ctx, reviewedById),
    }),
    version: t.exposeInt('version', VERSION),
  }),
})

builder.prismaObjectField('Incident', 'postmortem', (t) =>
  t.field({
    type: Postmortem,
    nullable: true,
    description: 'The organization’s account of it, written afterwards. A draft requires a key of the organization.',
    select: { postmortem: true },
    resolve: ({ postmortem, organizationId }, _args, { actor }) =>
      postmortem?.publishedAt || canReadOrganization(actor, organizationId) ? postmortem : null,
  }),
)

builder.mutationField('savePostmortem', (t) =>
  t.field({
    type: Postmortem,
    description:
      'Writes the post-mortem of an incident: a draft, or the new text of a published one. No subscriber is notified. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(postmortemText) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => savePostmortem(ctx, input),
  }),
)

builder.mutationField('publishPostmortem', (t) =>
  t.field({
    type: Postmortem,
    description:
      'Publishes the post-mortem of a public, resolved incident. Returns a ConflictError with code REVIEW_REQUIRED if a requested review is not approved yet. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(postmortemPublication) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => publishPostmortem(ctx, input),
  }),
)

builder.mutationField('requestPostmortemReview', (t) =>
  t.field({
    type: Postmortem,
    description:
      'Requests a review of the draft of a post-mortem: it can be published once another member has approved its text, or the review is cancelled. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The incident.' }) },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => requestPostmortemReview(ctx, id),
  }),
)

builder.mutationField('approvePostmortem', (t) =>
  t.field({
    type: Postmortem,
    description:
      'Approves the text of a post-mortem whose review is requested, until the text changes. Requires a signed-in person with the role EDITOR, who neither changed the text last nor requested the review (else ConflictError with code OWN_REVIEW).',
    args: { input: t.arg({ type: describedInput(approval) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => approvePostmortem(ctx, input),
  }),
)

builder.mutationField('cancelPostmortemReview', (t) =>
  t.field({
    type: Postmortem,
    description:
      'Cancels the review of a post-mortem and removes its approval. It can then be published without a review. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The incident.' }) },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => cancelPostmortemReview(ctx, id),
  }),
)

builder.mutationField('unpublishPostmortem', (t) =>
  t.field({
    type: Postmortem,
    description: 'Makes a published post-mortem a draft again. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The incident.' }) },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => unpublishPostmortem(ctx, id),
  }),
)

builder.mutationField('deletePostmortem', (t) =>
  t.field({
    type: deletionPayload('Postmortem'),
    description: 'Deletes the post-mortem of an incident. Requires a key with scope WRITE.',
    args: { id: t.arg.id({ description: 'The incident.' }) },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { id }, ctx) => deletePostmortem(ctx, id),
  }),
)
