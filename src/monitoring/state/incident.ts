import type { Context } from '../../core/context.ts'
import { escapeMarkdown, escapeText } from '../../core/markdown/markdown.ts'
import type { StoredHtml } from '../../core/markdown/markdown-rendering.ts'
import { HTML_VERSION } from '../../core/markdown/markdown-rendering.ts'
import { truncate } from '../../core/truncate.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Incident, Monitor } from '../../generated/prisma/client.ts'
import { REOPEN_WITHIN_MS } from '../../status/incident/incident.ts'
import {
  addMonitor,
  incidentsOfMonitor,
  isInIncident,
  lastIncidentOfMonitor,
  openIncidentOf,
  removeMonitor,
} from '../../status/incident/incident-monitors.ts'
import { openIncident } from '../../status/incident/incident-opening.ts'
import { addUpdate, hasRoomForUpdate } from '../../status/incident/incident-updates.ts'
import { serviceNotUnderMaintenance } from '../../status/service/shown-status.ts'
import { durationInWords } from '../uptime/duration.ts'

/** The fields of a monitor that incidents use. */
type AffectedMonitor = Pick<Monitor, 'id' | 'name' | 'organizationId' | 'serviceId'>

/** Why a monitor leaves its incident. */
export type LeaveReason = 'RECOVERED' | 'PAUSED' | 'MOVED' | 'CHANGED' | 'DELETED'

/**
 * Adds a monitor that is down to an incident, within the transaction of a change. Uses the open incident of its
 * service, else reopens the monitor's recently resolved incident, else opens a new one. Does nothing if the monitor has
 * no service, its service is under maintenance, or it already belongs to an incident. Returns the new events.
 * @param outage when it went down, and the message of its first failed probe.
 */
export async function joinIncident(
  tx: Context,
  monitor: AffectedMonitor,
  outage: { readonly since: Date; readonly cause: string },
): Promise<NewEvent[]> {
  const service = await serviceOfIncident(tx, monitor)
  if (service === null) return []
  const open = await openIncidentOf(tx, service.id)
  const services = [{ serviceId: service.id, status: 'MAJOR_OUTAGE' }] as const
  const content = messageOf([
    strong(monitor.name),
    ` went down at ${timeInWords(outage.since)}${causeText(outage.cause)}`,
  ])
  if (open) {
    await addMonitor(tx, open.id, monitor.id)
    if (!open.automatic || !(await hasRoomForUpdate(tx, open.id))) return []
    const [, ...events] = await addUpdate(tx, open, { status: open.status, ...content, services })
    return events
  }
  const flapping = await flappingIncident(tx, monitor, service.id)
  if (flapping) {
    await addMonitor(tx, flapping.id, monitor.id)
    const [, ...events] = await addUpdate(tx, flapping, { status: 'INVESTIGATING', ...content, services })
    return events
  }
  const [incident, ...events] = await openIncident(tx, monitor.organizationId, {
    title: titleOf(service.name, monitor.name),
    status: 'INVESTIGATING',
    impact: 'MAJOR',
    ...content,
    services,
    startedAt: outage.since,
    automatic: true,
  })
  await addMonitor(tx, incident.id, monitor.id)
  return events
}

/**
 * Detaches a monitor from its open incidents, within the transaction of a change. Call it before you delete or move the
 * monitor. Posts an update to each incident that a monitor opened and no person has edited, and resolves it if none of
 * its other monitors is down. Returns the new events.
 * @param monitor the monitor before the change. @param at when it recovered.
 */
export async function leaveIncident(
  tx: Context,
  monitor: Pick<Monitor, 'id' | 'name' | 'stateSince'>,
  reason: LeaveReason,
  at = tx.now(),
): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  for (const { incident: before, monitorIds } of await incidentsOfMonitor(tx, monitor.id)) {
    await removeMonitor(tx, before.id, monitor.id)
    if (!before.automatic || before.status === 'RESOLVED') continue
    const others = await namesOf(
      tx,
      monitorIds.filter((id) => id !== monitor.id),
    )
    const message = departureMessage(monitor.name, reason, at.getTime() - monitor.stateSince.getTime(), others)
    const status = others.length === 0 ? 'RESOLVED' : before.status
    if (status !== 'RESOLVED' && !(await hasRoomForUpdate(tx, before.id))) continue
    const [, ...posted] = await addUpdate(tx, before, { status, ...message, services: [] })
    events.push(...posted)
  }
  return events
}

/** Returns the names of monitors, in this order. */
async function namesOf({ db }: Context, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const found = await db.monitor.findMany({ where: { id: { in: [...ids] } }, select: { id: true, name: true } })
  return ids.flatMap((id) => found.find((each) => each.id === id)?.name ?? [])
}

function departureMessage(
  name: string,
  reason: LeaveReason,
  lasted: number,
  others: readonly string[],
): MessageContent {
  const after = reason === 'RECOVERED' ? ` after ${durationInWords(lasted)}` : ''
  const left = [strong(name), ` ${departureTexts[reason]}${after}`]
  if (others.length === 0) return messageOf([...left, '.'])
  const names = others.flatMap((other, index) => [index === 0 ? '' : ', ', strong(other)])
  return messageOf([...left, '; still down: ', ...names, '.'])
}

const departureTexts: Readonly<Record<LeaveReason, string>> = {
  RECOVERED: 'recovered',
  PAUSED: 'was paused',
  MOVED: 'no longer monitors this service',
  CHANGED: 'was changed, so its earlier results no longer apply',
  DELETED: 'was deleted',
}

/**
 * Returns the service of a monitor; null: it has none, the service is under maintenance, or the monitor already belongs
 * to an incident.
 */
async function serviceOfIncident(tx: Context, { id, serviceId }: AffectedMonitor) {
  if (serviceId === null || (await isInIncident(tx, id))) return null
  return serviceNotUnderMaintenance(tx, serviceId)
}

/**
 * Returns the last incident of a monitor if it can be reopened; null: it cannot. It must be automatic, recently
 * resolved and have room for an update. A monitor does not reopen an incident that a person has edited, because it
 * could not resolve it.
 */
async function flappingIncident(tx: Context, { id }: AffectedMonitor, serviceId: string): Promise<Incident | null> {
  const incident = await lastIncidentOfMonitor(tx, id, serviceId)
  if (incident === null) return null
  const { automatic, resolvedAt } = incident
  const recently = resolvedAt !== null && tx.now().getTime() - resolvedAt.getTime() < REOPEN_WITHIN_MS
  return automatic && recently && (await hasRoomForUpdate(tx, incident.id)) ? incident : null
}

const MAX_TITLE_LENGTH = 200

function titleOf(service: string, monitor: string): string {
  return truncate(service === monitor ? `${service} is down` : `${service}: ${monitor} is down`, MAX_TITLE_LENGTH)
}

const causeText = (cause: string) => (cause === '' ? '.' : `: ${cause.replace(/\.$/, '')}.`)

/** Formats a time of day: `14:05:30 UTC`. Every reader sees UTC; the update shows the date. */
const timeInWords = (at: Date) => `${at.toISOString().slice(11, 19)} UTC`

/** The message of an incident update, in Markdown and in HTML. */
interface MessageContent extends StoredHtml {
  readonly message: string
}

/** Bold text. */
interface Strong {
  readonly strong: string
}

const strong = (text: string): Strong => ({ strong: oneLine(text) })

/** Builds a message from literal parts. Does not use the Markdown renderer, because it runs in a transaction. */
function messageOf(parts: readonly (string | Strong)[]): MessageContent {
  const render = (plain: (text: string) => string, bold: (text: string) => string) =>
    parts.map((part) => (typeof part === 'string' ? plain(oneLine(part)) : bold(plain(part.strong)))).join('')
  return {
    message: render(escapeMarkdown, (text) => `**${text}**`),
    html: `<p>${render(escapeText, (text) => `<strong>${text}</strong>`)}</p>`,
    htmlVersion: HTML_VERSION,
  }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
