import { SECOND } from '../core/time.ts'
import type { Span } from '../monitoring/uptime/uptime.ts'
import { csvLine } from '../notification/subscriber/csv.ts'
import type { MeanTime, MonthlyReport, ServiceReport } from './monthly-report.ts'

const SERVICE = [
  'service',
  'from',
  'to',
  'uptime_percent',
  'coverage_percent',
  'down_seconds',
  'known_seconds',
  'unknown_seconds',
  'maintenance_seconds',
  'excluded_seconds',
  'corrected_seconds',
]

const seconds = (milliseconds: number) => Math.floor(milliseconds / SECOND)

/** Returns a report as CSV: a line for each service and each of its objectives. */
export function reportCsv({ from, to, services }: MonthlyReport): string {
  const lines = services.flatMap((service) => {
    const own = serviceLine({ from, to }, service)
    const targets = service.objectives.length === 0 ? [null] : service.objectives
    return targets.map((each) => [...own, text(each && each.target / 1000), text(each?.isMet ?? null)])
  })
  return [[...SERVICE, 'target_percent', 'met'], ...lines].map(csvLine).join('')
}

/** Returns a report as CSV for the readers of its page: a line for each service, without objectives. */
export function publicReportCsv({ from, to, services }: MonthlyReport): string {
  return [SERVICE, ...services.map((service) => serviceLine({ from, to }, service))].map(csvLine).join('')
}

function serviceLine({ from, to }: Span, { name, percent, coverage, tally }: ServiceReport): string[] {
  const { good, bad, unknown, maintenance, excluded, corrected } = tally
  const times = [bad, good + bad, unknown, maintenance, excluded, corrected].map((each) => text(seconds(each)))
  return [name, from.toISOString(), to.toISOString(), text(percent), text(coverage), ...times]
}

const text = (value: number | boolean | null) => (value === null ? '' : String(value))

/** Returns a report for its JSON. Times are in whole seconds. */
export function reportJson(report: MonthlyReport) {
  const { services, corrections } = report
  return {
    ...periodJson(report),
    services: services.map((service) => ({
      ...serviceJson(service),
      objectives: service.objectives.map(({ target, isMet }) => ({ target_percent: target / 1000, met: isMet })),
    })),
    ...historyJson(report),
    corrections: corrections.map(({ reason, author, createdAt, ...each }) => ({
      ...correctionJson(each),
      reason,
      author,
      created_at: createdAt,
    })),
    time_to_acknowledge: meanJson(report.acknowledgement),
    time_to_recover: meanJson(report.recovery),
  }
}

/**
 * Returns a report for its JSON for the readers of the page: without objectives, the response times of the team, and
 * the authors of corrections and their reasons.
 */
export function publicReportJson(report: MonthlyReport) {
  return {
    ...periodJson(report),
    services: report.services.map(serviceJson),
    ...historyJson(report),
    corrections: report.corrections.map(correctionJson),
    time_to_recover: meanJson(report.recovery),
  }
}

function periodJson({ month, timeZone, from, to, isClosed }: MonthlyReport) {
  return { month, time_zone: timeZone, from, to, complete: isClosed }
}

function serviceJson({ id, name, source, percent, coverage, tally }: ServiceReport) {
  return {
    id,
    name,
    source,
    uptime_percent: percent,
    coverage_percent: coverage,
    down_seconds: seconds(tally.bad),
    known_seconds: seconds(tally.good + tally.bad),
    unknown_seconds: seconds(tally.unknown),
    maintenance_seconds: seconds(tally.maintenance),
    excluded_seconds: seconds(tally.excluded),
    corrected_seconds: seconds(tally.corrected),
  }
}

function historyJson({ incidents, maintenances }: MonthlyReport) {
  return {
    incidents: incidents.map(({ id, title, impact, startedAt, resolvedAt }) => ({
      id,
      title,
      impact,
      started_at: startedAt,
      resolved_at: resolvedAt,
    })),
    maintenance: maintenances.map(({ id, title, startedAt, endedAt }) => ({
      id,
      title,
      started_at: startedAt,
      ended_at: endedAt,
    })),
  }
}

function correctionJson({
  service,
  startsAt,
  endsAt,
  kind,
}: Pick<MonthlyReport['corrections'][number], 'service' | 'startsAt' | 'endsAt' | 'kind'>) {
  return { service, starts_at: startsAt, ends_at: endsAt, kind }
}

const meanJson = ({ count, meanMs }: MeanTime) => ({ count, mean_seconds: meanMs === null ? null : seconds(meanMs) })
