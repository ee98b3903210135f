import type { Logger } from 'pino'
import { within } from '../deadline.ts'
import { DatabaseUnavailable } from '../errors.ts'
import { MINUTE, SECOND } from '../time.ts'
import { type Trouble, troubleOf } from './unavailable.ts'

/** How the database does, by what becomes of the statements of this process, and by asking. */
export interface DatabaseHealth {
  /** A statement was answered. */
  succeeded(): void
  /** A statement or a connection failed. Errors that tell of no trouble are answers too. */
  failed(error: unknown): void
  /** The error to answer with at once while the database is known to be unreachable; null: it is worth trying. */
  refusal(): DatabaseUnavailable | null
  /** What is wrong; null: nothing. Asks at most once a second, and answers within about a second. */
  check(): Promise<Trouble | null>
  close(): void
}

/** How long the database may take to say how it does. */
const PATIENCE = SECOND
/** For how long an answer holds, and how often the database is asked while it is in trouble. */
const PERIOD = SECOND
/** How often the log is told that there still is trouble. */
const REMINDER = MINUTE
/** After how many milliseconds without any answer statements that are under way are taken for a sign of trouble. */
const SUSPICIOUS = 2 * SECOND

interface Outage {
  trouble: Trouble
  readonly since: number
  /** How many statements have failed, and when the log was last told. */
  failures: number
  told: number
}

const words = {
  unreachable: 'unreachable',
  'read-only': 'read-only, nothing can be written',
  full: 'out of disk space, nothing can be written',
} as const satisfies Record<Trouble, string>

/**
 * Watches a database: an outage is logged once when it begins, once a minute, and when it is over, with how many statements
 * failed meanwhile.
 * @param options.ask what is wrong, by asking the database itself; it throws when that does not answer.
 * @param options.refuses whether statements are refused at once while the database is unreachable, for they would only wait.
 * @param options.waiting how many statements are under way. @param options.clock milliseconds of a clock that nobody sets.
 */
export function watchDatabase(options: {
  readonly ask: () => Promise<Trouble | null>
  readonly refuses: boolean
  readonly waiting: () => number
  readonly log: Logger
  readonly clock?: () => number
}): DatabaseHealth {
  const { ask, refuses, waiting, log, clock = () => performance.now() } = options
  let outage: Outage | null = null
  let asking: Promise<Trouble | null> | null = null
  let asked = { at: Number.NEGATIVE_INFINITY, trouble: null as Trouble | null }
  let answeredAt = clock()
  /** How often in a row the database did not answer. */
  let silences = 0
  /** Failures before it is known whether they are an outage. */
  let failures = 0
  let closed = false

  /** What is wrong, asked now; who asks meanwhile gets the same. */
  function askNow(): Promise<Trouble | null> {
    asking ??= answer().finally(() => {
      asking = null
    })
    return asking
  }

  async function answer(): Promise<Trouble | null> {
    const begun = clock()
    let trouble: Trouble | null
    try {
      trouble = await within(PATIENCE, 'The database', ask())
      silences = 0
    } catch (error) {
      trouble = troubleOf(error) ?? 'unreachable'
      silences += 1
      // Others were answered: it is busy, or has no connection to spare.
      if (trouble === 'unreachable' && answeredAt > begun) trouble = null
      else if (trouble === 'unreachable' && silences === 1 && outage === null) setImmediate(suspect)
      else enter(trouble, error)
    }
    asked = { at: clock(), trouble }
    if (trouble === null) leave()
    else if (trouble !== 'unreachable') enter(trouble, null)
    return trouble
  }

  function suspect(): void {
    if (!closed && outage === null) void askNow()
  }

  function enter(trouble: Trouble, error: unknown): void {
    if (closed) return
    if (outage) {
      outage.trouble = trouble
      return
    }
    outage = { trouble, since: clock(), failures, told: clock() }
    log.error({ reason: reasonOf(error) }, `database: ${words[trouble]}; trying again every second`)
  }

  function leave(): void {
    failures = 0
    if (outage === null) return
    const seconds = Math.round((clock() - outage.since) / SECOND)
    log.warn({ failures: outage.failures }, `database: well again after ${seconds} s`)
    outage = null
  }

  function remind(): void {
    if (outage === null || clock() - outage.told < REMINDER) return
    outage.told = clock()
    const minutes = Math.round((clock() - outage.since) / MINUTE)
    log.error({ failures: outage.failures }, `database: ${words[outage.trouble]}, for ${minutes} min`)
  }

  const timer = setInterval(() => {
    remind()
    const isSilent = waiting() > 0 && clock() - answeredAt > SUSPICIOUS && clock() - asked.at > SUSPICIOUS
    if (outage !== null || isSilent) void askNow()
  }, PERIOD).unref()

  return {
    succeeded() {
      answeredAt = clock()
    },
    failed(error) {
      const trouble = troubleOf(error)
      if (trouble === null) {
        answeredAt = clock()
        return
      }
      if (outage) outage.failures += 1
      else failures += 1
      if (trouble !== 'unreachable') enter(trouble, error)
      else suspect()
    },
    refusal() {
      if (!refuses || outage?.trouble !== 'unreachable') return null
      outage.failures += 1
      return new DatabaseUnavailable()
    },
    async check() {
      if (outage) return outage.trouble
      return clock() - asked.at < PERIOD ? asked.trouble : askNow()
    },
    close() {
      closed = true
      clearInterval(timer)
    },
  }
}

/** Why, for the log: the message of the first error that has one. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}
