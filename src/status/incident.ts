import { z } from 'zod'
import { requireScope } from '../core/access.ts'
import type { Context, SqlContext } from '../core/context.ts'
import { Conflict } from '../core/errors.ts'
import { newId, typeOfId } from '../core/id.ts'
import type { StoredHtml } from '../core/markdown-rendering.ts'
import { renderMessage } from '../core/markdown-rendering.ts'
import { hasChanges, requireVersion, sameSet, versionInput } from '../core/optimistic-lock.ts'
import { invalid, validate } from '../core/validation.ts'
import type { ChangeResult } from '../event-log/change.ts'
import { change, changeBySql } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Incident, IncidentUpdate } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { EventKind, IncidentVisibility } from '../generated/prisma/enums.ts'
import { IncidentImpact, IncidentStatus } from '../generated/prisma/enums.ts'
import {
  correctTimeline,
  firstFreeTime,
  readTimeline,
  requireNotInFuture,
  requireStartBeforeEnd,
} from './incident-corrections.ts'
import { findOwned, MAX_SERVICES, notFound, requireDistinct, requireServices } from './ownership.ts'
import { formerServices } from './page-scope.ts'
import {
  MAX_UPDATES,
  message,
  requireOtherUpdates,
  requireRoomForUpdate,
  tellSubscribers,
  titleText,
} from './timeline-limits.ts'
import type { MessageChanges, TitleChanges } from './translations.ts'
import { changedMessages, messageChanges, titleChanges, translations, withChanges } from './translations.ts'

/**
 * The services an incident affects. OPERATIONAL: recovered. UNDER_MAINTENANCE is not allowed, because maintenance is
 * planned.
 */
const serviceStatuses = z
  .array(
    z.object({
      serviceId: z.string(),
      status: z.enum(['OPERATIONAL', 'DEGRADED_PERFORMANCE', 'PARTIAL_OUTAGE', 'MAJOR_OUTAGE']),
    }),
  )
  .max(MAX_SERVICES, `must be at most ${MAX_SERVICES}`)

type ServiceStatuses = readonly Readonly<z.infer<typeof serviceStatuses>[number]>[]

const newIncident = z.object({
  title: titleText,
  status: z.enum(IncidentStatus),
  impact: z.enum(IncidentImpact),
  message,
  services: serviceStatuses.nullish(),
  startedAt: z.date().nullish(),
  resolvedAt: z.date().nullish(),
  tellSubscribers,
  visibility: z.enum(['PUBLIC', 'DRAFT']).nullish(),
  translations: translations.both,
})

/**
 * Creates an incident, with the message as its first update. If it is created as resolved, its services are operational
 * and only its update keeps their statuses; with a resolution time it is a record of the past, and nobody is notified. A draft is
 * seen by its organization only until it is published.
 * Requires a key with scope WRITE.
 * @throws Invalid, also for times in the future. @throws NotFound for an unknown service.
 */
export async function createIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { title, status, impact, message, tellSubscribers, ...rest } = validate(newIncident, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  const html = await renderMessage(ctx, organizationId, message)
  const others = await otherLanguages(ctx, organizationId, rest.translations)
  return changeBySql(ctx, organizationId, async (tx) => {
    const resolvedAt = rest.resolvedAt ?? null
    const startedAt = rest.startedAt ?? resolvedAt ?? tx.now()
    requireTimes({ status, startedAt, resolvedAt }, tx.now())
    const visibility = rest.visibility ?? 'PUBLIC'
    const text = { title, status, impact, message, ...html, ...others }
    const fields = { ...text, services, startedAt, tellSubscribers, automatic: false, visibility }
    return openIncident(tx, organizationId, resolvedAt === null ? fields : { ...fields, resolvedAt })
  })
}

/** An incident to create. */
export interface NewIncident extends NewIncidentUpdate {
  readonly title: string
  readonly impact: IncidentImpact
  readonly startedAt: Date
  /** When a past incident was resolved; absent: now, if the status is RESOLVED. */
  readonly resolvedAt?: Date
  /** Whether monitors may resolve it. */
  readonly automatic: boolean
  /** Absent: everybody sees it. */
  readonly visibility?: IncidentVisibility
}

/**
 * Creates an incident inside a change, with one statement.
 * @throws NotFound when a service is not the organization's.
 */
export async function openIncident(
  tx: SqlContext,
  organizationId: string,
  { message, html, services, status, tellSubscribers = true, ...fields }: NewIncident,
): Promise<ChangeResult<Incident>> {
  const { translations, htmlVersion = fields.htmlVersion } = changedMessages({}, fields.messages ?? {})
  const now = tx.now()
  const toldAt = fields.resolvedAt ?? now
  const isResolved = status === 'RESOLVED'
  const updateId = newId('IncidentUpdate')
  const [incident] = await tx.db.$queryRaw<Incident[]>`
    WITH own AS (${ownServices(organizationId, services)}), incident AS (
      INSERT INTO "Incident"
        (id, "organizationId", title, titles, status, impact, "startedAt", "resolvedAt", automatic, visibility, "createdAt")
      SELECT ${newId('Incident')}, ${organizationId}, ${fields.title},
        ${JSON.stringify(withChanges({}, fields.titles ?? {}))}::jsonb, ${status}::"IncidentStatus",
        ${fields.impact}::"IncidentImpact", ${fields.startedAt}::timestamptz,
        ${isResolved ? toldAt : null}::timestamptz, ${fields.automatic}::bool,
        ${fields.visibility ?? 'PUBLIC'}::"IncidentVisibility", ${now}::timestamptz
      WHERE (SELECT count(*) FROM own) = ${services.length}
      RETURNING *
    ), affected AS (
      INSERT INTO "IncidentService" ("incidentId", "serviceId", status)
      SELECT incident.id, own.id, CASE WHEN ${isResolved}::bool THEN 'OPERATIONAL' ELSE own.status END FROM incident, own
    ), first AS (
      INSERT INTO "IncidentUpdate"
        (id, "organizationId", "incidentId", status, message, html, "htmlVersion", translations, "createdAt")
      SELECT ${updateId}, ${organizationId}, id, status, ${message}, ${html}, ${htmlVersion}::int,
        ${JSON.stringify(translations)}::jsonb, ${toldAt}::timestamptz
      FROM incident
    ), set AS (
      INSERT INTO "IncidentUpdateService" ("updateId", "serviceId", status)
      SELECT ${updateId}, own.id, own.status FROM incident, own
    )
    SELECT * FROM incident`
  if (!incident) throw notFound('Service')
  const kind = fields.resolvedAt ? 'INCIDENT_BACKFILLED' : 'INCIDENT_CREATED'
  return [incident, incidentEvent(kind, incident, { updateId, tellSubscribers })]
}

/** Selects the given services that are the organization's, with their statuses. */
function ownServices(organizationId: string, services: ServiceStatuses): Prisma.Sql {
  const isValid = services.every(({ serviceId }) => typeOfId(serviceId) === 'Service')
  const given = isValid ? services : []
  return Prisma.sql`
    SELECT given.id, given.status::"ServiceStatus"
    FROM unnest(${given.map(serviceIdOf)}::text[], ${given.map(({ status }) => status)}::text[]) AS given (id, status)
    JOIN "Service" AS service ON service.id = given.id AND service."organizationId" = ${organizationId}`
}

const incidentEdit = z.object({
  id: z.string(),
  title: titleText.optional(),
  impact: z.enum(IncidentImpact).optional(),
  services: serviceStatuses.nullish(),
  startedAt: z.date().nullish(),
  resolvedAt: z.date().nullish(),
  translations: translations.titles,
  version: versionInput,
})

/**
 * Updates the given fields of an incident; `services` replaces all its affected services. Requires a key with scope
 * WRITE.
 * @throws Invalid, NotFound, and Conflict when it was changed after the given version.
 */
export async function updateIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, services, startedAt, resolvedAt, translations, ...given } = validate(incidentEdit, input)
  requireDistinct((services ?? []).map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  return change(ctx, organizationId, async (tx) => {
    const before = await findIncident(tx, organizationId, id)
    requireOwnTimeline(before)
    requireVersion(before, version)
    const times = timesAfter(before, { startedAt, resolvedAt }, tx.now())
    const former = services ? await replaceServices(tx, before, services) : null
    const fields = { ...given, titles: withChanges<string>(before.titles, titleChanges(translations)) }
    if (former === null && !hasChanges(before, { ...fields, ...times })) return [before]
    const incident = await tx.db.incident.update({
      where: { id },
      data: { ...fields, ...times, ...manual, version: { increment: 1 } },
    })
    const serviceIds = formerServices(former)
    return [incident, incidentEvent('INCIDENT_UPDATED', incident, { serviceIds })]
  })
}

/** Replaces the affected services of an incident. Returns those that it had before; null: they are the same. */
async function replaceServices(tx: Context, { id, organizationId, status }: Incident, services: ServiceStatuses) {
  const former = await readServiceStatuses(tx, id)
  if (sameSet(services, former, statusKey)) return null
  if (status === 'RESOLVED') requireRecovered(services)
  await requireServices(tx, organizationId, services.map(serviceIdOf))
  await tx.db.incidentService.deleteMany({ where: { incidentId: id } })
  const data = services.map((each) => ({ incidentId: id, ...each }))
  if (data.length > 0) await tx.db.incidentService.createMany({ data })
  return former
}

const servicesEdit = z.object({
  incidentId: z.string(),
  services: serviceStatuses.nullish(),
  removedServiceIds: z.array(z.string()).max(MAX_SERVICES, `must be at most ${MAX_SERVICES}`).nullish(),
  version: versionInput,
})

/**
 * Sets the statuses of the given services of an incident and removes others; services that are not named stay. Requires
 * a key with scope WRITE.
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
    const before = await findIncident(tx, organizationId, incidentId)
    requireOwnTimeline(before)
    requireVersion(before, version)
    if (before.status === 'RESOLVED') requireRecovered(services)
    await requireServices(tx, organizationId, [...named, ...removed])
    const former = await readServiceStatuses(tx, incidentId)
    const known = new Set(former.map(statusKey))
    const isSame = services.every((each) => known.has(statusKey(each))) && !hasAny(known, removed)
    if (isSame) return [before]
    await setServiceStatuses(tx, incidentId, services)
    if (removed.length > 0)
      await tx.db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: removed } } })
    const data = { ...manual, version: { increment: 1 } }
    const incident = await tx.db.incident.update({ where: { id: incidentId }, data })
    const serviceIds = formerServices(former)
    return [incident, incidentEvent('INCIDENT_UPDATED', incident, { serviceIds })]
  })
}

const newUpdate = z.object({
  incidentId: z.string(),
  status: z.enum(IncidentStatus),
  message,
  services: serviceStatuses.nullish(),
  createdAt: z.date().nullish(),
  tellSubscribers,
  translations: translations.both,
  version: versionInput,
})

/**
 * Posts an update to an incident. Any status may follow any other: RESOLVED closes the incident and its services
 * recover, any other status reopens it. Services that are not named keep their status. An update whose time lies before
 * another's is inserted there, changes only what no newer update sets, and notifies nobody. Requires a key with scope
 * WRITE.
 * @throws Invalid, NotFound, and Conflict when the incident was changed after the given version, or its timeline is
 * full.
 */
export async function postIncidentUpdate(ctx: Context, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, status, message, version, createdAt, tellSubscribers, ...rest } = validate(newUpdate, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  if (status === 'RESOLVED') requireRecovered(services)
  const html = await renderMessage(ctx, organizationId, message)
  const others = await otherLanguages(ctx, organizationId, rest.translations)
  const entry = { status, message, ...html, ...others, services, tellSubscribers }
  const read = async (tx: SqlContext) => {
    const before = await readForUpdate(tx, organizationId, incidentId)
    requireVersion(before.incident, version)
    if (status !== 'RESOLVED' || before.incident.status === 'RESOLVED') requireRoomForUpdate(before.updates)
    return before
  }
  const append = ({ incident }: Pick<TimelineEnd, 'incident'>) => ({ ...incident, automatic: false })
  if (!createdAt) {
    return changeBySql(ctx, organizationId, async (tx) => addUpdate(tx, append(await read(tx)), entry))
  }
  return change(ctx, organizationId, async (tx) => {
    const before = await read(tx)
    requireNotInFuture('createdAt', createdAt, tx.now())
    if (before.newest !== null && before.newest > createdAt) {
      await requireServices(tx, organizationId, services.map(serviceIdOf))
      return backfill(tx, before.incident, entry, createdAt)
    }
    if (status === 'RESOLVED') requireStartBeforeEnd('createdAt', before.incident.startedAt, createdAt)
    return addUpdate(tx, append(before), entry, createdAt)
  })
}

/** Reads texts in other languages for an update, and for the title of its incident. */
async function otherLanguages(
  ctx: Context,
  organizationId: string,
  given: z.infer<typeof translations.both>,
): Promise<Required<Pick<NewIncidentUpdate, 'titles' | 'messages'>>> {
  return { titles: titleChanges(given), messages: await messageChanges(ctx, organizationId, given) }
}

/** An incident and what its timeline has. */
interface TimelineEnd {
  readonly incident: Incident
  /** The number of its updates, and the time of the newest. */
  readonly updates: number
  readonly newest: Date | null
}

/** @throws NotFound when the organization has no such incident. */
async function readForUpdate({ db }: SqlContext, organizationId: string, incidentId: string): Promise<TimelineEnd> {
  const { updates, newest, ...incident } = await findOwned('Incident', incidentId, async (known) => {
    const [found] = await db.$queryRaw<(Incident & Omit<TimelineEnd, 'incident'>)[]>`
      SELECT incident.*, timeline.* FROM "Incident" AS incident, LATERAL (
        SELECT count(*)::int AS updates, max("createdAt") AS newest FROM "IncidentUpdate" WHERE "incidentId" = incident.id
      ) AS timeline
      WHERE id = ${known} AND "organizationId" = ${organizationId}`
    return found ?? null
  })
  requireOwnTimeline(incident)
  return { incident, updates, newest }
}

/** @throws Conflict when an incident became part of another one. */
export function requireOwnTimeline({ visibility }: Pick<Incident, 'visibility'>): void {
  if (visibility === 'MERGED') throw new Conflict('This incident was merged. Change the one that it became part of.')
}

/** Inserts an update before existing ones. */
async function backfill(
  tx: Context,
  before: Incident,
  entry: NewIncidentUpdate,
  wanted: Date,
): Promise<ChangeResult<IncidentUpdate>> {
  const others = await readTimeline(tx, before.id)
  const createdAt = firstFreeTime(
    wanted,
    others.map((each) => each.createdAt),
  )
  if (Object.keys(entry.titles ?? {}).length > 0) {
    const titles = withChanges(before.titles, entry.titles ?? {})
    await tx.db.incident.update({ where: { id: before.id }, data: { titles } })
  }
  const { result, incident } = await correctTimeline(tx, before, 'createdAt', () =>
    insertUpdate(tx, before, entry, createdAt),
  )
  return [result, incidentEvent('INCIDENT_UPDATE_BACKFILLED', incident, { updateId: result.id })]
}

/** An update to post. Services that are not named keep their status. */
export interface NewIncidentUpdate extends StoredHtml {
  readonly status: IncidentStatus
  readonly message: string
  readonly services: ServiceStatuses
  /** The message in other languages, and titles of the incident to change. */
  readonly messages?: MessageChanges
  readonly titles?: TitleChanges
  /** Whether subscribers are notified; absent: yes. */
  readonly tellSubscribers?: boolean
}

/** Returns whether the timeline has room for an update that does not resolve the incident. */
export async function hasRoomForUpdate(tx: Context, incidentId: string): Promise<boolean> {
  return (await countUpdates(tx, incidentId)) < MAX_UPDATES
}

function countUpdates({ db }: Context, incidentId: string): Promise<number> {
  return db.incidentUpdate.count({ where: { incidentId } })
}

/**
 * Appends an update inside a change, with one statement. Its time is `at`, or just after the newest update if that is
 * not older, for example because another machine's clock is ahead.
 * @param before the incident; monitors may resolve it if `automatic`.
 * @throws NotFound when a service is not the organization's.
 */
export async function addUpdate(
  tx: SqlContext,
  before: Pick<Incident, 'id' | 'organizationId' | 'title' | 'resolvedAt' | 'automatic' | 'visibility'>,
  { status, message, html, services, tellSubscribers = true, ...entry }: NewIncidentUpdate,
  at = tx.now(),
): Promise<ChangeResult<IncidentUpdate>> {
  const { translations, htmlVersion = entry.htmlVersion } = changedMessages({}, entry.messages ?? {})
  const { id: incidentId, organizationId } = before
  const isResolved = status === 'RESOLVED'
  const updateId = newId('IncidentUpdate')
  const [update] = await tx.db.$queryRaw<IncidentUpdate[]>`
    WITH own AS (${ownServices(organizationId, services)}), incident AS (
      UPDATE "Incident" SET status = ${status}::"IncidentStatus", automatic = ${before.automatic}::bool,
        "resolvedAt" = ${isResolved ? (before.resolvedAt ?? at) : null}::timestamptz,
        titles = jsonb_strip_nulls(titles || ${JSON.stringify(entry.titles ?? {})}::jsonb), version = version + 1
      WHERE id = ${incidentId} AND (SELECT count(*) FROM own) = ${services.length}
      RETURNING id
    ), affected AS (
      INSERT INTO "IncidentService" ("incidentId", "serviceId", status)
      SELECT incident.id, own.id, own.status FROM incident, own
      ON CONFLICT ("incidentId", "serviceId") DO UPDATE SET status = EXCLUDED.status
    ), recovered AS (
      UPDATE "IncidentService" SET status = 'OPERATIONAL' FROM incident
      WHERE ${isResolved}::bool AND "incidentId" = incident.id AND "serviceId" NOT IN (SELECT id FROM own)
    ), posted AS (
      INSERT INTO "IncidentUpdate"
        (id, "organizationId", "incidentId", status, message, html, "htmlVersion", translations, "createdAt")
      SELECT ${updateId}, ${organizationId}, id, ${status}::"IncidentStatus", ${message}, ${html}, ${htmlVersion}::int,
        ${JSON.stringify(translations)}::jsonb, greatest(${at}::timestamptz, (
          SELECT max("createdAt") + interval '1 ms' FROM "IncidentUpdate" WHERE "incidentId" = ${incidentId}
        ))
      FROM incident RETURNING *
    ), set AS (
      INSERT INTO "IncidentUpdateService" ("updateId", "serviceId", status)
      SELECT ${updateId}, own.id, own.status FROM incident, own
    )
    SELECT * FROM posted`
  if (!update) throw notFound('Service')
  return [update, incidentEvent('INCIDENT_UPDATE_POSTED', before, { updateId, tellSubscribers })]
}

const updateEdit = z.object({
  id: z.string(),
  message: message.nullish(),
  createdAt: z.date().nullish(),
  translations: translations.messages,
  version: versionInput,
})

/**
 * Edits the message or the time of an update. The timeline is reordered, and the incident follows its newest update.
 * Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict when the update was edited after the given version.
 */
export async function editIncidentUpdate(ctx: Context, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, message, createdAt, version, ...given } = validate(updateEdit, input)
  const own = message ? { message, ...(await renderMessage(ctx, organizationId, message)) } : {}
  const others = await messageChanges(ctx, organizationId, given.translations)
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findIncidentUpdate(tx, organizationId, id)
    requireVersion(before, version)
    requireNotInFuture('createdAt', createdAt, tx.now())
    const rendered = { ...own, ...changedMessages(before.translations, others) }
    const { translations } = rendered
    if (!hasChanges(before, { message: message ?? undefined, createdAt: createdAt ?? undefined, translations }))
      return [before]
    const neighbours = createdAt ? (await readTimeline(tx, incident.id)).filter((each) => each.id !== id) : []
    const moved = createdAt
      ? {
          createdAt: firstFreeTime(
            createdAt,
            neighbours.map((each) => each.createdAt),
          ),
        }
      : {}
    const data = { ...rendered, ...moved, editedAt: tx.now(), version: { increment: 1 } }
    const edit = () => tx.db.incidentUpdate.update({ where: { id }, data })
    const event = incidentEvent('INCIDENT_UPDATE_EDITED', incident, { updateId: id })
    if (createdAt) return [(await correctTimeline(tx, incident, 'createdAt', edit)).result, event]
    await tx.db.incident.update({ where: { id: incident.id }, data: manual })
    return [await edit(), event]
  })
}

/**
 * Deletes an update and returns it. The incident follows the newest remaining update. Requires a key with scope WRITE.
 * @throws NotFound. @throws Conflict when it is the only update.
 */
export async function deleteIncidentUpdate(ctx: Context, id: string): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...update } = await findIncidentUpdate(tx, organizationId, id)
    requireOtherUpdates(await countUpdates(tx, incident.id), 'incident')
    const serviceIds = formerServices(await readServiceStatuses(tx, incident.id))
    await correctTimeline(tx, incident, 'id', () => tx.db.incidentUpdate.delete({ where: { id } }))
    return [update, incidentEvent('INCIDENT_UPDATE_DELETED', incident, { updateId: id, serviceIds })]
  })
}

/** Reads an update of an incident of the organization, with the incident. @throws NotFound. */
export function findIncidentUpdate({ db }: Context, organizationId: string, id: string) {
  return findOwned('IncidentUpdate', id, (known) =>
    db.incidentUpdate.findUnique({ where: { id: known, organizationId }, include: { incident: true } }),
  )
}

/** Returns an incident's times after an edit. @throws Invalid as `requireTimes` does. */
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

/** @throws Invalid when an open incident has an end, when it ends before its start, or when a time is in the future. */
function requireTimes(
  { status, startedAt, resolvedAt }: Pick<Incident, 'status' | 'startedAt' | 'resolvedAt'>,
  now: Date,
): void {
  requireNotInFuture('startedAt', startedAt, now)
  requireNotInFuture('resolvedAt', resolvedAt, now)
  if (resolvedAt && status !== 'RESOLVED') {
    throw invalid([{ path: ['resolvedAt'], message: 'must not be given for an incident that is not resolved' }])
  }
  requireStartBeforeEnd('resolvedAt', startedAt, resolvedAt)
}

/**
 * Deletes an incident with its timeline and returns it. Requires a key with scope WRITE.
 * @throws NotFound when the organization has no such incident.
 */
export async function deleteIncident(ctx: Context, id: string): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const incident = await findIncident(tx, organizationId, id)
    const serviceIds = formerServices(await readServiceStatuses(tx, id))
    await tx.db.incident.delete({ where: { id } })
    return [incident, incidentEvent('INCIDENT_DELETED', incident, { serviceIds })]
  })
}

const publication = z.object({ id: z.string(), tellSubscribers })

/**
 * Publishes a draft or a suggestion: from now on everybody sees it. Of one that is resolved nobody is notified. Does nothing to an
 * incident that is public. Requires a key with scope WRITE.
 * @throws NotFound when the organization has no such incident.
 */
export async function publishIncident(ctx: Context, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, tellSubscribers } = validate(publication, input)
  return change(ctx, organizationId, async (tx) => {
    const before = await findIncident(tx, organizationId, id)
    if (before.visibility === 'PUBLIC') return [before]
    requireOwnTimeline(before)
    const data = { visibility: 'PUBLIC', version: { increment: 1 } } as const
    const incident = await tx.db.incident.update({ where: { id }, data })
    const newest = await tx.db.incidentUpdate.findFirst({
      where: { incidentId: id },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      select: { id: true },
    })
    const kind = incident.status === 'RESOLVED' ? 'INCIDENT_BACKFILLED' : 'INCIDENT_CREATED'
    return [incident, incidentEvent(kind, incident, { tellSubscribers, ...(newest && { updateId: newest.id }) })]
  })
}

/**
 * Deletes a draft or a suggestion and returns it. Requires a key with scope WRITE.
 * @throws NotFound when the organization has no such incident. @throws Conflict when it is public.
 */
export async function dismissIncident(ctx: Context, id: string): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const incident = await findIncident(tx, organizationId, id)
    if (incident.visibility === 'PUBLIC') throw new Conflict('This incident is public. Resolve or delete it instead.')
    requireOwnTimeline(incident)
    await tx.db.incident.delete({ where: { id } })
    return [incident, incidentEvent('INCIDENT_DELETED', incident)]
  })
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

/** Reads an incident of the organization. @throws NotFound when it has no such one. */
export function findIncident({ db }: Context, organizationId: string, id: string): Promise<Incident> {
  return findOwned('Incident', id, (known) => db.incident.findUnique({ where: { id: known, organizationId } }))
}

function readServiceStatuses({ db }: Context, incidentId: string) {
  return db.incidentService.findMany({ where: { incidentId }, select: { serviceId: true, status: true } })
}

/** Sets the statuses of the given services; others stay. */
async function setServiceStatuses({ db }: Context, incidentId: string, services: ServiceStatuses): Promise<void> {
  if (services.length === 0) return
  const named = services.map(serviceIdOf)
  await db.incidentService.deleteMany({ where: { incidentId, serviceId: { in: named } } })
  await db.incidentService.createMany({ data: services.map((each) => ({ incidentId, ...each })) })
}

function insertUpdate(
  { db }: Context,
  { id: incidentId, organizationId }: Incident,
  { services, status, message, html, htmlVersion, messages = {} }: NewIncidentUpdate,
  createdAt: Date,
): Promise<IncidentUpdate> {
  const content = { status, message, html, htmlVersion, ...changedMessages({}, messages) }
  const data = { id: newId('IncidentUpdate'), organizationId, incidentId, createdAt, ...content }
  return db.incidentUpdate.create({ data: { ...data, services: { create: [...services] } } })
}

/** @throws Invalid when a resolved incident would leave a service impaired. */
function requireRecovered(services: ServiceStatuses): void {
  const issues = services.flatMap(({ status }, index) =>
    status === 'OPERATIONAL'
      ? []
      : [{ path: ['services', String(index), 'status'], message: 'must be OPERATIONAL when the incident is resolved' }],
  )
  if (issues.length > 0) throw invalid(issues)
}

/** Monitors no longer resolve an incident that a person has edited. */
const manual = { automatic: false } as const
const statusKey = ({ serviceId, status }: { readonly serviceId: string; readonly status: string }) =>
  `${serviceId} ${status}`
const hasAny = (serviceStatuses: ReadonlySet<string>, serviceIds: readonly string[]) =>
  [...serviceStatuses].some((key) => serviceIds.some((id) => key.startsWith(`${id} `)))
const serviceIdOf = ({ serviceId }: ServiceStatuses[number]) => serviceId
