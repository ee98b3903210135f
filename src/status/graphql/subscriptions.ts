import type { GraphQLResolveInfo } from 'graphql'
import { Kind } from 'graphql'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { encodeCursor, isPublicKind } from '../../event-log/event.ts'
import type { Gap } from '../../event-log/tail.ts'
import { startPosition } from '../../event-log/tail.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { EventKind } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { costs } from '../../graphql/cost.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import { BROADCAST } from '../../graphql/shared-execution.ts'
import { readIncidentRow, readLiveRows } from '../live-event.ts'
import { followPage } from '../page-events.ts'
import { eventKinds } from './enums.ts'
import { StatusPage, statusOfPage } from './page.ts'

const publicKinds = Object.values(EventKind).filter(isPublicKind)

const reload = describedValues({
  RELOAD: 'Events after your cursor are no longer available: read the page again and continue from its cursor.',
})
// The public kinds; visitors do not receive the others.
const publicValues = Object.fromEntries(publicKinds.map((kind) => [kind, eventKinds[kind]])) as typeof eventKinds

const StatusPageEventKind = builder.enumType('StatusPageEventKind', {
  description: 'The kind of an event on a status page. After RELOAD, read the page again and continue from its cursor.',
  values: { ...reload, ...publicValues },
})

const StatusPageEvent = builder.objectRef<Event | Gap>('StatusPageEvent').implement({
  description:
    'An event on a status page, with its subject in its current state. A subject field is null when the subject has another type or has been deleted.',
  fields: (t) => ({
    cursor: t.string({
      description: 'The event’s position. Pass it as `after` to resume from here.',
      resolve: ({ seq }) => encodeCursor(seq),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it occurred.' }),
    kind: t.field({
      type: StatusPageEventKind,
      description: 'The kind of event.',
      resolve: ({ kind }) => (kind === 'GAP' ? 'RELOAD' : kind),
    }),
    subjectId: t.id({
      nullable: true,
      description: 'The id of the subject, even if it has been deleted. Null for RELOAD.',
      resolve: subjectOf,
    }),
    incident: t.prismaField({
      type: 'Incident',
      nullable: true,
      description: 'The subject, if it is an incident that still exists.',
      resolve: (query, event, _args, ctx) => {
        const id = idIn(event, 'Incident')
        if (id === null || event.kind === 'GAP') return null
        return isPlain(query)
          ? loadRows(ctx, { organizationId: event.organizationId, incidentId: id }).then(({ incident }) => incident)
          : ctx.db.incident.findUnique({ ...query, where: { id } })
      },
    }),
    service: t.prismaField({
      type: 'Service',
      nullable: true,
      description: 'The subject, if it is a service that still exists.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'Service')
        return id === null ? null : db.service.findUnique({ ...query, where: { id } })
      },
    }),
    serviceGroup: t.prismaField({
      type: 'ServiceGroup',
      nullable: true,
      description: 'The subject, if it is a service group that still exists.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'ServiceGroup')
        return id === null ? null : db.serviceGroup.findUnique({ ...query, where: { id } })
      },
    }),
    maintenance: t.prismaField({
      type: 'Maintenance',
      nullable: true,
      description: 'The subject, if it is a maintenance that still exists.',
      resolve: (query, event, _args, { db }) => {
        const id = idIn(event, 'Maintenance')
        return id === null ? null : db.maintenance.findUnique({ ...query, where: { id } })
      },
    }),
    page: t.prismaField({
      type: StatusPage,
      nullable: true,
      description: 'The whole page in its current state. Null for RELOAD.',
      resolve: async (query, event, _args, ctx, info) => {
        if (event.kind === 'GAP') return null
        const { organizationId } = event
        if (!isPlain(query)) return ctx.db.organization.findUnique({ ...query, where: { id: organizationId } })
        const { organization, status } = await loadRows(ctx, {
          organizationId,
          page: { withStatus: asksForStatus(info) },
        })
        if (organization && status) statusOfPage.set(organization, status)
        return organization
      },
    }),
  }),
})

/** Returns whether a query is for a row alone, without relations. */
const isPlain = (query: object) => Object.keys(query).length === 0

/** Returns whether the status of a page is selected. In a fragment it is not found, and read later. */
const asksForStatus = ({ fieldNodes }: GraphQLResolveInfo) =>
  fieldNodes.some(({ selectionSet }) =>
    selectionSet?.selections.some((field) => field.kind === Kind.FIELD && field.name.value === 'status'),
  )

/** What one field of an event asks for. */
interface Wanted {
  readonly organizationId: string
  readonly incidentId?: string
  readonly page?: { readonly withStatus: boolean }
}

/** Reads the rows that the fields of an event ask for with one statement. */
const loadRows = batchPerOperation(async ({ db }, wanted: readonly Wanted[]) => {
  const none = { organization: null, incident: null, status: null }
  // An operation is executed for one event at a time.
  const [{ organizationId } = { organizationId: '' }] = wanted
  const incidentId = wanted.find(({ incidentId }) => incidentId !== undefined)?.incidentId ?? null
  const pages = wanted.flatMap(({ page }) => page ?? [])
  const rows =
    pages.length === 0 && incidentId !== null
      ? { ...none, incident: await readIncidentRow(db, incidentId) }
      : await readLiveRows(db, { organizationId, incidentId, withStatus: pages.some(({ withStatus }) => withStatus) })
  return wanted.map(() => rows ?? none)
})

const after = {
  required: false,
  description: 'A cursor of a page or an event: sends all later events. Default: events from now on.',
} as const

builder.subscriptionField('statusPageEvents', (t) =>
  t.field({
    type: StatusPageEvent,
    description: 'Sends the events of a public status page as they occur.',
    args: { slug: t.arg.string({ description: 'The organization’s name in URLs.' }), after: t.arg.string(after) },
    extensions: { ...BROADCAST, ...costs({ about: ({ slug }) => ({ slug: String(slug) }) }) },
    subscribe: (_root, { slug, after }, ctx) => followPage(ctx, slug, after ?? null),
    resolve: (event) => event,
  }),
)

builder.subscriptionField('incidentEvents', (t) =>
  t.field({
    type: StatusPageEvent,
    description: 'Sends the events of an incident as they occur.',
    args: { id: t.arg.id(), after: t.arg.string(after) },
    extensions: { ...BROADCAST, ...costs({ about: ({ id }) => ({ objects: [String(id)] }) }) },
    subscribe: async (_root, { id, after }, { db, eventLog }) => {
      const incident =
        typeOfId(id) === 'Incident'
          ? await db.incident.findUnique({
              where: { id, organization: { deletedAt: null } },
              select: { organizationId: true },
            })
          : null
      if (!incident) throw new NotFound('Incident not found.')
      return eventLog.follow(incident.organizationId, startPosition(after), ({ subjectId }) => subjectId === id)
    },
    resolve: (event) => event,
  }),
)

function subjectOf(event: Event | Gap): string | null {
  return event.kind === 'GAP' ? null : event.subjectId
}

/** Returns the id of an event's subject if it has this type; otherwise null. */
function idIn(event: Event | Gap, type: 'Incident' | 'Service' | 'ServiceGroup' | 'Maintenance'): string | null {
  const id = subjectOf(event)
  return id !== null && typeOfId(id) === type ? id : null
}
