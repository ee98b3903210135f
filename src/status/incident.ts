import { z } from 'zod'
import { requireScope } from '../account/access.ts'
import type { Context } from '../context.ts'
import type { Changed } from '../eventlog/change.ts'
import { change } from '../eventlog/change.ts'
import type { Incident, IncidentUpdate } from '../generated/prisma/client.ts'
import { IncidentImpact, IncidentStatus } from '../generated/prisma/enums.ts'
import { newId } from '../id.ts'
import type { StoredHtml } from '../rendering.ts'
import { renderMessage } from '../rendering.ts'
import { invalid, lineText, validate } from '../validate.ts'
import { alters, readVersion, requireVersion, sameSet } from '../version.ts'
import { MOST_SERVICES, own, requireDistinct, requireServices } from './guard.ts'
import { correct, freeTime, pastOf, requireOrder, requirePast } from './incident-past.ts'
import { entryTime, MOST_ENTRIES, message, requireAnother, requireRoom } from './timeline.ts'

const titleText = lineText(200)

/** What an incident does to services; OPERATIONAL says that one has recovered. Maintenance is planned, no incident. */
const impacts = z
  .array(
    z.object({
      serviceId: z.string(),
      status: z.enum(['OPERATIONAL', 'DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE']),
    }),
  )
  .max(MOST_SERVICES, `must be at most ${MOST_SERVICES}`)

type Impacts = readonly Readonly<z.infer<typeof impacts>[number]>[]

const newIncident = z.object({
  title: titleText,
  status: z.enum(IncidentStatus),
  impact: z.enum(IncidentImpact),
  message,
  services: impacts.nullish(),
  startedAt: z.date().nullish(),
  resolvedAt: z.date().nullish(),
})

/**
 * Tells of an incident; the message becomes the first entry of its timeline. One told as resolved bears on nothing, and
 * its entry keeps what it did to services; with the time at which it was resolved it is written down for the record, and told
 * to nobody. Needs a key with scope WRITE.
 * @throws Invalid, also for times in the future. @throws NotFound for a service the organization does not have.
 */
export async function createIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { title, status, impact, message, ...rest } = validate(newIncident, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const resolvedAt = rest.resolvedAt ?? null
    const startedAt = rest.startedAt ?? resolvedAt ?? tx.now()
    requireTimes({ status, startedAt, resolvedAt }, tx.now())
    await requireServices(tx, organizationId, services.map(serviceIdOf))
    const told = { title, status, impact, message, ...html, services, startedAt, automatic: false }
    return openIncident(tx, organizationId, resolvedAt === null ? told : { ...told, resolvedAt })
  })
}

/** An incident as it is told of first. */
export interface ToldIncident extends ToldEntry {
  readonly title: string
  readonly impact: IncidentImpact
  readonly startedAt: Date
  /** When it was resolved, of one that is written down only for the record; absent: now, when it is told as resolved. */
  readonly resolvedAt?: Date
  /** Whether monitors resolve it. */
  readonly automatic: boolean
}

/** Tells of an incident, in the transaction of a change; its services are known to be the organization's. */
export async function openIncident(
  tx: Context,
  organizationId: string,
  { message, html, htmlVersion, services, ...fields }: ToldIncident,
): Promise<Changed<Incident>> {
  const now = tx.now()
  const toldAt = fields.resolvedAt ?? now
  const resolved = fields.status === 'RESOLVED'
  const incident = await tx.db.incident.create({
    data: {
      id: newId('Incident'),
      organizationId,
      ...fields,
      resolvedAt: resolved ? toldAt : null,
      createdAt: now,
      services: { create: resolved ? services.map(recovered) : [...services] },
    },
  })
  const entry = { status: fields.status, message, html, htmlVersion, services }
  const { id: entryId } = await insertEntry(tx, incident, entry, toldAt)
  const kind = fields.resolvedAt ? 'INCIDENT_BACKFILLED' : 'INCIDENT_CREATED'
  return [incident, { kind, ...subject(incident), entryId }]
}

const incidentEdit = z.object({
  id: z.string(),
  title: titleText.optional(),
  impact: z.enum(IncidentImpact).optional(),
  services: impacts.nullish(),
  startedAt: z.date().nullish(),
  resolvedAt: z.date().nullish(),
  version: readVersion,
})

/**
 * Changes what is given of an incident; `services` takes the place of what it did to services before. Needs a key with
 * scope WRITE.
 * @throws Invalid, NotFound, and Conflict when it was changed after the given version.
 */
export async function updateIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, services, startedAt, resolvedAt, ...fields } = validate(incidentEdit, input)
  requireDistinct((services ?? []).map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  return change(ctx, organizationId, async (tx) => {
    const before = await ownIncident(tx, organizationId, id)
    requireVersion(before, version)
    const times = timesAfter(before, { startedAt, resolvedAt }, tx.now())
    const isOther = services ? !sameSet(services, await impactsOf(tx, id), impactKey) : false
    if (!isOther && !alters(before, { ...fields, ...times })) return [before]
    if (services && isOther) {
      if (before.status === 'RESOLVED') requireRecovered(services)
      await requireServices(tx, organizationId, services.map(serviceIdOf))
      await tx.db.incidentService.deleteMany({ where: { incidentId: id } })
      await tx.db.incidentService.createMany({ data: services.map((each) => ({ incidentId: id, ...each })) })
    }
    const incident = await tx.db.incident.update({
      where: { id },
      data: { ...fields, ...times, ...byPerson, version: { increment: 1 } },
    })
    return [incident, { kind: 'INCIDENT_UPDATED', ...subject(incident) }]
  })
}

const servicesEdit = z.object({
  incidentId: z.string(),
  services: impacts.nullish(),
  removedServiceIds: z.array(z.string()).max(MOST_SERVICES, `must be at most ${MOST_SERVICES}`).nullish(),
  version: readVersion,
})

/**
 * Changes what an incident does to the services that are named, and takes those off that are to be removed; the others stay
 * as they were. Needs a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when it was changed after the given version.
 */
export async function updateIncidentServices(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, version, ...given } = validate(servicesEdit, input)
  const services = given.services ?? []
  const removed = given.removedServiceIds ?? []
  const named = services.map(serviceIdOf)
  requireDistinct([...named, ...removed], (index) =>
    index < named.length ? ['services', index, 'serviceId'] : ['removedServiceIds', index - named.length],
  )
  return change(ctx, organizationId, async (tx) => {
    const before = await ownIncident(tx, organizationId, incidentId)
    requireVersion(before, version)
    if (before.status === 'RESOLVED') requireRecovered(services)
    await requireServices(tx, organizationId, [...named, ...removed])
    const known = new Set((await impactsOf(tx, incidentId)).map(impactKey))
    const isSame = services.every((each) => known.has(impactKey(each))) && !hasAny(known, removed)
    if (isSame) return [before]
    await setImpacts(tx, incidentId, services)
    await tx.db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: removed } } })
    const data = { ...byPerson, version: { increment: 1 } }
    const incident = await tx.db.incident.update({ where: { id: incidentId }, data })
    return [incident, { kind: 'INCIDENT_UPDATED', ...subject(incident) }]
  })
}

const newEntry = z.object({
  incidentId: z.string(),
  status: z.enum(IncidentStatus),
  message,
  services: impacts.nullish(),
  createdAt: z.date().nullish(),
  version: readVersion,
})

/**
 * Adds an entry to an incident's timeline: any status may follow any, RESOLVED closes the incident and all its services
 * have recovered, any other status reopens it. Services that are not named stay as they were. One that is given a time
 * before another entry's takes its place in the timeline, changes what no newer one says, and is told to nobody. Needs a key
 * with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when the incident was changed after the given version, or its timeline is full.
 */
export async function postIncidentUpdate(ctx: Context, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, status, message, version, createdAt, ...rest } = validate(newEntry, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  if (status === 'RESOLVED') requireRecovered(services)
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const before = await ownIncident(tx, organizationId, incidentId)
    requireVersion(before, version)
    if (status !== 'RESOLVED' || before.status === 'RESOLVED') requireRoom(await entriesOf(tx, incidentId))
    await requireServices(tx, organizationId, services.map(serviceIdOf))
    const entry = { status, message, ...html, services }
    requirePast('createdAt', createdAt, tx.now())
    if (createdAt && (await hasNewer(tx, incidentId, createdAt))) return backfill(tx, before, entry, createdAt)
    if (status === 'RESOLVED' && createdAt) requireOrder('createdAt', before.startedAt, createdAt)
    await tx.db.incident.update({ where: { id: incidentId }, data: byPerson })
    return addEntry(tx, before, entry, createdAt ?? undefined)
  })
}

async function hasNewer({ db }: Context, incidentId: string, than: Date): Promise<boolean> {
  return (await db.incidentUpdate.count({ where: { incidentId, createdAt: { gt: than } } })) > 0
}

/** Adds an entry to a timeline before others. */
async function backfill(
  tx: Context,
  before: Incident,
  entry: ToldEntry,
  wanted: Date,
): Promise<Changed<IncidentUpdate>> {
  const others = await pastOf(tx, before.id)
  const createdAt = freeTime(
    wanted,
    others.map((each) => each.createdAt),
  )
  const { result, incident } = await correct(tx, before, 'createdAt', () => insertEntry(tx, before, entry, createdAt))
  return [result, { kind: 'INCIDENT_UPDATE_BACKFILLED', ...subject(incident), entryId: result.id }]
}

/** An entry of a timeline, and what it says of services: those that are not named stay as they were. */
export interface ToldEntry extends StoredHtml {
  readonly status: IncidentStatus
  readonly message: string
  readonly services: Impacts
}

/** Whether an incident's timeline has room for an entry that does not resolve it. */
export async function hasRoom(tx: Context, incidentId: string): Promise<boolean> {
  return (await entriesOf(tx, incidentId)) < MOST_ENTRIES
}

function entriesOf({ db }: Context, incidentId: string): Promise<number> {
  return db.incidentUpdate.count({ where: { incidentId } })
}

/** Adds an entry to an incident's timeline, in the transaction of a change; its services are known to be the organization's. */
export async function addEntry(
  tx: Context,
  before: Incident,
  entry: ToldEntry,
  at = tx.now(),
): Promise<Changed<IncidentUpdate>> {
  const { status, services } = entry
  const incidentId = before.id
  await setImpacts(tx, incidentId, services)
  if (status === 'RESOLVED') {
    await tx.db.incidentService.updateMany({ where: { incidentId }, data: { status: 'OPERATIONAL' } })
  }
  const incident = await tx.db.incident.update({
    where: { id: incidentId },
    data: {
      status,
      resolvedAt: status === 'RESOLVED' ? (before.resolvedAt ?? at) : null,
      version: { increment: 1 },
    },
  })
  const newest = await tx.db.incidentUpdate.findFirst({ where: { incidentId }, orderBy: { createdAt: 'desc' } })
  const update = await insertEntry(tx, incident, entry, entryTime(at, newest?.createdAt))
  return [update, { kind: 'INCIDENT_UPDATE_POSTED', ...subject(incident), entryId: update.id }]
}

const entryEdit = z.object({
  id: z.string(),
  message: message.nullish(),
  createdAt: z.date().nullish(),
  version: readVersion,
})

/**
 * Corrects what an entry of a timeline says, or when it was written: the order of the timeline follows, and the incident what
 * is then its newest entry. Needs a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when the entry was edited after the given version.
 */
export async function editIncidentUpdate(ctx: Context, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message, createdAt, version } = validate(entryEdit, input)
  const said = message ? { message, ...(await renderMessage(ctx, organizationId, message)) } : {}
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await ownEntry(tx, organizationId, id)
    requireVersion(before, version)
    requirePast('createdAt', createdAt, tx.now())
    if (!alters(before, { message: message ?? undefined, createdAt: createdAt ?? undefined })) return [before]
    const others = createdAt ? (await pastOf(tx, incident.id)).filter((each) => each.id !== id) : []
    const moved = createdAt
      ? {
          createdAt: freeTime(
            createdAt,
            others.map((each) => each.createdAt),
          ),
        }
      : {}
    const data = { ...said, ...moved, editedAt: tx.now(), version: { increment: 1 } }
    const edit = () => tx.db.incidentUpdate.update({ where: { id }, data })
    const event = { kind: 'INCIDENT_UPDATE_EDITED', ...subject(incident), entryId: id } as const
    if (createdAt) return [(await correct(tx, incident, 'createdAt', edit)).result, event]
    await tx.db.incident.update({ where: { id: incident.id }, data: byPerson })
    return [await edit(), event]
  })
}

/**
 * Deletes an entry of a timeline, as if it had never been written; the incident follows what is then its newest entry. Gives
 * what it was. Needs a key with scope WRITE.
 * @throws NotFound. @throws Conflict when it is the only one: without it there is no incident.
 */
export async function deleteIncidentUpdate(ctx: Context, id: string): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...update } = await ownEntry(tx, organizationId, id)
    requireAnother(await entriesOf(tx, incident.id), 'incident')
    await correct(tx, incident, 'id', () => tx.db.incidentUpdate.delete({ where: { id } }))
    return [update, { kind: 'INCIDENT_UPDATE_DELETED', ...subject(incident), entryId: id }]
  })
}

function ownEntry({ db }: Context, organizationId: string, id: string) {
  return own('IncidentUpdate', id, (known) =>
    db.incidentUpdate.findUnique({ where: { id: known, organizationId }, include: { incident: true } }),
  )
}

/** The times of an incident with those that are given. @throws Invalid as `requireTimes` does. */
function timesAfter(
  { status, ...before }: Incident,
  given: { readonly startedAt?: Date | null | undefined; readonly resolvedAt?: Date | null | undefined },
  now: Date,
): Pick<Incident, 'startedAt' | 'resolvedAt'> {
  const startedAt = given.startedAt ?? before.startedAt
  const resolvedAt = given.resolvedAt ?? before.resolvedAt
  if (given.startedAt || given.resolvedAt) requireTimes({ status, startedAt, resolvedAt }, now)
  return { startedAt, resolvedAt }
}

/** @throws Invalid when an incident that is open has an end, when it ends before its start, or when either is to come. */
function requireTimes(
  { status, startedAt, resolvedAt }: Pick<Incident, 'status' | 'startedAt' | 'resolvedAt'>,
  now: Date,
): void {
  requirePast('startedAt', startedAt, now)
  requirePast('resolvedAt', resolvedAt, now)
  if (resolvedAt && status !== 'RESOLVED') {
    throw invalid([{ path: ['resolvedAt'], message: 'must not be given of an incident that is not resolved' }])
  }
  requireOrder('resolvedAt', startedAt, resolvedAt)
}

/**
 * Deletes an incident with its timeline. Gives what it was. Needs a key with scope WRITE.
 * @throws NotFound when the organization has no such incident.
 */
export async function deleteIncident(ctx: Context, id: string): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const incident = await ownIncident(tx, organizationId, id)
    await tx.db.incident.delete({ where: { id } })
    return [incident, { kind: 'INCIDENT_DELETED', ...subject(incident) }]
  })
}

function ownIncident({ db }: Context, organizationId: string, id: string): Promise<Incident> {
  return own('Incident', id, (known) => db.incident.findUnique({ where: { id: known, organizationId } }))
}

function impactsOf({ db }: Context, incidentId: string) {
  return db.incidentService.findMany({ where: { incidentId }, select: { serviceId: true, status: true } })
}

/** Sets what an incident does to the named services; the others stay as they are. */
async function setImpacts({ db }: Context, incidentId: string, services: Impacts): Promise<void> {
  const named = services.map(serviceIdOf)
  await db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: named } } })
  await db.incidentService.createMany({ data: services.map((each) => ({ incidentId, ...each })) })
}

function insertEntry(
  { db }: Context,
  { id: incidentId, organizationId }: Incident,
  { services, ...said }: ToldEntry,
  createdAt: Date,
): Promise<IncidentUpdate> {
  const data = { id: newId('IncidentUpdate'), organizationId, incidentId, createdAt, ...said }
  return db.incidentUpdate.create({ data: { ...data, services: { create: [...services] } } })
}

/** @throws Invalid when a service is said to be impaired by an incident that is resolved. */
function requireRecovered(services: Impacts): void {
  const issues = services.flatMap(({ status }, index) =>
    status === 'OPERATIONAL'
      ? []
      : [{ path: ['services', String(index), 'status'], message: 'must be OPERATIONAL when the incident is resolved' }],
  )
  if (issues.length > 0) throw invalid(issues)
}

/** What a person has written on is resolved by no monitor any more. */
const byPerson = { automatic: false } as const
const impactKey = ({ serviceId, status }: { readonly serviceId: string; readonly status: string }) =>
  `${serviceId} ${status}`
const hasAny = (impacts: ReadonlySet<string>, serviceIds: readonly string[]) =>
  [...impacts].some((key) => serviceIds.some((id) => key.startsWith(`${id} `)))
const serviceIdOf = ({ serviceId }: Impacts[number]) => serviceId
const recovered = ({ serviceId }: Impacts[number]) => ({ serviceId, status: 'OPERATIONAL' }) as const
const subject = ({ id, title }: Incident) => ({ subjectId: id, subjectName: title })
