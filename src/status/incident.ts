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
import { readVersion, requireVersion } from '../version.ts'
import { MOST_SERVICES, own, requireDistinct, requireServices } from './guard.ts'
import { entryTime, MOST_ENTRIES, message, requireRoom } from './timeline.ts'

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
})

/**
 * Tells of an incident; the message becomes the first entry of its timeline. One told as resolved bears on nothing, and
 * its entry keeps what it did to services. Needs a key with scope WRITE.
 * @throws Invalid, also for a start in the future. @throws NotFound for a service the organization does not have.
 */
export async function createIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { title, status, impact, message, startedAt, ...rest } = validate(newIncident, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const now = tx.now()
    if (startedAt && startedAt > now) throw invalid([{ path: ['startedAt'], message: 'must not be in the future' }])
    await requireServices(tx, organizationId, services.map(serviceIdOf))
    const told = { title, status, impact, message, ...html, services, startedAt: startedAt ?? now, automatic: false }
    return openIncident(tx, organizationId, told)
  })
}

/** An incident as it is told of first. */
export interface ToldIncident extends ToldEntry {
  readonly title: string
  readonly impact: IncidentImpact
  readonly startedAt: Date
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
  const resolved = fields.status === 'RESOLVED'
  const incident = await tx.db.incident.create({
    data: {
      id: newId('Incident'),
      organizationId,
      ...fields,
      resolvedAt: resolved ? now : null,
      createdAt: now,
      services: { create: resolved ? services.map(recovered) : [...services] },
    },
  })
  await insertEntry(tx, incident, { status: fields.status, message, html, htmlVersion, services }, now)
  return [incident, { kind: 'INCIDENT_CREATED', ...subject(incident) }]
}

const incidentEdit = z.object({
  id: z.string(),
  title: titleText.optional(),
  impact: z.enum(IncidentImpact).optional(),
  services: impacts.nullish(),
  version: readVersion,
})

/**
 * Changes what is given of an incident; `services` takes the place of what it did to services before. Needs a key with
 * scope WRITE.
 * @throws Invalid, NotFound, and Conflict when it was changed after the given version.
 */
export async function updateIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, services, ...fields } = validate(incidentEdit, input)
  requireDistinct((services ?? []).map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  return change(ctx, organizationId, async (tx) => {
    const before = await ownIncident(tx, organizationId, id)
    requireVersion(before, version)
    if (services) {
      if (before.status === 'RESOLVED') requireRecovered(services)
      await requireServices(tx, organizationId, services.map(serviceIdOf))
      await tx.db.incidentService.deleteMany({ where: { incidentId: id } })
      await tx.db.incidentService.createMany({ data: services.map((each) => ({ incidentId: id, ...each })) })
    }
    const incident = await tx.db.incident.update({
      where: { id },
      data: { ...fields, ...byPerson, version: { increment: 1 } },
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
  version: readVersion,
})

/**
 * Adds an entry to an incident's timeline: any status may follow any, RESOLVED closes the incident and all its services
 * have recovered, any other status reopens it. Services that are not named stay as they were. Needs a key with scope
 * WRITE.
 * @throws Invalid, NotFound, and Conflict when the incident was changed after the given version, or its timeline is full.
 */
export async function postIncidentUpdate(ctx: Context, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, status, message, version, ...rest } = validate(newEntry, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  if (status === 'RESOLVED') requireRecovered(services)
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const before = await ownIncident(tx, organizationId, incidentId)
    requireVersion(before, version)
    if (status !== 'RESOLVED' || before.status === 'RESOLVED') requireRoom(await entriesOf(tx, incidentId))
    await requireServices(tx, organizationId, services.map(serviceIdOf))
    await tx.db.incident.update({ where: { id: incidentId }, data: byPerson })
    return addEntry(tx, before, { status, message, ...html, services })
  })
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
export async function addEntry(tx: Context, before: Incident, entry: ToldEntry): Promise<Changed<IncidentUpdate>> {
  const { status, services } = entry
  const incidentId = before.id
  await setImpacts(tx, incidentId, services)
  if (status === 'RESOLVED') {
    await tx.db.incidentService.updateMany({ where: { incidentId }, data: { status: 'OPERATIONAL' } })
  }
  const now = tx.now()
  const incident = await tx.db.incident.update({
    where: { id: incidentId },
    data: {
      status,
      resolvedAt: status === 'RESOLVED' ? (before.resolvedAt ?? now) : null,
      version: { increment: 1 },
    },
  })
  const newest = await tx.db.incidentUpdate.findFirst({ where: { incidentId }, orderBy: { createdAt: 'desc' } })
  const update = await insertEntry(tx, incident, entry, entryTime(now, newest?.createdAt))
  return [update, { kind: 'INCIDENT_UPDATE_POSTED', ...subject(incident) }]
}

const entryEdit = z.object({ id: z.string(), message, version: readVersion })

/**
 * Corrects what an entry of a timeline says. Needs a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when the entry was edited after the given version.
 */
export async function editIncidentUpdate(ctx: Context, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message, version } = validate(entryEdit, input)
  const html = await renderMessage(ctx, organizationId, message)
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await own('IncidentUpdate', id, (known) =>
      tx.db.incidentUpdate.findUnique({ where: { id: known, organizationId }, include: { incident: true } }),
    )
    requireVersion(before, version)
    const data = { message, ...html, editedAt: tx.now(), version: { increment: 1 } }
    const update = await tx.db.incidentUpdate.update({ where: { id }, data })
    await tx.db.incident.update({ where: { id: incident.id }, data: byPerson })
    return [update, { kind: 'INCIDENT_UPDATE_EDITED', ...subject(incident) }]
  })
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
const serviceIdOf = ({ serviceId }: Impacts[number]) => serviceId
const recovered = ({ serviceId }: Impacts[number]) => ({ serviceId, status: 'OPERATIONAL' }) as const
const subject = ({ id, title }: Incident) => ({ subjectId: id, subjectName: title })
