import type { Checker } from '../blacklist/checker.ts'
import { withDeadline } from '../core/concurrency/deadline.ts'
import type { Clock } from '../core/time.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { SettingsMailer } from '../notification/channel/mailer.ts'

/** How long a lateness that was read from the database is reused, because anyone can request `/readyz`. */
const MAX_AGE_MS = 5 * SECOND

/** How long an answer may wait for the database, in milliseconds: its table may be locked. */
const DEADLINE_MS = 2 * SECOND

/** How late a probe may start, in milliseconds: longer than a restart takes. */
const MAX_LATENESS_MS = MINUTE

/** Reads states that `/readyz` reports without becoming unready: sending visitors elsewhere would not improve them. */
export type AdvisoryHealth = () => Promise<Readonly<Record<string, string>>>

/**
 * Creates a function that returns the states of email (`ok`, `off`, `failing`), of the resolver of blacklists (`ok`,
 * `failing`: no list can be used), and the lateness of probes (`ok`, `late`).
 * @param options.region the region whose probes count; null: this process makes none.
 */
export function createAdvisoryHealth(options: {
  readonly mailer: SettingsMailer | null
  readonly checker: Checker
  readonly pool: Pick<DatabaseHandle['pool'], 'query'>
  readonly region: string | null
  readonly now: Clock
}): AdvisoryHealth {
  const { mailer, checker, pool, region, now } = options
  let readAt = Number.NEGATIVE_INFINITY
  let isReading = false
  let known = Promise.resolve('ok')

  async function readLateness(): Promise<string> {
    const { rows } = await pool.query<{ isLate: boolean }>({
      name: 'is a probe late',
      text: `SELECT EXISTS (SELECT FROM "Watch" WHERE region IN ($1, '*') AND "dueAt" < $2) AS "isLate"`,
      values: [region, new Date(now().getTime() - MAX_LATENESS_MS)],
    })
    return rows[0]?.isLate ? 'late' : 'ok'
  }

  function lateness(): Promise<string> {
    if (!isReading && performance.now() - readAt > MAX_AGE_MS) {
      isReading = true
      readAt = performance.now()
      const answer = readLateness().finally(() => {
        isReading = false
      })
      // `/readyz` reports a database that does not answer separately.
      known = withDeadline(DEADLINE_MS, 'Reading lateness', answer).catch(() => 'unknown')
    }
    return known
  }

  return async () => ({
    mail: mailer === null ? 'off' : mailer.isFailing() ? 'failing' : 'ok',
    resolver: resolverState(checker),
    ...(region !== null && { lateness: await lateness() }),
  })
}

function resolverState({ lists, lookup }: Checker): string {
  const states = lists.map((list) => lookup.health.get(list).status)
  return states.some((state) => state === 'ok' || state === 'unknown') ? 'ok' : 'failing'
}
