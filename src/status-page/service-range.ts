import type { Database } from '../core/context.ts'
import type { LatencyPoint } from '../monitoring/uptime/latency.ts'
import { readLatencies } from '../monitoring/uptime/latency.ts'
import { serviceStretches } from '../monitoring/uptime/service-stretches.ts'
import { saidOf } from '../monitoring/uptime/service-uptime.ts'
import type { Span } from '../monitoring/uptime/uptime.ts'
import { noHistory, readHistories, readMaintenance } from '../monitoring/uptime/uptime-history.ts'
import type { RangeName } from '../monitoring/uptime/uptime-range.ts'
import type { IncidentHistory } from '../status/incident/incident-effect-reader.ts'
import { readIncidentHistory } from '../status/incident/incident-effect-reader.ts'
import type { PageState, ServiceState } from '../status/page/page-state.ts'
import type { ServiceHistory } from './service-history.ts'
import { joinHistories, readMeasured, sourceOf } from './service-history.ts'

/** The response times that a range shows. */
const latencies = {
  '24h': { range: 'HOURS_24', resolution: 'HOUR' },
  '7d': { range: 'DAYS_7', resolution: 'HOUR' },
  '30d': { range: 'DAYS_30', resolution: 'DAY' },
  '90d': { range: 'DAYS_90', resolution: 'DAY' },
  year: { range: 'DAYS_90', resolution: 'DAY' },
} as const satisfies Record<RangeName, object>

/** The history of a service in a range. */
export interface ServiceRange extends ServiceHistory {
  /** Response times; empty when none were measured. */
  readonly latencies: readonly LatencyPoint[]
}

/** Reads the history of a service in a range, within the history of its tier. Runs at most eight statements. */
export async function readServiceRange(
  db: Database,
  state: PageState,
  service: ServiceState,
  range: RangeName,
  now: Date,
): Promise<ServiceRange> {
  const { organization, tier } = state
  const measured = await readMeasured(db, state, [service], now, range)
  const incidentHistory = await incidentHistorySince(db, state, [service.id], measured.spans[0]?.from ?? now, now)
  const { histories } = await joinHistories(db, state, [service], measured, { incidentHistory })
  const history = histories.get(service.id) ?? { source: sourceOf(state, service), days: [], incidents: [] }
  if (!service.monitored) return { ...history, latencies: [] }
  const zone = { timeZone: organization.timeZone, tier }
  const points = (await readLatencies(db, zone, [service.id], latencies[range], now)).get(service.id) ?? []
  return { ...history, latencies: points.some(({ count }) => count > 0) ? points : [] }
}

/** Returns the incidents of services since a time; the state of the page has the newest. */
export function incidentHistorySince(
  db: Database,
  state: PageState,
  ids: readonly string[],
  since: Date,
  now: Date,
): Promise<IncidentHistory> {
  const { incidentHistory } = state
  const isKnown = since >= incidentHistory.completeSince
  return isKnown ? Promise.resolve(incidentHistory) : readIncidentHistory(db, state.organization.id, ids, since, now)
}

/** Reads the stretches of a service in a span, by the source of its uptime. Runs at most two statements. */
export async function readStretches(
  db: Database,
  state: PageState,
  service: ServiceState,
  span: Span,
  incidentHistory: IncidentHistory,
  now: Date,
) {
  const source = sourceOf(state, service)
  const said = saidOf({ ...service, source }, incidentHistory)
  if (source === 'INCIDENTS') {
    const maintenance = (await readMaintenance(db, [service.id], span.from, now)).get(service.id) ?? []
    return serviceStretches({ ...said, monitors: [], maintenance }, span)
  }
  const histories = await readHistories(db, [{ id: service.id, since: span.from }], now)
  return serviceStretches({ ...said, ...(histories.get(service.id) ?? noHistory) }, span)
}
