import { recordedActorName } from '../../account/actor-name.ts'
import { encodeCursor } from '../../event-log/event.ts'
import { ActorKind, EventKind } from '../../generated/prisma/enums.ts'
import { readTogether } from '../../graphql/execution/loader.ts'
import { builder } from './builder.ts'

/** An event in the audit trail. */
export const AuditEvent = builder.prismaObject('Event', {
  description: 'An event in an organization’s audit trail: what happened, to what, when, and who did it.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Its position in the event log.',
      resolve: ({ seq }) => encodeCursor(seq),
    }),
    kind: t.expose('kind', { type: EventKind, description: 'The kind of event.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it occurred.' }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the change took effect, for monitors and services whose state became unknown or known again, which is detected later. Null for other events.',
    }),
    actor: t.expose('actorKind', { type: ActorKind, description: 'Who did it.' }),
    apiKey: t.prismaField({
      type: 'ApiKey',
      nullable: true,
      description: 'The API key that was used. Null: none.',
      resolve: (query, { actorKeyId }, _args, ctx) =>
        actorKeyId === null
          ? null
          : readTogether(ctx, () => ctx.db.apiKey.findUnique({ ...query, where: { id: actorKeyId } })),
    }),
    userName: t.string({
      nullable: true,
      description: 'The name of the person who did it. Null: no person, or one who no longer exists.',
      resolve: ({ actorUserId }, _args, ctx) =>
        actorUserId === null
          ? null
          : readTogether(ctx, () => recordedActorName(ctx, { actorUserId, actorKeyId: null })),
    }),
    subjectId: t.exposeID('subjectId', { description: 'The id of the subject, which may have been deleted.' }),
    subjectName: t.exposeString('subjectName', { description: 'The subject’s name at that time.' }),
  }),
})
