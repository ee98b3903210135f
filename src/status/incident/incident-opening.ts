import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, named, timeOf } from '../../core/described.ts'
import { newId } from '../../core/id.ts'
import { renderMessage } from '../../core/markdown/markdown-rendering.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { IncidentImpact, IncidentStatus, IncidentVisibility } from '../../generated/prisma/enums.ts'
import { notFound, requireDistinct } from '../ownership.ts'
import { isStatement, recordStatements } from '../service/statement.ts'
import { counted, noteCounted, requireRoom, storedLimits, takeUncounted } from '../stored-limits.ts'
import { message, notifySubscribers, titleText } from '../timeline/timeline-limits.ts'
import { changedMessages, translations, withChanges } from '../timeline/translations.ts'
import { incidentEvent } from './incident.ts'
import { requireTimes } from './incident-corrections.ts'
import { ownServices, serviceIdOf, serviceStatuses } from './incident-services.ts'
import type { NewIncidentUpdate } from './incident-updates.ts'
import { otherLanguages } from './incident-updates.ts'

/** The impact of an incident. */
export const impact = described(z.enum(IncidentImpact), { description: 'The overall impact.' })

/** The input of `createIncident`. */
export const newIncident = named(
  z.object({
    title: titleText,
    status: described(z.enum(IncidentStatus), { description: 'The initial status.' }),
    impact,
    message: described(message, { description: 'The first update, in markdown.' }),
    services: described(serviceStatuses.nullish(), { description: 'The affected services and their statuses.' }),
    startedAt: timeOf('When it started, not in the future. Default: now.').nullish(),
    resolvedAt: timeOf(
      'When the incident was resolved, to record a past incident. No subscriber is notified.',
    ).nullish(),
    notifySubscribers,
    visibility: described(
      named(z.enum(['PUBLIC', 'DRAFT']), { name: 'IncidentVisibility', of: IncidentVisibility }).nullish(),
      { description: 'PUBLIC (default), or DRAFT until it is published.' },
    ),
    translations: translations.both,
  }),
  { name: 'CreateIncident', about: 'The incident to create, with its first update.' },
)

/**
 * Creates an incident, with the message as its first update. If its status is RESOLVED, its services are operational
 * and only the update keeps their statuses; with a resolution time it records a past incident and notifies no one. Only
 * the organization can see a draft until it is published. Requires a key with scope WRITE.
 * @throws Invalid, also for times in the future.
 * @throws NotFound for an unknown service.
 * @throws Conflict when the organization may have no more incidents.
 */
export async function createIncident(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { title, status, impact, message, notifySubscribers, ...rest } = validate(newIncident, input)
  const services = rest.services ?? []
  requireDistinct(services.map(serviceIdOf), (index) => ['services', index, 'serviceId'])
  const html = await renderMessage(ctx, organizationId, message)
  const others = await otherLanguages(ctx, organizationId, rest.translations)
  const open = async (tx: Context) => {
    const resolvedAt = rest.resolvedAt ?? null
    const startedAt = rest.startedAt ?? resolvedAt ?? tx.now()
    requireTimes({ status, startedAt, resolvedAt }, tx.now())
    const visibility = rest.visibility ?? 'PUBLIC'
    const text = { title, status, impact, message, ...html, ...others }
    const fields = { ...text, services, startedAt, notifySubscribers, automatic: false, visibility, isLimited: true }
    return openIncident(tx, organizationId, resolvedAt === null ? fields : { ...fields, resolvedAt })
  }
  return change(ctx, organizationId, open, { isPipelined: true })
}

/** An incident to create. */
export interface NewIncident extends NewIncidentUpdate {
  readonly title: string
  readonly impact: IncidentImpact
  readonly startedAt: Date
  /** When a past incident was resolved; if absent and the status is RESOLVED, now. */
  readonly resolvedAt?: Date
  /** Whether monitors may resolve it. */
  readonly automatic: boolean
  /** Defaults to PUBLIC. */
  readonly visibility?: IncidentVisibility
  /** Whether it is refused when the organization may have no more incidents. */
  readonly isLimited?: boolean
}

/**
 * Creates an incident inside a change, with one statement, and states its services.
 * @throws NotFound for a service outside the organization.
 * @throws Conflict when it is limited and the organization may have no more.
 */
export async function openIncident(
  tx: Context,
  organizationId: string,
  { message, html, services, status, notifySubscribers = true, isLimited = false, ...fields }: NewIncident,
): Promise<ChangeResult<Incident>> {
  const { translations, htmlVersion = fields.htmlVersion } = changedMessages({}, fields.messages ?? {})
  const now = tx.now()
  const postedAt = fields.resolvedAt ?? now
  const isResolved = status === 'RESOLVED'
  const updateId = newId('IncidentUpdate')
  const isCounted = isLimited && !takeUncounted('Incident', organizationId)
  const others = isCounted ? counted('Incident', organizationId) : Prisma.sql`NULL::int`
  const [found] = await tx.db.$queryRaw<(Incident & { readonly others: number | null })[]>`
    WITH own AS (${ownServices(organizationId, services)}), others AS MATERIALIZED (SELECT ${others} AS count), incident AS (
      INSERT INTO "Incident"
        (id, "organizationId", title, titles, status, impact, "startedAt", "resolvedAt", automatic, visibility, "createdAt")
      SELECT ${newId('Incident')}, ${organizationId}, ${fields.title},
        ${JSON.stringify(withChanges({}, fields.titles ?? {}))}::jsonb, ${status}::"IncidentStatus",
        ${fields.impact}::"IncidentImpact", ${fields.startedAt}::timestamptz,
        ${isResolved ? postedAt : null}::timestamptz, ${fields.automatic}::bool,
        ${fields.visibility ?? 'PUBLIC'}::"IncidentVisibility", ${now}::timestamptz
      WHERE (SELECT count(*) FROM own) = ${services.length}
        AND (SELECT coalesce(count, 0) FROM others) < ${storedLimits.Incident.limit}
      RETURNING *
    ), affected AS (
      INSERT INTO "IncidentService" ("incidentId", "serviceId", status)
      SELECT incident.id, own.id, CASE WHEN ${isResolved}::bool THEN 'OPERATIONAL' ELSE own.status END FROM incident, own
    ), first AS (
      INSERT INTO "IncidentUpdate"
        (id, "organizationId", "incidentId", status, message, html, "htmlVersion", translations, "createdAt")
      SELECT ${updateId}, ${organizationId}, id, status, ${message}, ${html}, ${htmlVersion}::int,
        ${JSON.stringify(translations)}::jsonb, ${postedAt}::timestamptz
      FROM incident
    ), set AS (
      INSERT INTO "IncidentUpdateService" ("updateId", "serviceId", status)
      SELECT ${updateId}, own.id, own.status FROM incident, own
    ), stated AS (${recordStatements(Prisma.sql`
      SELECT own.id, incident."startedAt" AS at FROM incident, own WHERE ${isStatement}`)}
    )
    SELECT incident.*, others.count AS others FROM incident, others`
  if (!found) {
    if (isCounted) await requireRoom(tx, organizationId, 'Incident')
    throw notFound('Service')
  }
  const { others: counts, ...incident } = found
  if (counts !== null) noteCounted('Incident', organizationId, counts + 1)
  const kind = fields.resolvedAt ? 'INCIDENT_BACKFILLED' : 'INCIDENT_CREATED'
  return [incident, incidentEvent(kind, incident, { updateId, notifySubscribers })]
}
