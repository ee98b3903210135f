import { z } from 'zod'
import { requireScope } from '../../core/access.ts'
import type { Context, Database } from '../../core/context.ts'
import { idOf, named } from '../../core/described.ts'
import { NotFound } from '../../core/errors.ts'
import { isIdOf } from '../../core/id.ts'
import { validate } from '../../core/validation.ts'
import { plainRows } from '../../database/transaction.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Incident } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { countMembers } from '../../people/membership.ts'
import { members, people } from '../../people/views.ts'
import { findIncident, privateEvent, requireOwnTimeline } from './incident.ts'

/** The input of `setIncidentLead`. */
export const leadChoice = named(
  z.object({
    incidentId: idOf('The incident.'),
    userId: idOf('The member. Null: removes the lead.').nullish(),
  }),
  { name: 'SetIncidentLead', about: 'Who leads the work on an incident.' },
)

/**
 * Makes a member the lead of an incident; without a person, removes the lead. Only the organization can see the lead;
 * neither pages nor the incident's version change. Members who leave the organization stop being leads. Requires a key
 * with scope WRITE.
 * @throws Invalid, NotFound for an unknown incident or member, and Conflict if the incident was merged.
 */
export async function setIncidentLead(ctx: ChangeContext, input: unknown): Promise<Incident> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { incidentId, userId = null } = validate(leadChoice, input)
  return change(ctx, organizationId, async (tx) => {
    const { db } = tx
    const incident = await findIncident(tx, organizationId, incidentId)
    requireOwnTimeline(incident)
    const before = await db.incidentLead.findUnique({ where: { incidentId } })
    if ((before?.userId ?? null) === userId) return [incident]
    await db.incidentLead.deleteMany({ where: { incidentId } })
    if (userId !== null) {
      await requireMember(tx, organizationId, userId)
      await db.incidentLead.create({ data: { incidentId, organizationId, userId, since: tx.now() } })
    }
    return [incident, privateEvent('INCIDENT_LEAD_CHANGED', incident)]
  })
}

/** @throws NotFound for a person who is not a member. */
async function requireMember(ctx: Context, organizationId: string, userId: string): Promise<void> {
  const count = isIdOf('User', userId) ? await countMembers(ctx, organizationId, [userId]) : 0
  if (count === 0) throw new NotFound('Member not found.')
}

/** The lead of an incident. */
export interface IncidentLead {
  readonly incidentId: string
  readonly userId: string
  readonly name: string
  readonly since: Date
}

/** Reads the leads of incidents; leaves out incidents without one. The caller must belong to the organization. */
export function readLeads(db: Database, incidentIds: readonly string[]): Promise<IncidentLead[]> {
  return plainRows<IncidentLead>(
    db,
    Prisma.sql`
      SELECT lead."incidentId", lead."userId", person.name, lead.since
      FROM "IncidentLead" AS lead JOIN ${people} AS person ON person.id = lead."userId"
      WHERE lead."incidentId" = ANY(${[...incidentIds]}::text[])`,
  )
}

/** A member who can become a lead. */
export interface Candidate {
  readonly id: string
  readonly name: string
}

/** How many members are offered. */
const MAX_OFFERED = 200

/** Reads the members of an organization, by name. The caller must be one of them. */
export function readCandidates(db: Database, organizationId: string): Promise<Candidate[]> {
  return plainRows<Candidate>(
    db,
    Prisma.sql`
      SELECT person.id, person.name FROM ${members} AS member JOIN ${people} AS person ON person.id = member."userId"
      WHERE member."organizationId" = ${organizationId} ORDER BY person.name, person.id LIMIT ${MAX_OFFERED}`,
  )
}
