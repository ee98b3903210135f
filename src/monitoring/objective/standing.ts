import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Database } from '../../core/context.ts'
import type { Objective, UptimeCorrection } from '../../generated/prisma/client.ts'
import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { ServiceStretches, UptimeSettings } from '../uptime/service-uptime.ts'
import { readServiceStretches } from '../uptime/service-uptime.ts'
import type { Budget } from './budget.ts'
import { budgetOf } from './budget.ts'
import type { BurnQuestion, BurnRate } from './burn-rate.ts'
import { BURN_HISTORY_MS, burnRates } from './burn-rate.ts'
import type { CorrectedSpan, CountedStretch } from './objective-tally.ts'
import { countedStretches } from './objective-tally.ts'
import { windowAt } from './window.ts'

/** The current status of an objective. */
export interface Standing extends Budget {
  /** The source of its figures. */
  readonly source: UptimeSource
  readonly burnRates: readonly BurnRate[]
}

/** The fields of an objective on which its status depends. */
type Measured = Pick<Objective, 'id' | 'serviceId' | 'target' | 'windowDays' | 'timeZone'>

/** Reads the status of objectives of an organization, by id. Runs six statements for any number of them. */
export function readStandings(
  db: Database,
  settings: UptimeSettings,
  objectives: readonly Measured[],
  now: Date,
): Promise<Map<string, Standing>> {
  const since = (objective: Measured) => new Date(Math.min(+windowAt(objective, now).from, +burnHistory(now)))
  return readEach(db, settings, { objectives, since, now }, (objective, counted, { source, begunAt }) => {
    const question = { target: objective.target, begunAt, now }
    const window = windowAt(objective, now)
    return { ...budgetOf(counted, { ...question, window }), source, burnRates: ratesOf(objective, counted, question) }
  })
}

/** Like `readStandings`, but reads only burn rates, which cover at most a few days. */
export function readBurnRates(
  db: Database,
  settings: UptimeSettings,
  objectives: readonly Measured[],
  now: Date,
): Promise<Map<string, readonly BurnRate[]>> {
  const since = () => burnHistory(now)
  return readEach(db, settings, { objectives, since, now }, (objective, counted, { begunAt }) =>
    ratesOf(objective, counted, { target: objective.target, begunAt, now }),
  )
}

const burnHistory = (now: Date) => new Date(now.getTime() - BURN_HISTORY_MS)

function ratesOf(objective: Measured, counted: readonly CountedStretch[], question: Omit<BurnQuestion, 'windowMs'>) {
  const { from, to } = windowAt(objective, question.now)
  return burnRates(counted, { ...question, windowMs: to.getTime() - from.getTime() })
}

/** Computes a value for each objective. Yields to the event loop between objectives. */
async function readEach<T>(
  db: Database,
  settings: UptimeSettings,
  of: { readonly objectives: readonly Measured[]; since(objective: Measured): Date; readonly now: Date },
  result: (objective: Measured, counted: readonly CountedStretch[], history: ServiceStretches) => T,
): Promise<Map<string, T>> {
  const asked = of.objectives.map((objective) => ({ id: objective.serviceId, since: of.since(objective) }))
  const histories = await readServiceStretches(db, settings, asked, of.now)
  const corrections = await readCorrections(db, [...histories.keys()], of.now)
  const owner = {}
  const found = new Map<string, T>()
  for (const objective of of.objectives) {
    await yieldAfterTimeSlice(owner)
    const { serviceId } = objective
    const history = histories.get(serviceId)
    if (history === undefined) continue
    const counted = countedStretches(history.stretches, corrections.get(serviceId) ?? [])
    found.set(objective.id, result(objective, counted, history))
  }
  return found
}

/** A stored correction, also as a span. */
type Correction = UptimeCorrection & CorrectedSpan

/** Reads the corrections of services that start before a time, in order of creation, by service id. */
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
