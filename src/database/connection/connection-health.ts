import type { Logger } from 'pino'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import { DatabaseUnavailable } from '../../core/errors.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { type DatabaseProblem, problemOf } from './unavailable.ts'

/** Tracks the health of the database from the results of statements and health checks. */
export interface DatabaseHealth {
  /** Records that the database answered a statement. */
  succeeded(): void
  /** Records a failed statement or connection. An error that is not a database problem counts as an answer. */
  failed(error: unknown): void
  /** Returns the error to throw instead of sending a statement while the database is unreachable; null: send it. */
  refusal(): DatabaseUnavailable | null
  /** Returns the current problem; null: none. Checks at most once a second, and answers within about a second. */
  check(): Promise<DatabaseProblem | null>
  close(): void
}

/** The timeout of a health check. */
const TIMEOUT = SECOND
/** How long a result is cached, and the interval of checks during an outage. */
const PERIOD = SECOND
/** The interval of log lines during an outage. */
const REMINDER = MINUTE
/** The silence, in milliseconds, after which running statements trigger a health check. */
const SILENCE_LIMIT = 2 * SECOND

/** Logs an outage when it starts, once a minute, and when it ends, with the number of failed statements. */
interface OutageLog {
  /** The current problem; null: there is no outage. */
  readonly trouble: DatabaseProblem | null
  /** Counts a failed statement. Failures before an outage is confirmed count towards it. */
  countFailure(): void
  /** Begins an outage, or changes the problem of the current one. */
  begin(trouble: DatabaseProblem, error: unknown): void
  remind(): void
  end(): void
}

const problemTexts = {
  unreachable: 'unreachable',
  'read-only': 'read-only, so writes fail',
  full: 'out of disk space, so writes fail',
} as const satisfies Record<DatabaseProblem, string>

function createOutageLog(log: Logger, clock: () => number): OutageLog {
  let outage: { trouble: DatabaseProblem; readonly since: number; lastLogged: number } | null = null
  let failures = 0

  return {
    get trouble() {
      return outage?.trouble ?? null
    },
    countFailure() {
      failures += 1
    },
    begin(trouble, error) {
      if (outage) {
        outage.trouble = trouble
        return
      }
      outage = { trouble, since: clock(), lastLogged: clock() }
      log.error({ reason: reasonOf(error) }, `database: ${problemTexts[trouble]}; retrying every second`)
    },
    remind() {
      if (outage === null || clock() - outage.lastLogged < REMINDER) return
      outage.lastLogged = clock()
      const minutes = Math.round((clock() - outage.since) / MINUTE)
      log.error({ failures }, `database: still ${problemTexts[outage.trouble]} after ${minutes} min`)
    },
    end() {
      if (outage !== null) {
        const seconds = Math.round((clock() - outage.since) / SECOND)
        log.warn({ failures }, `database: available again after ${seconds} s`)
      }
      outage = null
      failures = 0
    },
  }
}

/**
 * Tracks the health of a database and logs its outages.
 * @param options.ask runs a health check; throws when the database does not answer.
 * @param options.refuses whether statements fail at once while the database is unreachable, instead of waiting.
 * @param options.waiting returns the number of running statements.
 * @param options.clock returns monotonic milliseconds.
 */
export function watchDatabase(options: {
  readonly ask: () => Promise<DatabaseProblem | null>
  readonly refuses: boolean
  readonly waiting: () => number
  readonly log: Logger
  readonly clock?: () => number
}): DatabaseHealth {
  const { ask, refuses, waiting, log, clock = () => performance.now() } = options
  const outage = createOutageLog(log, clock)
  let asking: Promise<DatabaseProblem | null> | null = null
  let asked = { at: Number.NEGATIVE_INFINITY, trouble: null as DatabaseProblem | null }
  let answeredAt = clock()
  /** The number of consecutive unanswered health checks. */
  let silences = 0
  let closed = false

  /** Runs one health check at a time; concurrent callers share it. */
  function askNow(): Promise<DatabaseProblem | null> {
    asking ??= answer().finally(() => {
      asking = null
    })
    return asking
  }

  async function answer(): Promise<DatabaseProblem | null> {
    const begun = clock()
    let trouble: DatabaseProblem | null
    try {
      trouble = await withDeadline(TIMEOUT, 'The database', ask())
      silences = 0
    } catch (error) {
      trouble = problemOf(error) ?? 'unreachable'
      silences += 1
      // Other statements were answered meanwhile: the database is busy or has no free connection.
      if (trouble === 'unreachable' && answeredAt > begun) trouble = null
      else if (trouble === 'unreachable' && silences === 1 && outage.trouble === null) setImmediate(recheck)
      else enter(trouble, error)
    }
    asked = { at: clock(), trouble }
    if (trouble === null) outage.end()
    else if (trouble !== 'unreachable') enter(trouble, null)
    return trouble
  }

  function recheck(): void {
    if (!closed && outage.trouble === null) void askNow()
  }

  function enter(trouble: DatabaseProblem, error: unknown): void {
    if (!closed) outage.begin(trouble, error)
  }

  const timer = setInterval(() => {
    outage.remind()
    const isSilent = waiting() > 0 && clock() - answeredAt > SILENCE_LIMIT && clock() - asked.at > SILENCE_LIMIT
    if (outage.trouble !== null || isSilent) void askNow()
  }, PERIOD).unref()

  return {
    succeeded() {
      answeredAt = clock()
    },
    failed(error) {
      const trouble = problemOf(error)
      if (trouble === null) {
        answeredAt = clock()
        return
      }
      outage.countFailure()
      if (trouble !== 'unreachable') enter(trouble, error)
      else recheck()
    },
    refusal() {
      if (!refuses || outage.trouble !== 'unreachable') return null
      outage.countFailure()
      return new DatabaseUnavailable()
    },
    async check() {
      if (outage.trouble !== null) return outage.trouble
      return clock() - asked.at < PERIOD ? asked.trouble : askNow()
    },
    close() {
      closed = true
      clearInterval(timer)
    },
  }
}

/** Returns the message of an error's innermost cause, for the log. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}
