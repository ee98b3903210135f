import type { Database } from '../../core/context.ts'
import { yieldAfterTimeSlice } from '../../core/time-slice.ts'
import type { Objective, UptimeCorrection } from '../../generated/prisma/client.ts'
import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { UptimeSettings } from '../service-uptime.ts'
import { readServicePasts } from '../service-uptime.ts'
import type { CorrectedSpan } from './account.ts'
import { countedStretches } from './account.ts'
import type { Budget } from './budget.ts'
import { budgetOf } from './budget.ts'
import type { BurnRate } from './burn-rate.ts'
import { BURN_HISTORY_MS, burnRates } from './burn-rate.ts'
import { windowAt } from './window.ts'

/** How an objective stands now. */
export interface Standing extends Budget {
  /** What its figures count. */
  readonly source: UptimeSource
  readonly burnRates: readonly BurnRate[]
}

/** What the standing of an objective depends on. */
type Measured = Pick<Objective, 'id' | 'serviceId' | 'target' | 'windowDays' | 'timeZone'>

/** Reads how objectives of an organization stand, by their ids. Runs six statements for any number of them. */
export async function readStandings(
  db: Database,
  settings: UptimeSettings,
  objectives: readonly Measured[],
  now: Date,
): Promise<Map<string, Standing>> {
  const asked = objectives.map((objective) => {
    const window = windowAt(objective, now)
    return {
      id: objective.serviceId,
      window,
      since: new Date(Math.min(+window.from, +now - BURN_HISTORY_MS)),
      objective,
    }
  })
  const pasts = await readServicePasts(db, settings, asked, now)
  const corrections = await readCorrections(db, [...pasts.keys()], now)
  const owner = {}
  const found = new Map<string, Standing>()
  for (const { id, window, objective } of asked) {
    await yieldAfterTimeSlice(owner)
    const past = pasts.get(id)
    if (past === undefined) continue
    const counted = countedStretches(past.stretches, corrections.get(id) ?? [])
    const question = { target: objective.target, begunAt: past.begunAt, now }
    found.set(objective.id, {
      ...budgetOf(counted, { ...question, window }),
      source: past.source,
      burnRates: burnRates(counted, { ...question, windowMs: window.to.getTime() - window.from.getTime() }),
    })
  }
  return found
}

/** A correction, as arithmetic reads it. */
type Correction = UptimeCorrection & CorrectedSpan

/** Reads the corrections of services that begin before a time, in the order in which they were made, by service id. */
export async function readCorrections(
  db: Database,
  serviceIds: readonly string[],
  until: Date,
): Promise<Map<string, Correction[]>> {
  const found = new Map<string, Correction[]>()
  if (serviceIds.length === 0) return found
  const rows = await db.uptimeCorrection.findMany({
    where: { serviceId: { in: [...serviceIds] }, startsAt: { lt: until } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  for (const row of rows) {
    const correction = { ...row, from: row.startsAt, to: row.endsAt }
    const own = found.get(row.serviceId)
    if (own) own.push(correction)
    else found.set(row.serviceId, [correction])
  }
  return found
}
