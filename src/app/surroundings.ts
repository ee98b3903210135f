import type { Checker } from '../blacklist/checker.ts'
import { withDeadline } from '../core/concurrency/deadline.ts'
import type { Clock } from '../core/time.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { SettingsMailer } from '../notification/channel/mailer.ts'

/** How long what the database says of lateness is used: anybody may ask `/readyz`. */
const MAX_AGE_MS = 5 * SECOND

/** How long an answer may wait for the database, in milliseconds: its table may be locked. */
const DEADLINE_MS = 2 * SECOND

/** How late a probe may start, in milliseconds: longer than a restart takes. */
const MAX_LATENESS_MS = MINUTE

/** The state of what a service depends on or that others see; none of it is mended by sending visitors elsewhere. */
export type Surroundings = () => Promise<Readonly<Record<string, string>>>

/**
 * Creates what says how mail (`ok`, `off`, `failing`), the resolver of blacklists (`ok`, `failing`: no list can be used) and the
 * lateness of probes (`ok`, `late`) are.
 * @param options.region whose probes count; null: this process makes none.
 */
export function watchSurroundings(options: {
  readonly mailer: SettingsMailer | null
  readonly checker: Checker
  readonly pool: Pick<DatabaseHandle['pool'], 'query'>
  readonly region: string | null
  readonly now: Clock
}): Surroundings {
  const { mailer, checker, pool, region, now } = options
  let askedAt = Number.NEGATIVE_INFINITY
  let isAsking = false
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
    if (!isAsking && performance.now() - askedAt > MAX_AGE_MS) {
      isAsking = true
      askedAt = performance.now()
      const answer = readLateness().finally(() => {
        isAsking = false
      })
      // A database that does not answer is said by its own part.
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
