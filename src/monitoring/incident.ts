import type { Context } from '../context.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Incident, Monitor, Prisma } from '../generated/prisma/client.ts'
import { escapeText } from '../markdown.ts'
import type { StoredHtml } from '../rendering.ts'
import { HTML_VERSION } from '../rendering.ts'
import { addEntry, hasRoom, openIncident } from '../status/incident.ts'
import { underMaintenance } from '../status/shown-status.ts'
import { MINUTE } from '../time.ts'
import { durationInWords } from './duration.ts'

/** A monitor that goes down again so soon after its incident was resolved reopens it (contract §6). */
const FLAPPING = 30 * MINUTE

/** What an incident has to know of a monitor. */
type Member = Pick<Monitor, 'id' | 'name' | 'organizationId' | 'serviceId'>

/** Why a monitor bears on its incident no longer. */
export type LeaveReason = 'RECOVERED' | 'PAUSED' | 'MOVED' | 'CHANGED' | 'DELETED'

/**
 * Tells of a monitor that is down, in the transaction of a change: it joins its service's open incident, else reopens the
 * one that it flaps on, else opens one. Without a service, while that is under maintenance, or when it takes part in one
 * since it went down, nothing is told. Gives what has happened.
 * @param outage when it went down, and what its first failing check said.
 */
export async function joinIncident(
  tx: Context,
  monitor: Member,
  outage: { readonly since: Date; readonly cause: string },
): Promise<NewEvent[]> {
  const service = await serviceToTellOf(tx, monitor)
  if (service === null) return []
  const open = await openIncidentOf(tx, service.id)
  const services = [{ serviceId: service.id, status: 'MAJOR_OUTAGE' }] as const
  const what = said([strong(monitor.name), ` is down since ${timeInWords(outage.since)}${reason(outage.cause)}`])
  if (open) {
    await join(tx, open, monitor)
    if (!open.automatic || !(await hasRoom(tx, open.id))) return []
    const [, ...events] = await addEntry(tx, open, { status: open.status, ...what, services })
    return events
  }
  const flapping = await flappingOn(tx, monitor, service.id)
  if (flapping) {
    await join(tx, flapping, monitor)
    const [, ...events] = await addEntry(tx, flapping, { status: 'INVESTIGATING', ...what, services })
    return events
  }
  const [incident, ...events] = await openIncident(tx, monitor.organizationId, {
    title: titleOf(service.name, monitor.name),
    status: 'INVESTIGATING',
    impact: 'MAJOR',
    ...what,
    services,
    startedAt: outage.since,
    automatic: true,
  })
  await join(tx, incident, monitor)
  return events
}

/**
 * Has a monitor bear on its incidents no longer, in the transaction of a change; call it before the monitor is deleted or
 * moved. One that monitors opened, and on which no person has written, is told of it, and resolved when no monitor of it is
 * down any more. Gives what has happened.
 * @param monitor as it was before. @param at when it recovered.
 */
export async function leaveIncident(
  tx: Context,
  monitor: Pick<Monitor, 'id' | 'name' | 'stateSince'>,
  why: LeaveReason,
  at = tx.now(),
): Promise<NewEvent[]> {
  const memberships = await tx.db.incidentMonitor.findMany({
    where: { monitorId: monitor.id, leftAt: null },
    include: { incident: { include: { monitors: { where: { leftAt: null }, include: { monitor: true } } } } },
    orderBy: { joinedAt: 'asc' },
  })
  const happened: NewEvent[] = []
  for (const { incident } of memberships) {
    const { monitors, ...before } = incident
    const id = { incidentId_monitorId: { incidentId: before.id, monitorId: monitor.id } }
    await tx.db.incidentMonitor.update({ where: id, data: { leftAt: tx.now() } })
    if (!before.automatic || before.status === 'RESOLVED') continue
    const others = monitors.filter(({ monitorId }) => monitorId !== monitor.id).map((each) => each.monitor.name)
    const message = farewell(monitor.name, why, at.getTime() - monitor.stateSince.getTime(), others)
    const status = others.length === 0 ? 'RESOLVED' : before.status
    if (status !== 'RESOLVED' && !(await hasRoom(tx, before.id))) continue
    const [, ...events] = await addEntry(tx, before, { status, ...message, services: [] })
    happened.push(...events)
  }
  return happened
}

function farewell(name: string, why: LeaveReason, lasted: number, others: readonly string[]): Said {
  const after = why === 'RECOVERED' ? ` after ${durationInWords(lasted)}` : ''
  const left = [strong(name), ` ${departures[why]}${after}`]
  if (others.length === 0) return said([...left, '.'])
  const names = others.flatMap((other, index) => [index === 0 ? '' : ', ', strong(other)])
  return said([...left, '; still down: ', ...names, '.'])
}

const departures: Readonly<Record<LeaveReason, string>> = {
  RECOVERED: 'recovered',
  PAUSED: 'is paused, and watched no longer',
  MOVED: 'watches this service no longer',
  CHANGED: 'was changed, and what it found before holds no longer',
  DELETED: 'was deleted, and watches no longer',
}

/** The service on which a monitor bears; null when there is none, or nothing is to be told of it now. */
async function serviceToTellOf({ db }: Context, { id, serviceId }: Member) {
  if (serviceId === null || (await db.incidentMonitor.count({ where: { monitorId: id, leftAt: null } })) > 0)
    return null
  return db.service.findFirst({
    where: { id: serviceId, maintenances: { none: underMaintenance } },
    select: { id: true, name: true },
  })
}

/** The unresolved incident of a service that a monitor joins: rather one of monitors, and rather the newest. */
function openIncidentOf({ db }: Context, serviceId: string): Promise<Incident | null> {
  return db.incident.findFirst({
    where: { status: { not: 'RESOLVED' }, services: { some: { serviceId } } },
    orderBy: [{ automatic: 'desc' }, { startedAt: 'desc' }, { id: 'asc' }],
  })
}

/**
 * The incident that a monitor took part in last, if the monitors themselves resolved it a short while ago. One on which a
 * person has written is that person's: it would be resolved by nobody else; one whose timeline is full is left to the past.
 */
async function flappingOn(tx: Context, { id }: Member, serviceId: string): Promise<Incident | null> {
  const last = await tx.db.incidentMonitor.findFirst({
    where: { monitorId: id },
    orderBy: { joinedAt: 'desc' },
    include: { incident: { include: { services: { where: { serviceId } } } } },
  })
  if (!last) return null
  const { services, ...incident } = last.incident
  const { automatic, resolvedAt } = incident
  const recently = resolvedAt !== null && tx.now().getTime() - resolvedAt.getTime() < FLAPPING
  const isSame = automatic && recently && services.length > 0
  return isSame && (await hasRoom(tx, incident.id)) ? incident : null
}

async function join({ db, now }: Context, { id: incidentId }: Incident, { id: monitorId }: Member): Promise<void> {
  const since: Prisma.IncidentMonitorUncheckedUpdateInput = { joinedAt: now(), leftAt: null }
  await db.incidentMonitor.upsert({
    where: { incidentId_monitorId: { incidentId, monitorId } },
    create: { incidentId, monitorId, joinedAt: now() },
    update: since,
  })
}

/** As long as a title may be. */
const LONGEST_TITLE = 200

function titleOf(service: string, monitor: string): string {
  const title = service === monitor ? `${service} is down` : `${service}: ${monitor} is down`
  return title.length <= LONGEST_TITLE ? title : `${title.slice(0, LONGEST_TITLE - 1)}…`
}

const reason = (cause: string) => (cause === '' ? '.' : `: ${cause.replace(/\.$/, '')}.`)

/** A time of day for a message that readers of every zone see: `14:05:30 UTC`, on the day on which the message is written. */
const timeInWords = (at: Date) => `${at.toISOString().slice(11, 19)} UTC`

/** What an entry says, in markdown and in HTML. */
interface Said extends StoredHtml {
  readonly message: string
}

/** A part of a sentence that stands out. */
interface Strong {
  readonly strong: string
}

const strong = (text: string): Strong => ({ strong: oneLine(text) })

/** A sentence of parts, all of which are shown as they are. It is written in a transaction, where nothing is rendered. */
function said(parts: readonly (string | Strong)[]): Said {
  const written = (plain: (text: string) => string, bold: (text: string) => string) =>
    parts.map((part) => (typeof part === 'string' ? plain(oneLine(part)) : bold(plain(part.strong)))).join('')
  return {
    message: written(escapeMarkdown, (text) => `**${text}**`),
    html: `<p>${written(escapeText, (text) => `<strong>${text}</strong>`)}</p>`,
    htmlVersion: HTML_VERSION,
  }
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')

/**
 * Text within a paragraph as markdown that shows it as it is: what would mark, link or stand for another character is escaped
 * (CommonMark 0.31, section 2.4), and nothing else, for programs show the message as it is written.
 */
export function escapeMarkdown(text: string): string {
  return oneLine(text).replace(marks, '\\$&')
}

const marks = /[\\`*[\]<@]|&(?=#?\w+;)|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|:(?=\/\/)|(?<=www)\./giu
