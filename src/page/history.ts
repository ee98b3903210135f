import type { Database } from '../context.ts'
import { NotFound } from '../errors.ts'
import { typeOfId } from '../id.ts'
import type { IncidentState } from '../status/page-state.ts'
import { incidentStory } from '../status/page-state.ts'
import type { Month, Zone } from './zone.ts'
import { addMonths, monthOf, startOfMonth } from './zone.ts'

/** The incidents that began in one month, or one page of them. */
export interface HistoryState {
  readonly month: Month
  /** Newest first. */
  readonly incidents: readonly IncidentState[]
  /** From 1. */
  readonly page: number
  readonly pages: number
  /** The nearest months with incidents on either side, or the present one; null: there is none. */
  readonly earlier: Month | null
  readonly later: Month | null
}

/** How many incidents one page of the history shows. */
const PER_PAGE = 50

/**
 * An organization's incidents of a month of its time zone; `month` null: the present one; `number` from 1: which page of it.
 * @throws NotFound for a month to come, and for a page that the month does not have.
 */
export async function readHistory(
  db: Database,
  organizationId: string,
  asked: { readonly month: Month | null; readonly number: number },
  at: { readonly now: Date; readonly zone: Zone },
): Promise<HistoryState> {
  const present = monthOf(at.now, at.zone)
  const month = asked.month ?? present
  const begin = startOfMonth(month, at.zone.name)
  const end = startOfMonth(addMonths(month, 1), at.zone.name)
  if (begin > at.now) throw new NotFound('There is no history of times to come.')
  const where = { organizationId, startedAt: { gte: begin, lt: end } }
  const pages = Math.max(1, Math.ceil((await db.incident.count({ where })) / PER_PAGE))
  if (asked.number > pages) throw new NotFound('There is no such page.')
  const incidents = await db.incident.findMany({
    where,
    include: incidentStory,
    orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
    skip: (asked.number - 1) * PER_PAGE,
    take: PER_PAGE,
  })
  const before = await db.incident.findFirst({
    where: { organizationId, startedAt: { lt: begin } },
    select: { startedAt: true },
    orderBy: { startedAt: 'desc' },
  })
  const after = await db.incident.findFirst({
    where: { organizationId, startedAt: { gte: end } },
    select: { startedAt: true },
    orderBy: { startedAt: 'asc' },
  })
  return {
    month,
    incidents,
    page: asked.number,
    pages,
    earlier: before && monthOf(before.startedAt, at.zone),
    later: after ? monthOf(after.startedAt, at.zone) : end <= at.now ? present : null,
  }
}

/** An incident of an organization. @throws NotFound when the organization has no such incident. */
export async function readIncident(db: Database, organizationId: string, id: string): Promise<IncidentState> {
  const found =
    typeOfId(id) === 'Incident'
      ? await db.incident.findUnique({ where: { id, organizationId }, include: incidentStory })
      : null
  if (!found) throw new NotFound('There is no such incident.')
  return found
}
