import { NotFound } from '../../errors.ts'
import { cursorOf, isPublicKind } from '../../eventlog/event.ts'
import type { Gap } from '../../eventlog/tail.ts'
import { startOf } from '../../eventlog/tail.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { EventKind } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { BROADCAST } from '../../graphql/shared-execution.ts'
import { typeOfId } from '../../id.ts'
import { StatusPage } from './page.ts'
import { eventKinds } from './words.ts'

const publicKinds = Object.values(EventKind).filter(isPublicKind)

const reload = describedValues({
  RELOAD: 'Events after your cursor are no longer available: read the page again and continue from its cursor.',
})
// A part of the kinds: the others are not given to visitors.
const publicValues = Object.fromEntries(publicKinds.map((kind) => [kind, eventKinds[kind]])) as typeof eventKinds

const StatusPageEventKind = builder.enumType('StatusPageEventKind', {
  description:
    'What happened. RELOAD: events after your cursor cannot be told any more; read the page anew, and go on from there.',
  values: { ...reload, ...publicValues },
})

const StatusPageEvent = builder.objectRef<Event | Gap>('StatusPageEvent').implement({
  description:
    'Something that happened on a status page, with what it happened to as that is now: null when it is gone, or when it is of another type.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Its position: subscribe again with `after` this to go on from here.',
      resolve: ({ seq }) => cursorOf(seq),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    kind: t.field({
      type: StatusPageEventKind,
      description: 'What happened.',
      resolve: ({ kind }) => (kind === 'GAP' ? 'RELOAD' : kind),
    }),
    subjectId: t.id({ nullable: true, description: 'Also of what is gone; null for RELOAD.', resolve: subjectOf }),
    incident: t.prismaField({
      type: 'Incident',
      nullable: true,
      description: 'The incident it happened to; null: it happened to something else, or the incident is gone.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'Incident')
        return id === null ? null : db.incident.findUnique({ ...query, where: { id } })
      },
    }),
    service: t.prismaField({
      type: 'Service',
      nullable: true,
      description: 'The service it happened to; null: it happened to something else, or the service is gone.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'Service')
        return id === null ? null : db.service.findUnique({ ...query, where: { id } })
      },
    }),
    serviceGroup: t.prismaField({
      type: 'ServiceGroup',
      nullable: true,
      description: 'The group it happened to; null: it happened to something else, or the group is gone.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'ServiceGroup')
        return id === null ? null : db.serviceGroup.findUnique({ ...query, where: { id } })
      },
    }),
    maintenance: t.prismaField({
      type: 'Maintenance',
      nullable: true,
      description: 'The maintenance it happened to; null: it happened to something else, or the maintenance is gone.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'Maintenance')
        return id === null ? null : db.maintenance.findUnique({ ...query, where: { id } })
      },
    }),
    page: t.prismaField({
      type: StatusPage,
      nullable: true,
      description: 'The whole page as it is now, whatever happened; null for RELOAD.',
      resolve: (query, event, _args, { db }) =>
        event.kind === 'GAP' ? null : db.organization.findUnique({ ...query, where: { id: event.organizationId } }),
    }),
  }),
})

/** What a slug is made of; other texts may not reach the database. */
const SLUG = /^[a-z0-9-]{1,100}$/

const after = {
  required: false,
  description: 'The cursor of a page or an event, to be told everything since; absent: what happens from now on.',
} as const

builder.subscriptionField('statusPageEvents', (t) =>
  t.field({
    type: StatusPageEvent,
    description: 'What happens on a public status page, as it happens.',
    args: { slug: t.arg.string({ description: 'The organization’s name in addresses.' }), after: t.arg.string(after) },
    extensions: BROADCAST,
    subscribe: async (_root, args, { db, eventLog }) => {
      const page = SLUG.test(args.slug)
        ? await db.organization.findUnique({ where: { slug: args.slug, deletedAt: null }, select: { id: true } })
        : null
      if (!page) throw new NotFound('There is no such status page.')
      return eventLog.follow(page.id, startOf(args.after), ({ kind }) => isPublicKind(kind))
    },
    resolve: (event) => event,
  }),
)

builder.subscriptionField('incidentEvents', (t) =>
  t.field({
    type: StatusPageEvent,
    description: 'What happens to an incident, as it happens.',
    args: { id: t.arg.id(), after: t.arg.string(after) },
    extensions: BROADCAST,
    subscribe: async (_root, { id, after }, { db, eventLog }) => {
      const incident =
        typeOfId(id) === 'Incident'
          ? await db.incident.findUnique({
              where: { id, organization: { deletedAt: null } },
              select: { organizationId: true },
            })
          : null
      if (!incident) throw new NotFound('There is no such incident.')
      return eventLog.follow(incident.organizationId, startOf(after), ({ subjectId }) => subjectId === id)
    },
    resolve: (event) => event,
  }),
)

function subjectOf(event: Event | Gap): string | null {
  return event.kind === 'GAP' ? null : event.subjectId
}

/** The id of an event's subject when that is of a type, else null. */
function idIn(event: Event | Gap, type: 'Incident' | 'Service' | 'ServiceGroup' | 'Maintenance'): string | null {
  const id = subjectOf(event)
  return id !== null && typeOfId(id) === type ? id : null
}
