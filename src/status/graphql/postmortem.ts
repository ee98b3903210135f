import { canReadOrganization } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { builder } from '../../graphql/builder.ts'
import { text } from '../../graphql/cost.ts'
import { deletionPayload } from '../../graphql/deletion-payload.ts'
import { VERSION, VERSION_READ } from '../../graphql/version.ts'
import { deletePostmortem, publishPostmortem, savePostmortem, unpublishPostmortem } from '../postmortem.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline-limits.ts'
import { TELL_SUBSCRIBERS } from './incident.ts'
import { MessageTranslation, messagesCost, messagesIn, translationsField } from './translation.ts'

const Postmortem = builder.prismaObject('Postmortem', {
  description: 'What an organization writes about an incident afterwards.',
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
    version: t.exposeInt('version', VERSION),
  }),
})

builder.prismaObjectField('Incident', 'postmortem', (t) =>
  t.field({
    type: Postmortem,
    nullable: true,
    description:
      'What the organization wrote about it afterwards. A draft is there with a key of the organization only.',
    select: { postmortem: true },
    resolve: ({ postmortem, organizationId }, _args, { actor }) =>
      postmortem?.publishedAt || canReadOrganization(actor, organizationId) ? postmortem : null,
  }),
)

const SavePostmortemInput = builder.inputType('SavePostmortemInput', {
  description: 'The post-mortem of an incident.',
  fields: (t) => ({
    incidentId: t.id({ description: 'The incident.' }),
    message: t.string({ description: 'The text, in markdown.' }),
    translations: t.field(translationsField.messages),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('savePostmortem', (t) =>
  t.field({
    type: Postmortem,
    description:
      'Writes the post-mortem of an incident: a draft, or the new text of a published one. No subscriber is notified. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: SavePostmortemInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => savePostmortem(ctx, input),
  }),
)

const PublishPostmortemInput = builder.inputType('PublishPostmortemInput', {
  description: 'The post-mortem to publish.',
  fields: (t) => ({
    incidentId: t.id({ description: 'The incident.' }),
    tellSubscribers: t.boolean(TELL_SUBSCRIBERS),
  }),
})

builder.mutationField('publishPostmortem', (t) =>
  t.field({
    type: Postmortem,
    description: 'Publishes the post-mortem of a public, resolved incident. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: PublishPostmortemInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => publishPostmortem(ctx, input),
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
