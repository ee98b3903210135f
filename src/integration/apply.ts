import { createHash } from 'node:crypto'
import type { Context } from '../core/context.ts'
import { MINUTE } from '../core/time.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Incident, IncomingGroup, Integration } from '../generated/prisma/client.ts'
import type { IncidentVisibility, IncomingMode } from '../generated/prisma/enums.ts'
import { escapeMarkdown } from '../monitoring/incident.ts'
import { openIncident } from '../status/incident-opening.ts'
import { addUpdate, hasRoomForUpdate } from '../status/incident-updates.ts'
import type { IncomingAlert } from './incoming.ts'
import { rulesOf } from './integration.ts'
import type { Routing } from './rule.ts'
import { route } from './rule.ts'

/** What fires again within this time after it was resolved reopens its incident (contract §6). */
const REOPEN_MS = 30 * MINUTE
/** Alerts of one sender with the same rules that begin within this time share an incident. */
const GATHER_MS = MINUTE

/** What became of an alert, and the events of it. */
export interface Applied {
  readonly note: string
  readonly events: readonly NewEvent[]
}

/** Applies an alert that came in, in the transaction of a change. What a sender repeats changes nothing. */
export async function applyAlert(tx: Context, integration: Integration, alert: IncomingAlert): Promise<Applied> {
  const routing = route(rulesOf(integration), alert)
  if (routing === null) return note('No rule matches it.')
  const id = { integrationId: integration.id, keyHash: hashOf(alert.key) }
  const group = await tx.db.incomingGroup.findUnique({ where: { integrationId_keyHash: id } })
  if (alert.state === 'RESOLVED') return group?.isFiring ? resolve(tx, integration, group) : note('Nothing was open.')
  if (group?.isFiring) return note((await hasIncident(tx, group)) ? 'It is known.' : 'It was dismissed.')
  return fire(tx, integration, { alert, routing, keyHash: id.keyHash, group })
}

const note = (text: string): Applied => ({ note: text, events: [] })
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

interface Firing {
  readonly alert: IncomingAlert
  readonly routing: Routing
  readonly keyHash: string
  /** As it was before; null: it never fired. */
  readonly group: IncomingGroup | null
}

async function fire(tx: Context, integration: Integration, firing: Firing): Promise<Applied> {
  const { routing, keyHash, group } = firing
  const now = tx.now()
  const same = JSON.stringify(routing)
  const keep = async (incident: Pick<Incident, 'id' | 'version'>) => {
    const data = {
      ...{ isFiring: true, routing: same, firedAt: now, resolvedAt: null },
      ...{ incidentId: incident.id, incidentVersion: incident.version },
    }
    const id = { integrationId: integration.id, keyHash }
    await tx.db.incomingGroup.upsert({ where: { integrationId_keyHash: id }, create: { ...id, ...data }, update: data })
  }
  const former = await reopenable(tx, group)
  if (former) {
    const [, ...events] = await addUpdate(tx, former, {
      ...content(integration, firing.alert),
      status: 'INVESTIGATING',
      services: await ownServices(tx, integration, routing),
    })
    await keep({ id: former.id, version: former.version + 1 })
    await settleOthers(tx, integration.id, former.id, former.version + 1)
    return { note: 'Opened its incident again.', events }
  }
  const gathered = await gathering(tx, integration.id, same, now)
  if (gathered) {
    await keep(gathered)
    return note('Joined the incident of others.')
  }
  const [incident, ...events] = await openIncident(tx, integration.organizationId, {
    ...content(integration, firing.alert),
    title: firing.alert.title,
    status: 'INVESTIGATING',
    impact: routing.impact,
    services: await ownServices(tx, integration, routing),
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

/** A service may have been deleted since the rule was written. */
async function ownServices({ db }: Context, { organizationId }: Integration, { services }: Routing) {
  if (services.length === 0) return []
  const where = { organizationId, id: { in: services.map(({ serviceId }) => serviceId) } }
  const known = new Set((await db.service.findMany({ where, select: { id: true } })).map(({ id }) => id))
  return services.filter(({ serviceId }) => known.has(serviceId))
}

/** Clocks of senders go wrong: what began long ago or in the future begins now. */
function startOf({ at }: IncomingAlert, now: Date): Date {
  return at !== null && at <= now && now.getTime() - at.getTime() < 24 * 60 * MINUTE ? at : now
}

/** Returns the incident of a group that was resolved a short while ago, unless somebody has touched it. */
async function reopenable(tx: Context, group: IncomingGroup | null): Promise<Incident | null> {
  if (group === null || group.incidentId === null || group.resolvedAt === null) return null
  if (tx.now().getTime() - group.resolvedAt.getTime() >= REOPEN_MS) return null
  const incident = await untouched(tx, group)
  return incident?.status === 'RESOLVED' && (await hasRoomForUpdate(tx, incident.id)) ? incident : null
}

/** Returns the open incident of the same integration and rules that began within a minute, unless somebody has touched it. */
async function gathering({ db }: Context, integrationId: string, routing: string, now: Date): Promise<Incident | null> {
  const since = new Date(now.getTime() - GATHER_MS)
  const other = await db.incomingGroup.findFirst({
    where: { integrationId, isFiring: true, routing, firedAt: { gte: since }, incidentId: { not: null } },
    orderBy: { firedAt: 'asc' },
  })
  const incident = other && (await untouched({ db }, other))
  return incident && incident.status !== 'RESOLVED' && incident.createdAt >= since ? incident : null
}

/** Returns the incident of a group; null: it is deleted, or somebody has changed it since. */
async function untouched(
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
  if (others > 0) return note(`Resolved; ${others} more of its incident ${others === 1 ? 'fires' : 'fire'}.`)
  const incident = await untouched(tx, group)
  if (incident === null) return note('Resolved; somebody works on its incident.')
  if (incident.status === 'RESOLVED') return note('Its incident is resolved.')
  const message = `${escapeMarkdown(integration.name)} reports that it is resolved.`
  const [, ...events] = await addUpdate(tx, incident, { message, ...unrendered, status: 'RESOLVED', services: [] })
  await settleOthers(tx, integrationId, incident.id, incident.version + 1)
  return { note: 'Resolved its incident.', events }
}

/** Notes for all groups of an incident that its version is our own. */
async function settleOthers({ db }: Context, integrationId: string, incidentId: string, version: number) {
  await db.incomingGroup.updateMany({ where: { integrationId, incidentId }, data: { incidentVersion: version } })
}

/** The background renders messages that were written in a transaction. */
const unrendered = { html: null, htmlVersion: 0 } as const

function content({ name }: Integration, { title, text, link }: IncomingAlert) {
  const said = text === '' || text === title ? title : `${title}\n\n${text}`
  const paragraphs = said.split(/\n+/).map(escapeMarkdown)
  const from = link === null ? escapeMarkdown(name) : `[${escapeMarkdown(name)}](<${link}>)`
  return { message: [...paragraphs, `Reported by ${from}.`].join('\n\n'), ...unrendered }
}
