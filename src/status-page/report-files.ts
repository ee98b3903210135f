import { SECOND } from '../core/time.ts'
import { csvLine } from '../notification/csv.ts'
import type { MeanTime, MonthlyReport } from './report.ts'

const HEAD = [
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
  'target_percent',
  'met',
]

const seconds = (milliseconds: number) => Math.floor(milliseconds / SECOND)

/** Returns a report as CSV: a line for each service and each of its objectives. */
export function reportCsv({ from, to, services }: MonthlyReport): string {
  const lines = services.flatMap(({ name, percent, coverage, account, objectives }) => {
    const { good, bad, unknown, maintenance, excluded, corrected } = account
    const own = [name, from.toISOString(), to.toISOString(), text(percent), text(coverage)]
    const times = [bad, good + bad, unknown, maintenance, excluded, corrected].map((each) => text(seconds(each)))
    const targets = objectives.length === 0 ? [null] : objectives
    return targets.map((each) => [...own, ...times, text(each && each.target / 1000), text(each?.isMet ?? null)])
  })
  return [HEAD, ...lines].map(csvLine).join('')
}

const text = (value: number | boolean | null) => (value === null ? '' : String(value))

/** Returns a report as what its JSON holds. Times are in whole seconds. */
export function reportJson(report: MonthlyReport) {
  const { month, timeZone, from, to, isClosed, services, incidents, maintenances, corrections } = report
  const mean = ({ count, meanMs }: MeanTime) => ({ count, mean_seconds: meanMs === null ? null : seconds(meanMs) })
  return {
    month,
    time_zone: timeZone,
    from,
    to,
    complete: isClosed,
    services: services.map(({ id, name, source, percent, coverage, account, objectives }) => ({
      id,
      name,
      source,
      uptime_percent: percent,
      coverage_percent: coverage,
      down_seconds: seconds(account.bad),
      known_seconds: seconds(account.good + account.bad),
      unknown_seconds: seconds(account.unknown),
      maintenance_seconds: seconds(account.maintenance),
      excluded_seconds: seconds(account.excluded),
      corrected_seconds: seconds(account.corrected),
      objectives: objectives.map(({ target, isMet }) => ({ target_percent: target / 1000, met: isMet })),
    })),
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
    corrections: corrections.map(({ service, startsAt, endsAt, kind, reason, author, createdAt }) => ({
      service,
      starts_at: startsAt,
      ends_at: endsAt,
      kind,
      reason,
      author,
      created_at: createdAt,
    })),
    time_to_acknowledge: mean(report.acknowledgement),
    time_to_recover: mean(report.recovery),
  }
}
