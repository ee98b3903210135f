import type { Database } from '../../core/context.ts'
import { DAY } from '../../core/time.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { Outage } from './uptime.ts'
import { coveragePercent, outagesOf, stretches, tally, uptimePercent } from './uptime.ts'
import { historyStart } from './uptime-days.ts'
import type { Uptime } from './uptime-history.ts'
import { readHistories } from './uptime-history.ts'

/** The history that the page of a monitor shows. */
export interface MonitorPageHistory {
  /** One uptime per requested number of days. */
  readonly uptimes: readonly Uptime[]
  /** Newest first, within the longest of these times. */
  readonly outages: readonly Outage[]
  /** The cause of its state: the message of the first probe in this state; empty: none. */
  readonly cause: string
}

/**
 * Reads the uptime of a monitor over several numbers of days, and its outages, within the history of its organization's
 * tier. Runs two statements.
 */
export async function readMonitorPageHistory(
  db: Database,
  organization: Pick<Organization, 'timeZone' | 'tier'>,
  id: string,
  days: readonly number[],
  now: Date,
): Promise<MonitorPageHistory> {
  const shownFrom = historyStart(organization, now)
  const spans = days.map((count) => ({ from: new Date(Math.max(+now - count * DAY, +shownFrom)), to: now }))
  const since = new Date(Math.min(...spans.map(({ from }) => +from)))
  const history = (await readHistories(db, [{ id, since }], now)).get(id)
  const monitors = history?.monitors ?? []
  const maintenance = history?.maintenance ?? []
  const found = stretches(monitors, maintenance, { from: since, to: now })
  const [monitor] = monitors
  return {
    uptimes: spans.map((span) => {
      const of = tally(found, span)
      return { ...span, tally: of, percent: uptimePercent(of), coverage: coveragePercent(of) }
    }),
    outages: monitor ? outagesOf(monitor, maintenance, { from: since, to: now }) : [],
    cause: monitor?.intervals.at(-1)?.cause ?? '',
  }
}
