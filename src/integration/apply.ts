import { createHash } from 'node:crypto'
import type { Context } from '../core/context.ts'
import { escapeMarkdown } from '../core/markdown/markdown.ts'
import { MINUTE } from '../core/time.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Incident, IncomingGroup, Integration } from '../generated/prisma/client.ts'
import type { IncidentVisibility } from '../generated/prisma/enums.ts'
import { IncomingMode } from '../generated/prisma/enums.ts'
import { REOPEN_WITHIN_MS } from '../status/incident/incident.ts'
import { openIncident } from '../status/incident/incident-opening.ts'
import { addUpdate, hasRoomForUpdate, writeImpact } from '../status/incident/incident-updates.ts'
import { severityOf } from '../status/service/service-status.ts'
import { fullMessage, hasRoom } from '../status/stored-limits.ts'
import { rulesOf } from './integration.ts'
import type { IncomingAlert } from './kind/incoming.ts'
import type { Routing } from './rule.ts'
import { greaterImpact, routeMembers } from './rule.ts'

/** Alerts of one integration with the same routing that begin within this time share an incident. */
const SHARE_MS = MINUTE

/** The outcome of an alert, described in a sentence, and the events of the change. */
export interface Applied {
  readonly note: string
  readonly events: readonly NewEvent[]
}

/** The note of an alert that matches no rule. */
export const UNMATCHED = 'No rule matches it.'

/**
 * Applies an incoming alert in the transaction of a change. A growing group adds services to its incident and raises its impact; a
 * repeated alert changes nothing. Members of a group with different modes get one incident per mode.
 */
export async function applyAlert(tx: Context, integration: Integration, alert: IncomingAlert): Promise<Applied> {
  const rules = rulesOf(integration)
  const groups = await readGroups(tx, integration.id, alert.key)
  const matching = routeMembers(rules, alert.members)
  const wanted = alert.state === 'RESOLVED' ? [] : matching
  const applied: Applied[] = []
  for (const routing of wanted) {
    const group = groups.find((each) => modeOf(each) === routing.mode) ?? null
    const firing = { alert, routing, group, keyHash: group?.keyHash ?? keyHashOf(alert.key, routing.mode) }
    applied.push(
      await (group?.isFiring ? growIncident(tx, integration, group, routing) : fireAlert(tx, integration, firing)),
    )
  }
  const ended = alert.state === 'RESOLVED' ? groups : endedGroups(rules, alert, groups)
  for (const group of ended) if (group.isFiring) applied.push(await resolve(tx, integration, group))
  if (applied.length === 0) return note(matching.length === 0 ? UNMATCHED : 'Nothing was open.')
  return {
    note: [...new Set(applied.map((each) => each.note))].join(' '),
    events: applied.flatMap(({ events }) => events),
  }
}

const note = (text: string): Applied => ({ note: text, events: [] })
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const keyHashOf = (key: string, mode: IncomingMode) => hashOf(`${key}\n${mode}`)

/** Returns the mode in a group's routing. */
const modeOf = ({ routing }: IncomingGroup): IncomingMode => (JSON.parse(routing) as Routing).mode

/** Reads the groups of a key, one per mode. Groups stored by earlier versions have a hash of the key alone. */
function readGroups({ db }: Context, integrationId: string, key: string): Promise<IncomingGroup[]> {
  const hashes = [hashOf(key), ...Object.values(IncomingMode).map((mode) => keyHashOf(key, mode))]
  return db.incomingGroup.findMany({ where: { integrationId, keyHash: { in: hashes } }, orderBy: { keyHash: 'asc' } })
}

/** Returns the groups of a firing alert whose members are all resolved. */
function endedGroups(
  rules: ReturnType<typeof rulesOf>,
  { members, resolved, isTruncated }: IncomingAlert,
  groups: readonly IncomingGroup[],
): readonly IncomingGroup[] {
  // Omitted members may still be firing.
  if (isTruncated || resolved.length === 0) return []
  const modes = (of: IncomingAlert['members']) => new Set(routeMembers(rules, of).map(({ mode }) => mode))
  const [firing, over] = [modes(members), modes(resolved)]
  return groups.filter((group) => over.has(modeOf(group)) && !firing.has(modeOf(group)))
}

interface Firing {
  readonly alert: IncomingAlert
  readonly routing: Routing
  readonly keyHash: string
  /** The stored group of the key and mode; null: it never fired. */
  readonly group: IncomingGroup | null
}

/**
 * Adds services to the incident of a firing group and raises its impact. Never lowers a status or the impact, and does not change
 * an incident that a person has changed.
 */
async function growIncident(
  tx: Context,
  integration: Integration,
  group: IncomingGroup,
  routing: Routing,
): Promise<Applied> {
  if (!(await hasIncident(tx, group))) return note('Its incident was dismissed.')
  const incident = await unchangedIncident(tx, group)
  if (incident === null) return note('Already known; a person is working on its incident.')
  if (incident.status === 'RESOLVED') return note('Already known.')
  const has = await tx.db.incidentService.findMany({ where: { incidentId: incident.id } })
  const statusOf = (id: string) => has.find(({ serviceId }) => serviceId === id)?.status
  const wanted = await ownServices(tx, integration, routing)
  const services = wanted.filter(
    ({ serviceId, status }) => severityOf(status) > severityOf(statusOf(serviceId) ?? 'OPERATIONAL'),
  )
  const impact = greaterImpact(incident.impact, routing.impact)
  if (services.length === 0 && impact === incident.impact) return note('Already known.')
  if (!(await hasRoomForUpdate(tx, incident.id))) return note('Already known; the timeline of its incident is full.')
  const added = services.flatMap(({ serviceId, name }) => (statusOf(serviceId) === undefined ? [name] : []))
  const message =
    added.length > 0 ? `Also affected: ${added.map(escapeMarkdown).join(', ')}.` : 'The problem has become worse.'
  const [, ...events] = await addUpdate(tx, incident, {
    ...{ message: `${message}\n\nReported by ${escapeMarkdown(integration.name)}.`, ...unrendered },
    status: incident.status,
    services: services.map(({ serviceId, status }) => ({ serviceId, status })),
  })
  await writeImpact(tx, incident.id, impact)
  await recordVersion(tx, integration.id, incident.id, incident.version + 1)
  return { note: 'Added to its incident.', events }
}

async function fireAlert(tx: Context, integration: Integration, firing: Firing): Promise<Applied> {
  const { routing, keyHash, group } = firing
  const now = tx.now()
  const same = JSON.stringify(routing)
  const services = (await ownServices(tx, integration, routing)).map(({ name: _, ...service }) => service)
  const keep = async (incident: Pick<Incident, 'id' | 'version'>) => {
    const data = {
      ...{ isFiring: true, routing: same, firedAt: now, resolvedAt: null },
      ...{ incidentId: incident.id, incidentVersion: incident.version },
    }
    const id = { integrationId: integration.id, keyHash }
    await tx.db.incomingGroup.upsert({ where: { integrationId_keyHash: id }, create: { ...id, ...data }, update: data })
  }
  const former = await reopenableIncident(tx, group)
  if (former) {
    const [, ...events] = await addUpdate(tx, former, {
      ...content(integration, firing.alert),
      status: 'INVESTIGATING',
      services,
    })
    const impact = greaterImpact(former.impact, routing.impact)
    await writeImpact(tx, former.id, impact)
    await keep({ id: former.id, version: former.version + 1 })
    await recordVersion(tx, integration.id, former.id, former.version + 1)
    return { note: 'Reopened its incident.', events }
  }
  const gathered = await recentIncident(tx, integration.id, same, now)
  if (gathered) {
    await keep(gathered)
    return note('Joined the incident of other alerts.')
  }
  if (!(await hasRoom(tx, 'Incident', integration.organizationId))) return note(fullMessage('Incident'))
  const [incident, ...events] = await openIncident(tx, integration.organizationId, {
    ...content(integration, firing.alert),
    title: firing.alert.title,
    status: 'INVESTIGATING',
    impact: routing.impact,
    services,
    startedAt: startOf(firing.alert, now),
    automatic: false,
    visibility: visibilities[routing.mode],
  })
  await keep(incident)
  return { note: openedNotes[routing.mode], events }
}

const visibilities = {
  SUGGEST: 'SUGGESTED',
  DRAFT: 'DRAFT',
  PUBLISH: 'PUBLIC',
} as const satisfies Record<IncomingMode, IncidentVisibility>

const openedNotes = {
  SUGGEST: 'Suggested an incident.',
  DRAFT: 'Drafted an incident.',
  PUBLISH: 'Opened an incident.',
} as const satisfies Record<IncomingMode, string>

/** Returns the services of a routing with their names. Leaves out services that were deleted after the rule was written. */
async function ownServices({ db }: Context, { organizationId }: Integration, { services }: Routing) {
  if (services.length === 0) return []
  const where = { organizationId, id: { in: services.map(({ serviceId }) => serviceId) } }
  const found = await db.service.findMany({ where, select: { id: true, name: true } })
  return services.flatMap((service) => {
    const known = found.find(({ id }) => id === service.serviceId)
    return known === undefined ? [] : [{ ...service, name: known.name }]
  })
}

/** Returns the start of an alert. Senders' clocks may be wrong: a time in the future, or more than a day ago, counts as now. */
function startOf({ at }: IncomingAlert, now: Date): Date {
  return at !== null && at <= now && now.getTime() - at.getTime() < 24 * 60 * MINUTE ? at : now
}

/** Returns the incident of a recently resolved group, or null if it is not resolved, full, or changed by a person. */
async function reopenableIncident(tx: Context, group: IncomingGroup | null): Promise<Incident | null> {
  if (group === null || group.incidentId === null || group.resolvedAt === null) return null
  if (tx.now().getTime() - group.resolvedAt.getTime() >= REOPEN_WITHIN_MS) return null
  const incident = await unchangedIncident(tx, group)
  return incident?.status === 'RESOLVED' && (await hasRoomForUpdate(tx, incident.id)) ? incident : null
}

/** Returns an open incident of the same integration and routing that began within SHARE_MS, unless a person has changed it. */
async function recentIncident(
  { db }: Context,
  integrationId: string,
  routing: string,
  now: Date,
): Promise<Incident | null> {
  const since = new Date(now.getTime() - SHARE_MS)
  const other = await db.incomingGroup.findFirst({
    where: { integrationId, isFiring: true, routing, firedAt: { gte: since }, incidentId: { not: null } },
    orderBy: { firedAt: 'asc' },
  })
  const incident = other && (await unchangedIncident({ db }, other))
  return incident && incident.status !== 'RESOLVED' && incident.createdAt >= since ? incident : null
}

/** Returns the incident of a group, or null if it was deleted or a person has changed it. */
async function unchangedIncident(
  { db }: Pick<Context, 'db'>,
  { incidentId, incidentVersion }: IncomingGroup,
): Promise<Incident | null> {
  const incident = await db.incident.findUnique({ where: { id: incidentId ?? '' } })
  return incident?.version === incidentVersion ? incident : null
}

async function hasIncident({ db }: Pick<Context, 'db'>, { incidentId }: IncomingGroup): Promise<boolean> {
  return (await db.incident.count({ where: { id: incidentId ?? '' } })) > 0
}

async function resolve(tx: Context, integration: Integration, group: IncomingGroup): Promise<Applied> {
  const { integrationId, keyHash, incidentId } = group
  await tx.db.incomingGroup.update({
    where: { integrationId_keyHash: { integrationId, keyHash } },
    data: { isFiring: false, resolvedAt: tx.now() },
  })
  if (incidentId === null || !(await hasIncident(tx, group))) return note('Resolved; its incident was dismissed.')
  const others = await tx.db.incomingGroup.count({ where: { integrationId, incidentId, isFiring: true } })
  if (others > 0)
    return note(`Resolved; ${others} other ${others === 1 ? 'alert' : 'alerts'} of its incident still firing.`)
  const incident = await unchangedIncident(tx, group)
  if (incident === null) return note('Resolved; a person is working on its incident.')
  if (incident.status === 'RESOLVED') return note('Its incident is already resolved.')
  const message = `${escapeMarkdown(integration.name)} reports that it is resolved.`
  const [, ...events] = await addUpdate(tx, incident, { message, ...unrendered, status: 'RESOLVED', services: [] })
  await recordVersion(tx, integrationId, incident.id, incident.version + 1)
  return { note: 'Resolved its incident.', events }
}

/** Records the version that we just wrote in all groups of an incident, so that they still count as unchanged by people. */
async function recordVersion({ db }: Context, integrationId: string, incidentId: string, version: number) {
  await db.incomingGroup.updateMany({ where: { integrationId, incidentId }, data: { incidentVersion: version } })
}

/** A background job renders messages that were written in a transaction. */
const unrendered = { html: null, htmlVersion: 0 } as const

function content({ name }: Integration, { title, text, link }: IncomingAlert) {
  const whole = text === '' || text === title ? title : `${title}\n\n${text}`
  const paragraphs = whole.split(/\n+/).map(escapeMarkdown)
  const from = link === null ? escapeMarkdown(name) : `[${escapeMarkdown(name)}](<${link}>)`
  return { message: [...paragraphs, `Reported by ${from}.`].join('\n\n'), ...unrendered }
}
