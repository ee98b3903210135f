import type { Context } from '../../core/context.ts'
import { escapeText } from '../../core/markdown/markdown.ts'
import type { StoredHtml } from '../../core/markdown/markdown-rendering.ts'
import { HTML_VERSION } from '../../core/markdown/markdown-rendering.ts'
import { MINUTE } from '../../core/time.ts'
import { truncate } from '../../core/truncate.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Incident, Monitor, Prisma } from '../../generated/prisma/client.ts'
import { openIncident } from '../../status/incident/incident-opening.ts'
import { addUpdate, hasRoomForUpdate } from '../../status/incident/incident-updates.ts'
import { underMaintenance } from '../../status/service/shown-status.ts'
import { durationInWords } from '../uptime/duration.ts'

/**
 * A monitor that goes down again within this time after its incident was resolved reopens the incident (contract §6).
 */
const FLAPPING_MS = 30 * MINUTE

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
    await addMonitor(tx, open, monitor)
    if (!open.automatic || !(await hasRoomForUpdate(tx, open.id))) return []
    const [, ...events] = await addUpdate(tx, open, { status: open.status, ...content, services })
    return events
  }
  const flapping = await flappingIncident(tx, monitor, service.id)
  if (flapping) {
    await addMonitor(tx, flapping, monitor)
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
  await addMonitor(tx, incident, monitor)
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
  const joined = await tx.db.incidentMonitor.findMany({
    where: { monitorId: monitor.id, leftAt: null },
    include: { incident: { include: { monitors: { where: { leftAt: null }, include: { monitor: true } } } } },
    orderBy: { joinedAt: 'asc' },
  })
  const events: NewEvent[] = []
  for (const { incident } of joined) {
    const { monitors, ...before } = incident
    const id = { incidentId_monitorId: { incidentId: before.id, monitorId: monitor.id } }
    await tx.db.incidentMonitor.update({ where: id, data: { leftAt: tx.now() } })
    if (!before.automatic || before.status === 'RESOLVED') continue
    const others = monitors.filter(({ monitorId }) => monitorId !== monitor.id).map((each) => each.monitor.name)
    const message = departureMessage(monitor.name, reason, at.getTime() - monitor.stateSince.getTime(), others)
    const status = others.length === 0 ? 'RESOLVED' : before.status
    if (status !== 'RESOLVED' && !(await hasRoomForUpdate(tx, before.id))) continue
    const [, ...posted] = await addUpdate(tx, before, { status, ...message, services: [] })
    events.push(...posted)
  }
  return events
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
async function serviceOfIncident({ db }: Context, { id, serviceId }: AffectedMonitor) {
  if (serviceId === null || (await db.incidentMonitor.count({ where: { monitorId: id, leftAt: null } })) > 0)
    return null
  return db.service.findFirst({
    where: { id: serviceId, maintenances: { none: underMaintenance } },
    select: { id: true, name: true },
  })
}

/** Finds the unresolved incident that a monitor joins: an automatic one if possible, and of those the newest. */
function openIncidentOf({ db }: Context, serviceId: string): Promise<Incident | null> {
  return db.incident.findFirst({
    where: { status: { not: 'RESOLVED' }, visibility: 'PUBLIC', services: { some: { serviceId } } },
    orderBy: [{ automatic: 'desc' }, { startedAt: 'desc' }, { id: 'asc' }],
  })
}

/**
 * Returns the last incident of a monitor if it can be reopened; null: it cannot. It must be automatic, recently
 * resolved and have room for an update. A monitor does not reopen an incident that a person has edited, because it
 * could not resolve it.
 */
async function flappingIncident(tx: Context, { id }: AffectedMonitor, serviceId: string): Promise<Incident | null> {
  const last = await tx.db.incidentMonitor.findFirst({
    where: { monitorId: id },
    orderBy: { joinedAt: 'desc' },
    include: { incident: { include: { services: { where: { serviceId } } } } },
  })
  if (!last) return null
  const { services, ...incident } = last.incident
  const { automatic, resolvedAt } = incident
  const recently = resolvedAt !== null && tx.now().getTime() - resolvedAt.getTime() < FLAPPING_MS
  const isSame = automatic && recently && services.length > 0
  return isSame && (await hasRoomForUpdate(tx, incident.id)) ? incident : null
}

async function addMonitor(
  { db, now }: Context,
  { id: incidentId }: Incident,
  { id: monitorId }: AffectedMonitor,
): Promise<void> {
  const since: Prisma.IncidentMonitorUncheckedUpdateInput = { joinedAt: now(), leftAt: null }
  await db.incidentMonitor.upsert({
    where: { incidentId_monitorId: { incidentId, monitorId } },
    create: { incidentId, monitorId, joinedAt: now() },
    update: since,
  })
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

/**
 * Escapes text for use within a Markdown paragraph. Escapes only characters that would format text, create a link or
 * form an entity (CommonMark 0.31, section 2.4), because some programs show the Markdown source.
 */
export function escapeMarkdown(text: string): string {
  return oneLine(text).replace(marks, '\\$&')
}

const marks = /[\\`*[\]<@]|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|:(?=\/\/)|(?<=www)\./giu
