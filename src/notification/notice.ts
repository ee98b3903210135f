import { z } from 'zod'
import type { Database } from '../context.ts'
import type { Event, Prisma } from '../generated/prisma/client.ts'
import type { EventKind, Topic } from '../generated/prisma/enums.ts'
import { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import { causesOfStatus, shownBy } from '../status/shown-status.ts'

const named = { id: z.string(), name: z.string() }

/** Markdown, and its HTML; notices that are older than that have none. */
const said = { message: z.string(), html: z.string().nullish() }

const incidentNotice = z.object({
  about: z.literal('INCIDENT'),
  step: z.enum(['CREATED', 'UPDATED', 'RESOLVED']),
  id: z.string(),
  title: z.string(),
  status: z.enum(IncidentStatus),
  impact: z.enum(IncidentImpact),
  ...said,
  startedAt: z.coerce.date(),
  services: z.array(z.object({ ...named, status: z.enum(ServiceStatus) })),
})

const maintenanceNotice = z.object({
  about: z.literal('MAINTENANCE'),
  step: z.enum(['SCHEDULED', 'RESCHEDULED', 'UPDATED', 'STARTED', 'COMPLETED', 'CANCELLED']),
  id: z.string(),
  title: z.string(),
  status: z.enum(MaintenanceStatus),
  ...said,
  startsAt: z.coerce.date(),
  endsAt: z.coerce.date(),
  services: z.array(z.object(named)),
})

const serviceNotice = z.object({
  about: z.literal('SERVICE'),
  step: z.literal('STATUS_CHANGED'),
  id: z.string(),
  title: z.string(),
  status: z.enum(ServiceStatus),
})

const notices = z.discriminatedUnion('about', [incidentNotice, maintenanceNotice, serviceNotice])

/** What an event says to those who are told of it, as it was then. Messages are markdown. */
export type Notice = z.infer<typeof notices> & { readonly at: Date }

type Told = z.infer<typeof notices>

/** The topic under which each kind of notice is wanted. */
const topics = {
  INCIDENT: 'INCIDENTS',
  MAINTENANCE: 'MAINTENANCES',
  SERVICE: 'SERVICE_STATUS',
} as const satisfies Record<Told['about'], Topic>

/** A notice as it is stored. @throws Error when it is none: nobody but us has written it. */
export function readNotice(content: Prisma.JsonValue): Notice {
  const { at } = z.object({ at: z.coerce.date() }).parse(content)
  return { ...notices.parse(content), at }
}

/** The notice as it is stored. */
export function noticeContent(notice: Notice): Prisma.InputJsonObject {
  // What dates become is read back by `readNotice`.
  return JSON.parse(JSON.stringify(notice)) as Prisma.InputJsonObject
}

/** A notice, and who is to be told of it. */
export interface Announcement {
  readonly notice: Notice
  readonly topic: Topic
  /** The services that it touches; none: it is told to whoever wants the topic. */
  readonly serviceIds: readonly string[]
}

/**
 * What an event says to subscribers; null when it says nothing, or when what it happened to is gone. Read as it was when it
 * happened, as far as the timeline tells, because the log may be read late.
 */
export async function announcementOf(db: Database, event: Event): Promise<Announcement | null> {
  const told = await tellers[event.kind]?.(db, event)
  if (!told) return null
  return { notice: { ...told, at: event.at }, topic: topics[told.about], serviceIds: touchedBy(told) }
}

function touchedBy(told: Told): string[] {
  return told.about === 'SERVICE' ? [told.id] : told.services.map(({ id }) => id)
}

type Teller = (db: Database, event: Event) => Promise<Told | null>

/** What is told, by the kind of event; corrections of what was told are not. */
const tellers: Partial<Record<EventKind, Teller>> = {
  INCIDENT_CREATED: ofIncident,
  INCIDENT_UPDATE_POSTED: ofIncident,
  MAINTENANCE_SCHEDULED: ofMaintenance('SCHEDULED'),
  MAINTENANCE_RESCHEDULED: ofMaintenance('RESCHEDULED'),
  MAINTENANCE_UPDATE_POSTED: ofMaintenance('UPDATED'),
  MAINTENANCE_STARTED: ofMaintenance('STARTED'),
  MAINTENANCE_COMPLETED: ofMaintenance('COMPLETED'),
  MAINTENANCE_CANCELLED: ofMaintenance('CANCELLED'),
  SERVICE_STATUS_CHANGED: ofService,
}

/** The kinds of event that subscribers may be told of. */
export const toldKinds = Object.keys(tellers) as EventKind[]

const service = { select: { id: true, name: true } } satisfies Prisma.ServiceDefaultArgs

async function ofIncident(
  db: Database,
  { organizationId, entryId, subjectId, subjectName, kind }: Event,
): Promise<Told | null> {
  const incident = await db.incident.findUnique({
    where: { id: subjectId, organizationId },
    include: { services: { include: { service }, orderBy: { service: { position: 'asc' } } } },
  })
  const update = await db.incidentUpdate.findFirst({ where: { id: entryId ?? '', incidentId: subjectId } })
  if (!incident || !update) return null
  const { status, message, html, createdAt } = update
  const updates = await db.incidentUpdate.findMany({
    where: { incidentId: subjectId, createdAt: { lte: createdAt } },
    select: { services: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const said = new Map(
    updates.flatMap(({ services }) => services.map((each) => [each.serviceId, each.status] as const)),
  )
  return {
    about: 'INCIDENT',
    step: kind === 'INCIDENT_CREATED' ? 'CREATED' : status === 'RESOLVED' ? 'RESOLVED' : 'UPDATED',
    id: subjectId,
    title: subjectName,
    status,
    impact: incident.impact,
    message,
    html,
    startedAt: incident.startedAt,
    services: incident.services.map((each) => ({
      ...each.service,
      status: status === 'RESOLVED' ? 'OPERATIONAL' : (said.get(each.serviceId) ?? each.status),
    })),
  }
}

type MaintenanceStep = z.infer<typeof maintenanceNotice>['step']

function ofMaintenance(step: MaintenanceStep): Teller {
  return async (db, { organizationId, entryId, subjectId, subjectName }) => {
    const maintenance = await db.maintenance.findUnique({
      where: { id: subjectId, organizationId },
      include: {
        services: { include: { service }, orderBy: { service: { position: 'asc' } } },
        updates: { where: { id: entryId ?? '' } },
      },
    })
    if (!maintenance) return null
    const { updates, startsAt, endsAt, services } = maintenance
    // One that started when it was planned has told so with its plan: the second of two events has no entry.
    const [entry] = updates
    if (!entry) return null
    return {
      about: 'MAINTENANCE',
      step,
      id: subjectId,
      title: subjectName,
      status: entry.status,
      message: step === 'RESCHEDULED' ? '' : entry.message,
      html: step === 'RESCHEDULED' ? '' : entry.html,
      startsAt,
      endsAt,
      services: services.map((each) => each.service),
    }
  }
}

async function ofService(db: Database, { organizationId, subjectId, subjectName }: Event): Promise<Told | null> {
  const found = await db.service.findUnique({ where: { id: subjectId, organizationId }, select: causesOfStatus })
  if (!found) return null
  return { about: 'SERVICE', step: 'STATUS_CHANGED', id: subjectId, title: subjectName, status: shownBy(found).status }
}
