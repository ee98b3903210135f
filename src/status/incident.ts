import type { Context } from '../core/context.ts'
import { Conflict } from '../core/errors.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Incident } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { findOwned } from './ownership.ts'

/** @throws Conflict when an incident became part of another one. */
export function requireOwnTimeline({ visibility }: Pick<Incident, 'visibility'>): void {
  if (visibility === 'MERGED') throw new Conflict('This incident was merged. Change the one that it became part of.')
}

/** What is told of an incident that is not public: to its organization only. */
const hiddenKinds: Partial<Record<EventKind, EventKind>> = {
  INCIDENT_CREATED: 'INCIDENT_DRAFTED',
  INCIDENT_BACKFILLED: 'INCIDENT_DRAFTED',
  INCIDENT_DELETED: 'INCIDENT_DISMISSED',
}

/** Creates an event about an incident. Of one that is not public, it reaches neither pages nor subscribers. */
export function incidentEvent(
  kind: EventKind,
  { id, title, visibility }: Pick<Incident, 'id' | 'title' | 'visibility'>,
  more: Pick<NewEvent, 'updateId' | 'tellSubscribers' | 'serviceIds'> = {},
): NewEvent {
  const event = { kind, subjectId: id, subjectName: title, ...more }
  if (visibility === 'PUBLIC') return event
  return { ...event, kind: hiddenKinds[kind] ?? 'INCIDENT_DRAFT_UPDATED', tellSubscribers: false }
}

/** Creates an event about private work on an incident: it reaches its organization only, be the incident public or not. */
export function privateEvent(
  kind: 'INCIDENT_NOTE_ADDED' | 'INCIDENT_NOTE_EDITED' | 'INCIDENT_NOTE_DELETED' | 'INCIDENT_LEAD_CHANGED',
  { id, title }: Pick<Incident, 'id' | 'title'>,
): NewEvent {
  return { kind, subjectId: id, subjectName: title, tellSubscribers: false }
}

/** Reads an incident of the organization. @throws NotFound when it has no such one. */
export function findIncident({ db }: Context, organizationId: string, id: string): Promise<Incident> {
  return findOwned('Incident', id, (known) => db.incident.findUnique({ where: { id: known, organizationId } }))
}

/** Monitors no longer resolve an incident that a person has edited. */
export const manual = { automatic: false } as const
