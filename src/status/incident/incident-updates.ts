import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, named, timeOf } from '../../core/described.ts'
import { newId } from '../../core/id.ts'
import type { StoredHtml } from '../../core/markdown/markdown-rendering.ts'
import { renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { requireVersion, versionInput } from '../../core/optimistic-lock.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident, IncidentUpdate } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { IncidentStatus } from '../../generated/prisma/enums.ts'
import { findOwned, notFound, requireDistinct, requireServices } from '../ownership.ts'
import { formerServices } from '../page-scope.ts'
import { isStatement, recordStatements, stateByIncidents } from '../service/statement.ts'
import {
  MAX_UPDATES,
  message,
  notifySubscribers,
  requireOtherUpdates,
  requireRoomForUpdate,
} from '../timeline/timeline-limits.ts'
import type { MessageChanges, TitleChanges } from '../timeline/translations.ts'
import { changedMessages, messageChanges, titleChanges, translations, withChanges } from '../timeline/translations.ts'
import { prepareUpdateEdit } from '../timeline/update-edit.ts'
import { firstFreeTime, requireNotInFuture } from '../timeline/update-time.ts'
import type { PlacedFile } from './file-store.ts'
import { addFiles, checkFiles, fileIds } from './file-store.ts'
import { incidentEvent, manual, requireOwnTimeline } from './incident.ts'
import { correctTimeline, readTimeline, requireStartBeforeEnd } from './incident-corrections.ts'
import type { ServiceStatuses } from './incident-services.ts'
import {
  ownServices,
  readServiceStatuses,
  requireRecovered,
  serviceIdOf,
  serviceStatuses,
} from './incident-services.ts'

/** The input of `postIncidentUpdate`. */
export const updateInput = named(
  z.object({
    incidentId: idOf('The incident to update.'),
    status: described(z.enum(IncidentStatus), {
      description: 'The new status. RESOLVED closes the incident; any other status reopens it.',
    }),
    message,
    services: described(serviceStatuses.nullish(), {
      description: 'New service statuses. Other services stay as they are.',
    }),
    createdAt: timeOf(
      'When the update was posted, not in the future. Default: now. If later updates exist, no subscriber is notified.',
    ).nullish(),
    notifySubscribers,
    translations: translations.both,
    version: described(versionInput, {
      description:
        'The version of the incident that you read. If there is a newer one, the mutation returns a ConflictError.',
    }),
    fileIds,
  }),
  { name: 'PostIncidentUpdate', about: 'The update to add to an incident.' },
)

/**
 * Posts an update to an incident. Any status can follow any other: RESOLVED closes the incident and its services
 * recover; any other status reopens it. Services that are not named keep their status. An update with a time before an
 * existing update is inserted there, changes only what no newer update sets, and notifies no one. Requires a key with
 * scope WRITE.
 * @param uploaded files to add to the update.
 * @throws Invalid, NotFound, TierLimitReached, and Conflict if the incident is newer than the given version, or its
 * timeline is full.
 */
export async function postIncidentUpdate(
  ctx: ChangeContext,
  input: unknown,
  uploaded: readonly PlacedFile[] = [],
): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, status, message, version, createdAt, notifySubscribers, ...rest } = validate(updateInput, input)
  const services = rest.services ?? []
  const files = checkFiles(uploaded)
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  if (status === 'RESOLVED') requireRecovered(services)
  const html = await renderMessage(ctx, organizationId, message)
  const others = await otherLanguages(ctx, organizationId, rest.translations)
  const newUpdate = { status, message, ...html, ...others, services, notifySubscribers }
  const read = async (tx: Context) => {
    const before = await readForUpdate(tx, organizationId, incidentId)
    requireVersion(before.incident, version)
    if (status !== 'RESOLVED' || before.incident.status === 'RESOLVED') requireRoomForUpdate(before.updates)
    return before
  }
  const withFiles = async (tx: Context, result: ChangeResult<IncidentUpdate>) => {
    const [{ id: updateId }] = result
    await addFiles(tx, { organizationId, incidentId, updateId, noteId: null }, files, rest.fileIds ?? [])
    return result
  }
  if (!createdAt) {
    const post = (tx: Context) =>
      findOwned('Incident', incidentId, async (id) => {
        // Both are sent together. If `read` refuses, the insertion is rolled back.
        const [{ incident }, update] = await Promise.all([
          read(tx),
          insertNewest(tx, { id, organizationId, ...manual }, newUpdate),
        ])
        return withFiles(tx, postedUpdate(incident, update, newUpdate))
      })
    return change(ctx, organizationId, post, { isPipelined: true })
  }
  return change(ctx, organizationId, async (tx) => {
    const before = await read(tx)
    requireNotInFuture('createdAt', createdAt, tx.now())
    if (before.newest !== null && before.newest > createdAt) {
      await requireServices(tx, organizationId, services.map(serviceIdOf))
      return withFiles(tx, await backfill(tx, before.incident, newUpdate, createdAt))
    }
    if (status === 'RESOLVED') requireStartBeforeEnd('createdAt', before.incident.startedAt, createdAt)
    return withFiles(tx, await addUpdate(tx, { ...before.incident, ...manual }, newUpdate, createdAt))
  })
}

/** Validates the texts in other languages of an update, and of the title of its incident. */
export async function otherLanguages(
  ctx: Context,
  organizationId: string,
  given: z.infer<typeof translations.both>,
): Promise<Required<Pick<NewIncidentUpdate, 'titles' | 'messages'>>> {
  return { titles: titleChanges(given), messages: await messageChanges(ctx, organizationId, given) }
}

/** An incident with a summary of its timeline. */
interface TimelineEnd {
  readonly incident: Incident
  /** The number of updates, and the time of the newest. */
  readonly updates: number
  readonly newest: Date | null
}

/** @throws NotFound. */
async function readForUpdate({ db }: Context, organizationId: string, incidentId: string): Promise<TimelineEnd> {
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

/** Inserts an update before existing ones. */
async function backfill(
  tx: Context,
  before: Incident,
  newUpdate: NewIncidentUpdate,
  wanted: Date,
): Promise<ChangeResult<IncidentUpdate>> {
  const others = await readTimeline(tx, before.id)
  const createdAt = firstFreeTime(
    wanted,
    others.map((each) => each.createdAt),
  )
  if (Object.keys(newUpdate.titles ?? {}).length > 0) {
    const titles = withChanges(before.titles, newUpdate.titles ?? {})
    await tx.db.incident.update({ where: { id: before.id }, data: { titles } })
  }
  const { result, incident } = await correctTimeline(tx, before, 'createdAt', () =>
    insertUpdate(tx, before, newUpdate, createdAt),
  )
  return [result, incidentEvent('INCIDENT_UPDATE_BACKFILLED', incident, { updateId: result.id })]
}

/** An update to post. Services that are not named keep their status. */
export interface NewIncidentUpdate extends StoredHtml {
  readonly status: IncidentStatus
  readonly message: string
  readonly services: ServiceStatuses
  /** The message in other languages, and changes to the titles of the incident. */
  readonly messages?: MessageChanges
  readonly titles?: TitleChanges
  /** Whether subscribers are notified; true by default. */
  readonly notifySubscribers?: boolean
}

/** Returns whether the timeline has room for another update besides a final resolution. */
export async function hasRoomForUpdate(tx: Context, incidentId: string): Promise<boolean> {
  return (await countUpdates(tx, incidentId)) < MAX_UPDATES
}

/** Sets the impact of an incident, within the transaction of a change. */
export async function writeImpact({ db }: Context, incidentId: string, impact: Incident['impact']): Promise<void> {
  await db.incident.update({ where: { id: incidentId }, data: { impact } })
}

/** Counts the updates of an incident. */
export function countUpdates({ db }: Pick<Context, 'db'>, incidentId: string): Promise<number> {
  return db.incidentUpdate.count({ where: { incidentId } })
}

/**
 * Appends an update inside a change, with one statement. Its time is `at`, or just after the newest update if that is
 * not older, for example because another machine's clock is ahead.
 * @param before the incident; monitors can resolve it if `automatic`.
 * @throws NotFound for a service outside the organization.
 */
export async function addUpdate(
  tx: Context,
  before: Pick<Incident, 'id' | 'organizationId' | 'title' | 'automatic' | 'visibility'>,
  newUpdate: NewIncidentUpdate,
  at = tx.now(),
): Promise<ChangeResult<IncidentUpdate>> {
  return postedUpdate(before, await insertNewest(tx, before, newUpdate, at), newUpdate)
}

/**
 * Inserts the newest update of an incident, and states its services. Writes nothing and returns null if the
 * organization lacks the incident or a service.
 */
async function insertNewest(
  tx: Context,
  { id: incidentId, organizationId, automatic }: Pick<Incident, 'id' | 'organizationId' | 'automatic'>,
  { status, message, html, services, ...newUpdate }: NewIncidentUpdate,
  at = tx.now(),
): Promise<IncidentUpdate | null> {
  const { translations, htmlVersion = newUpdate.htmlVersion } = changedMessages({}, newUpdate.messages ?? {})
  const isResolved = status === 'RESOLVED'
  const updateId = newId('IncidentUpdate')
  const [update] = await tx.db.$queryRaw<IncidentUpdate[]>`
    WITH own AS (${ownServices(organizationId, services)}), incident AS (
      UPDATE "Incident" SET status = ${status}::"IncidentStatus", automatic = ${automatic}::bool,
        "resolvedAt" = CASE WHEN ${isResolved}::bool THEN COALESCE("resolvedAt", ${at}::timestamptz) END,
        titles = jsonb_strip_nulls(titles || ${JSON.stringify(newUpdate.titles ?? {})}::jsonb), version = version + 1
      WHERE id = ${incidentId} AND "organizationId" = ${organizationId} AND (SELECT count(*) FROM own) = ${services.length}
      RETURNING id, "startedAt", automatic, visibility
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
    ), stated AS (${recordStatements(Prisma.sql`
      SELECT named.id, incident."startedAt" AS at FROM incident, (
        SELECT id FROM own UNION SELECT "serviceId" FROM "IncidentService" WHERE "incidentId" = ${incidentId}
      ) AS named WHERE ${isStatement}`)}
    )
    SELECT * FROM posted`
  return update ?? null
}

/** Returns an inserted update with its event. @throws NotFound if there is none. */
function postedUpdate(
  incident: Pick<Incident, 'id' | 'title' | 'visibility'>,
  update: IncidentUpdate | null,
  { notifySubscribers = true }: Pick<NewIncidentUpdate, 'notifySubscribers'>,
): ChangeResult<IncidentUpdate> {
  if (update === null) throw notFound('Service')
  return [update, incidentEvent('INCIDENT_UPDATE_POSTED', incident, { updateId: update.id, notifySubscribers })]
}

/**
 * Edits the message or the time of an update. The timeline is reordered, and the incident follows its newest update.
 * Requires a key with scope WRITE.
 * @throws Invalid, NotFound, and Conflict if the update is newer than the given version.
 */
export async function editIncidentUpdate(ctx: ChangeContext, input: unknown): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, createdAt, dataOf } = await prepareUpdateEdit(ctx, organizationId, input)
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...before } = await findIncidentUpdate(tx, organizationId, id)
    const data = await dataOf(tx, before, () => readTimeline(tx, incident.id))
    if (data === null) return [before]
    const edit = () => tx.db.incidentUpdate.update({ where: { id }, data })
    const event = incidentEvent('INCIDENT_UPDATE_EDITED', incident, { updateId: id })
    if (createdAt) return [(await correctTimeline(tx, incident, 'createdAt', edit)).result, event]
    await tx.db.incident.update({ where: { id: incident.id }, data: manual })
    await stateByIncidents(tx, [incident.id])
    return [await edit(), event]
  })
}

/**
 * Deletes an update and returns it. The incident follows the newest remaining update. Requires a key with scope WRITE.
 * @throws NotFound.
 * @throws Conflict if it is the only update.
 */
export async function deleteIncidentUpdate(ctx: ChangeContext, id: string): Promise<IncidentUpdate> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { incident, ...update } = await findIncidentUpdate(tx, organizationId, id)
    requireOtherUpdates(await countUpdates(tx, incident.id), 'incident')
    const serviceIds = formerServices(await readServiceStatuses(tx, incident.id))
    await correctTimeline(tx, incident, 'id', () => tx.db.incidentUpdate.delete({ where: { id } }))
    return [update, incidentEvent('INCIDENT_UPDATE_DELETED', incident, { updateId: id, serviceIds })]
  })
}

/** Reads an update of an incident of the organization, together with the incident. @throws NotFound. */
export function findIncidentUpdate({ db }: Context, organizationId: string, id: string) {
  return findOwned('IncidentUpdate', id, (known) =>
    db.incidentUpdate.findUnique({ where: { id: known, organizationId }, include: { incident: true } }),
  )
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
