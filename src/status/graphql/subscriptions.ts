import type { GraphQLResolveInfo } from 'graphql'
import { Kind } from 'graphql'
import type { Page } from '../../account/page/page.ts'
import { typeOfId } from '../../core/id.ts'
import { publicKinds } from '../../event-log/audience.ts'
import { encodeCursor } from '../../event-log/event.ts'
import type { Gap } from '../../event-log/tail.ts'
import type { Event } from '../../generated/prisma/client.ts'
import { costs } from '../../graphql/document/cost.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { BROADCAST } from '../../graphql/subscription/shared-execution.ts'
import { isOnPage } from '../incident/incident-queries.ts'
import { readIncidentRow, readLiveRows } from '../page/live-event.ts'
import { followedPage, followIncident, followPage } from '../page/page-events.ts'
import { onPage } from '../page-scope.ts'
import { builder } from './builder.ts'
import { eventKinds } from './enums.ts'
import { StatusPage, statusOfPage } from './page.ts'
import { below, pageAbove } from './page-scope.ts'

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
    'An event on a status page, with its subject in its current state. A subject field is null when the subject has another type, has been deleted, or is not on the page any more.',
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
      resolve: async (query, event, _args, ctx, info) => {
        const id = idIn(event, 'Incident')
        if (id === null || event.kind === 'GAP') return null
        const scope = pageAbove(info.path)
        if (scope?.serviceIds && !(await isOnPage(ctx, scope, id))) return null
        return isPlain(query)
          ? loadRows(ctx, { organizationId: event.organizationId, incidentId: id }).then(({ incident }) => incident)
          : ctx.db.incident.findUnique({ ...query, where: { id, visibility: 'PUBLIC' } })
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
      resolve: (query, event, _args, { db }, info) => {
        const id = idIn(event, 'Maintenance')
        const scope = pageAbove(info.path)
        return id === null ? null : db.maintenance.findUnique({ ...query, where: { ...(scope && onPage(scope)), id } })
      },
    }),
    page: t.field({
      type: StatusPage,
      nullable: true,
      description: 'The whole page in its current state. Null for RELOAD.',
      resolve: async (event, _args, ctx, info) => {
        if (event.kind === 'GAP') return null
        const { organizationId } = event
        const { page, status } = await loadRows(ctx, {
          organizationId,
          followed: pageAbove(info.path),
          page: { withStatus: asksForStatus(info) },
        })
        if (page && status) statusOfPage.set(page, status)
        return page
      },
    }),
  }),
})

/** Returns whether a query selects only the row, without relations. */
const isPlain = (query: object) => Object.keys(query).length === 0

/** Returns whether the status of a page is selected. Ignores fragments, whose status is read later. */
const asksForStatus = ({ fieldNodes }: GraphQLResolveInfo) =>
  fieldNodes.some(({ selectionSet }) =>
    selectionSet?.selections.some((field) => field.kind === Kind.FIELD && field.name.value === 'status'),
  )

/** The data that one field of an event needs. */
interface Wanted {
  readonly organizationId: string
  /** The page that is followed; null: the first one. */
  readonly followed?: Page | null
  readonly incidentId?: string
  readonly page?: { readonly withStatus: boolean }
}

/** Reads the rows for all fields of an event with one statement. */
const loadRows = batchPerOperation(async ({ db }, wanted: readonly Wanted[]) => {
  const none = { page: null, incident: null, status: null }
  // An operation is executed for one event at a time.
  const [{ organizationId } = { organizationId: '' }] = wanted
  const incidentId = wanted.find(({ incidentId }) => incidentId !== undefined)?.incidentId ?? null
  const pages = wanted.flatMap(({ page }) => page ?? [])
  const rows =
    pages.length === 0 && incidentId !== null
      ? { ...none, incident: await readIncidentRow(db, incidentId) }
      : await readLiveRows(db, {
          organizationId,
          page: wanted.find(({ followed }) => followed)?.followed ?? null,
          incidentId,
          withStatus: pages.some(({ withStatus }) => withStatus),
        })
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
    args: { slug: t.arg.string({ description: 'The page’s name in URLs.' }), after: t.arg.string(after) },
    extensions: { ...BROADCAST, ...costs({ about: ({ slug }) => ({ slug: String(slug) }) }) },
    subscribe: (_root, { slug, after }, ctx) => followPage(ctx, slug, after ?? null),
    resolve: async (event: Event | Gap, { slug }, ctx, info): Promise<Event | Gap> => {
      const page = await followedPage(ctx, slug)
      if (page === null) return { kind: 'GAP', seq: event.seq, at: event.at }
      below(info.path, page)
      return event
    },
  }),
)

builder.subscriptionField('incidentEvents', (t) =>
  t.field({
    type: StatusPageEvent,
    description: 'Sends the events of an incident as they occur.',
    args: { id: t.arg.id(), after: t.arg.string(after) },
    extensions: { ...BROADCAST, ...costs({ about: ({ id }) => ({ objects: [String(id)] }) }) },
    subscribe: (_root, { id, after }, ctx) => followIncident(ctx, id, after ?? null),
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
