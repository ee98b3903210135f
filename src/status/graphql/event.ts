import { cursorOf } from '../../eventlog/event.ts'
import { ActorKind, EventKind } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'

builder.prismaObject('Event', {
  description:
    'Something that happened, as the audit trail of the organization has it: what, to what, when and who did it.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Its position in the event log.',
      resolve: ({ seq }) => cursorOf(seq),
    }),
    kind: t.expose('kind', { type: EventKind, description: 'What happened.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it was so, of what was noticed later than it began, such as silence; null of all else.',
    }),
    actor: t.expose('actorKind', { type: ActorKind, description: 'Who did it.' }),
    apiKey: t.prismaField({
      type: 'ApiKey',
      nullable: true,
      description: 'The key that did it; null when it was done without one.',
      resolve: (query, { actorKeyId }, _args, { db }) =>
        actorKeyId === null ? null : db.apiKey.findUnique({ ...query, where: { id: actorKeyId } }),
    }),
    subjectId: t.exposeID('subjectId', { description: 'What it happened to, which may be gone.' }),
    subjectName: t.exposeString('subjectName', { description: 'What that was called then.' }),
  }),
})
