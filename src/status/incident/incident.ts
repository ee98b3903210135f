import type { Context } from '../../core/context.ts'
import { Conflict } from '../../core/errors.ts'
import { MINUTE } from '../../core/time.ts'
import type { KindFor } from '../../event-log/audience.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import type { EventKind } from '../../generated/prisma/enums.ts'
import { findOwned } from '../ownership.ts'

/** A problem that returns within this time after its end reopens its incident (contract §6). */
export const REOPEN_WITHIN_MS = 30 * MINUTE

/** @throws Conflict if the incident was merged into another one. */
export function requireOwnTimeline({ visibility }: Pick<Incident, 'visibility'>): void {
  if (visibility === 'MERGED')
    throw new Conflict('This incident was merged. Change the incident that it was merged into.')
}

/** The kinds of events that pages show of incidents. */
type PublicKind = Extract<KindFor<'page'>, `INCIDENT_${string}`>

/** The kinds in their place for incidents that are not public. Only the organization gets them. */
const hiddenKinds = {
  INCIDENT_CREATED: 'INCIDENT_DRAFTED',
  INCIDENT_BACKFILLED: 'INCIDENT_DRAFTED',
  INCIDENT_DELETED: 'INCIDENT_DISMISSED',
  INCIDENT_UPDATED: 'INCIDENT_DRAFT_UPDATED',
  INCIDENT_UPDATE_POSTED: 'INCIDENT_DRAFT_UPDATED',
  INCIDENT_UPDATE_EDITED: 'INCIDENT_DRAFT_UPDATED',
  INCIDENT_UPDATE_BACKFILLED: 'INCIDENT_DRAFT_UPDATED',
  INCIDENT_UPDATE_DELETED: 'INCIDENT_DRAFT_UPDATED',
  INCIDENT_MERGED: 'INCIDENT_DRAFT_UPDATED',
} as const satisfies Readonly<Record<PublicKind, EventKind>>

/**
 * Creates an event about an incident. If the incident is not public, the event reaches neither pages nor subscribers.
 */
export function incidentEvent(
  kind: PublicKind,
  { id, title, visibility }: Pick<Incident, 'id' | 'title' | 'visibility'>,
  more: Pick<NewEvent, 'updateId' | 'notifySubscribers' | 'serviceIds'> = {},
): NewEvent {
  const event = { kind, subjectId: id, subjectName: title, ...more }
  if (visibility === 'PUBLIC') return event
  return { ...event, kind: hiddenKinds[kind], notifySubscribers: false }
}

type PrivateKind =
  | `INCIDENT_NOTE_${'ADDED' | 'EDITED' | 'DELETED'}`
  | `INCIDENT_FILE_${'ADDED' | 'DELETED'}`
  | 'INCIDENT_LEAD_CHANGED'

/**
 * Creates an event about private work on an incident, which only the organization gets, even if the incident is public.
 */
export function privateEvent(kind: PrivateKind, { id, title }: Pick<Incident, 'id' | 'title'>): NewEvent {
  return { kind, subjectId: id, subjectName: title, notifySubscribers: false }
}

/** Reads an incident of the organization. @throws NotFound. */
export function findIncident({ db }: Context, organizationId: string, id: string): Promise<Incident> {
  return findOwned('Incident', id, (known) => db.incident.findUnique({ where: { id: known, organizationId } }))
}

/** Monitors no longer resolve an incident that a person has edited. */
export const manual = { automatic: false } as const
