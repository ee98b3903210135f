import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Context } from '../../core/context.ts'
import { newId } from '../../core/id.ts'
import { insertRows } from '../../database/insert-rows.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { IncidentImpact, IncidentStatus } from '../../generated/prisma/enums.ts'
import type {
  ImportOutcome,
  ImportSource,
  KnownRecord,
  NewRecord,
  ReadRecord,
  RenderedTexts,
} from '../imported-record.ts'
import {
  digestOf,
  distinctTimes,
  htmlIn,
  importedTime,
  importRead,
  readRecord,
  removeParts,
  requireBounds,
  skipped,
  writeRows,
} from '../imported-record.ts'
import { findServiceIds, MAX_SERVICES } from '../ownership.ts'
import { incidentStatuses } from '../service/service-status.ts'
import { stateByIncidents } from '../service/statement.ts'
import { MAX_UPDATES, message, optionalMessage, titleText } from '../timeline/timeline-limits.ts'
import { deriveState } from './incident-corrections.ts'

/** How many incidents one import may have, and how many updates they may have together. */
export const MAX_IMPORTED_INCIDENTS = 100
const MAX_IMPORTED_UPDATES = 2000
/** How many service statuses these updates may have in total. */
const MAX_STATUSES = 20_000

const statuses = z
  .array(
    z.object({
      serviceId: z.string(),
      status: z.enum(incidentStatuses),
    }),
  )
  .max(MAX_SERVICES, `must have at most ${MAX_SERVICES} items`)

const incident = z.object({
  id: z.string().min(1).max(200),
  title: titleText,
  impact: z.enum(IncidentImpact),
  startedAt: importedTime,
  resolvedAt: importedTime.nullish(),
  updates: z
    .array(z.object({ at: importedTime, status: z.enum(IncidentStatus), message: optionalMessage, services: statuses }))
    .min(1, 'must have at least one update')
    .max(MAX_UPDATES, `must have at most ${MAX_UPDATES} items`),
  postmortem: z.object({ message, publishedAt: importedTime }).nullish(),
})

type Given = z.infer<typeof incident>

/** An incident that is ready to be stored. */
type Read = Given &
  ReadRecord & {
    readonly status: IncidentStatus
    readonly services: ReadonlyMap<string, string>
  }

/**
 * Imports a limited number of incidents of another tool with their timelines and post-mortems. They name their source,
 * send no notifications and append no public events; uptime counts them like incidents that people record. The
 * installation and id identify an incident that was imported before. Leaves out services outside the organization.
 * Requires the scope ADMIN.
 * @returns the outcome for each, in order.
 * @throws Invalid if there are too many.
 */
export async function importIncidents(
  ctx: ChangeContext,
  from: ImportSource,
  given: readonly unknown[],
): Promise<ImportOutcome[]> {
  const organizationId = requireScope(ctx, 'ADMIN')
  return importRead(ctx, organizationId, from, {
    kind: 'INCIDENT',
    read: await readIncidents(ctx, organizationId, given),
    textsOf: ({ updates, postmortem }) => [...updates, ...(postmortem ? [postmortem] : [])].map((each) => each.message),
    write: (tx, incidents, rendered) => writeIncidents(tx, organizationId, from, { incidents, rendered }),
  })
}

/** Validates each incident separately. */
async function readIncidents(
  ctx: Context,
  organizationId: string,
  given: readonly unknown[],
): Promise<(Read | ImportOutcome)[]> {
  const read: (Given | ImportOutcome)[] = []
  const seen = new Set<string>()
  let [updates, named] = [0, 0]
  for (const each of given) {
    await yieldAfterTimeSlice(organizationId)
    const valid = readRecord(incident, each)
    if (!('outcome' in valid)) {
      updates += valid.updates.length
      named += valid.updates.reduce((sum, { services }) => sum + services.length, 0)
    }
    read.push('outcome' in valid || seen.size < seen.add(valid.id).size ? valid : skipped('It is listed twice.'))
  }
  requireBounds([
    ['incidents', 'incidents', given.length, MAX_IMPORTED_INCIDENTS],
    ['incidents', 'updates', updates, MAX_IMPORTED_UPDATES],
    ['incidents', 'statuses of services', named, MAX_STATUSES],
  ])
  const all = read.flatMap((each) => ('outcome' in each ? [] : each.updates.flatMap(({ services }) => services)))
  const own = await findServiceIds(
    ctx,
    organizationId,
    all.map(({ serviceId }) => serviceId),
  )
  const result: (Read | ImportOutcome)[] = []
  for (const each of read) {
    await yieldAfterTimeSlice(organizationId)
    result.push('outcome' in each ? each : completeIncident(each, own, ctx.now()))
  }
  return result
}

/** Completes an incident: sorts its updates, resolves it at its end, and drops unknown services. */
function completeIncident(given: Given, own: ReadonlySet<string>, now: Date): Read | ImportOutcome {
  const sorted = given.updates.toSorted((one, other) => +one.at - +other.at)
  const times = distinctTimes(sorted.map(({ at }) => at))
  const updates = sorted.map((update, index) => ({
    ...update,
    at: times[index] ?? update.at,
    services: distinct(update.services.filter(({ serviceId }) => own.has(serviceId))),
  }))
  const last = updates.at(-1)
  const end = given.resolvedAt ?? null
  if (end !== null && last !== undefined && last.status !== 'RESOLVED') {
    const at = new Date(Math.max(+end, +last.at + 1))
    updates.push({ at, status: 'RESOLVED', message: '', services: [] })
  }
  if (updates.some(({ at }) => at > now)) return skipped('It has a time in the future.')
  const state = deriveState(updates.map(({ at, ...update }) => ({ ...update, createdAt: at })))
  const resolvedAt = state.resolvedAt === null ? null : (end ?? state.resolvedAt)
  const begun = [given.startedAt, ...(resolvedAt === null ? [] : [resolvedAt]), now]
  const startedAt = new Date(Math.min(...begun.map(Number)))
  const content = { ...given, updates, startedAt, resolvedAt, postmortem: given.postmortem ?? null }
  return { ...content, status: state.status, services: state.services, digest: digestOf(content) }
}

const distinct = <T extends { readonly serviceId: string }>(services: readonly T[]): T[] => [
  ...new Map(services.map((each) => [each.serviceId, each])).values(),
]

interface Written {
  readonly incidents: readonly (Read & { readonly known: KnownRecord | undefined })[]
  readonly rendered: RenderedTexts
}

/** Writes incidents with a few statements for all. Known incidents keep their ids. */
async function writeIncidents(
  tx: Context,
  organizationId: string,
  from: ImportSource,
  { incidents, rendered }: Written,
): Promise<NewRecord[]> {
  const importedAt = tx.now()
  const all = incidents.map((each) => ({ ...each, objectId: each.known?.objectId ?? newId('Incident') }))
  const rows = all.map(({ objectId, title, status, impact, startedAt, resolvedAt, known }) => ({
    ...{ id: objectId, organizationId, title, titles: {}, status, impact, startedAt, resolvedAt },
    ...{ visibility: 'PUBLIC', automatic: false, version: (known?.current ?? 0) + 1, createdAt: startedAt },
    ...{ importedFrom: from.source, importedAt },
  }))
  const ids = all.map(({ objectId }) => objectId)
  await removeParts(tx, 'incidentId', ['IncidentUpdate', 'IncidentService'], ids)
  await writeRows(tx, 'Incident', rows)
  const updates = all.flatMap(({ objectId: incidentId, updates: own }) =>
    own.map((update) => ({ ...update, id: newId('IncidentUpdate'), incidentId })),
  )
  await insertRows(
    tx.db,
    'IncidentUpdate',
    updates.map(({ id, incidentId, status, message: text, at }) => ({
      ...{ id, organizationId, incidentId, status, message: text, ...htmlIn(rendered, text), translations: {} },
      ...{ createdAt: at, version: 1 },
    })),
  )
  await insertRows(
    tx.db,
    'IncidentUpdateService',
    updates.flatMap(({ id: updateId, services }) => services.map((each) => ({ updateId, ...each }))),
  )
  await insertRows(
    tx.db,
    'IncidentService',
    all.flatMap(({ objectId: incidentId, services }) =>
      [...services].map(([serviceId, status]) => ({ incidentId, serviceId, status })),
    ),
  )
  await stateByIncidents(tx, ids)
  await writePostmortems(
    tx,
    all.flatMap(({ objectId: id, postmortem }) => {
      if (!postmortem) return []
      const { message: text, publishedAt } = postmortem
      const times = { createdAt: publishedAt, editedAt: publishedAt, publishedAt }
      return [{ id, organizationId, message: text, ...htmlIn(rendered, text), translations: {}, version: 1, ...times }]
    }),
  )
  return all.map(({ id: recordId, objectId, digest, known }) => {
    return { recordId, objectId, digest, version: (known?.current ?? 0) + 1 }
  })
}

/** Writes post-mortems, except those that people have edited here. */
async function writePostmortems({ db }: Context, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  if (rows.length === 0) return
  await db.$executeRaw`
    INSERT INTO "Postmortem" (id, "organizationId", message, html, "htmlVersion", translations, "publishedAt", "editedAt", version, "createdAt")
    SELECT id, "organizationId", message, html, "htmlVersion", translations, "publishedAt", "editedAt", version, "createdAt"
    FROM jsonb_populate_recordset(NULL::"Postmortem", ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (id) DO UPDATE SET message = EXCLUDED.message, html = EXCLUDED.html, "htmlVersion" = EXCLUDED."htmlVersion",
      "publishedAt" = EXCLUDED."publishedAt", "editedAt" = EXCLUDED."editedAt"
    WHERE "Postmortem".version = 1`
}
