import type pg from 'pg'
import type { Logger } from 'pino'
import { startPollLoop } from '../core/concurrency/poll-loop.ts'
import { type Clock, SECOND } from '../core/time.ts'

/**
 * The clock of the database server, as every instance reads it. An instance whose own clock is wrong would otherwise
 * write due times and leases that hold work back, or take work from others before their leases end.
 */
export interface DatabaseClock {
  readonly now: Clock
  /** Reads the clock of the server again. @throws when the server does not answer. */
  sync(): Promise<void>
  stop(): Promise<void>
}

/** The interval of readings. In between, the monotonic clock counts on, which nobody sets. */
const PERIOD = 20 * SECOND
/** The difference between both clocks that is logged: a message that expires within seconds depends on less. */
const MAX_SKEW = 2 * SECOND
/** How far this machine’s clocks may drift apart before the server is asked again: it slept, or its time was set. */
const MAX_DRIFT = SECOND

/** The time of the server at a moment of the monotonic clock, and this machine’s time at that moment. */
interface Reading {
  readonly server: number
  readonly system: number
  readonly monotonic: number
}

/**
 * Reads the clock of a database server, now and every twenty seconds.
 * @param parts.system this machine’s clock, which may be wrong. @param parts.monotonic counts milliseconds.
 * @throws when the server does not answer.
 */
export async function startDatabaseClock(parts: {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly log: Logger
  readonly system: Clock
  readonly monotonic?: () => number
}): Promise<DatabaseClock> {
  const { pool, log, system, monotonic = () => performance.now() } = parts
  let reading = (await read()).reading
  let isOff = false
  let syncing: Promise<void> | null = null
  report()

  async function read(): Promise<{ reading: Reading; uncertainty: number }> {
    const asked = monotonic()
    const { rows } = await pool.query<{ at: Date }>('SELECT clock_timestamp() AS at')
    const answered = monotonic()
    // The server read its clock at some time in between.
    const uncertainty = (answered - asked) / 2
    const server = (rows[0]?.at.getTime() ?? Number.NaN) + uncertainty
    return { reading: { server, system: system().getTime(), monotonic: answered }, uncertainty }
  }

  const expected = () => reading.server + (monotonic() - reading.monotonic)

  async function readAgain(): Promise<void> {
    const { reading: latest, uncertainty } = await read()
    const difference = latest.server - (reading.server + latest.monotonic - reading.monotonic)
    // A slow answer says less than the previous reading, unless both contradict each other.
    reading = Math.abs(difference) > uncertainty ? latest : { ...latest, server: latest.server - difference }
    report()
  }

  function sync(): Promise<void> {
    syncing ??= readAgain().finally(() => {
      syncing = null
    })
    return syncing
  }

  function syncOrLog(): Promise<void> {
    return sync().catch((error: unknown) =>
      log.debug({ err: error }, 'database: could not read its clock; counting on from the last reading'),
    )
  }

  function report(): void {
    const seconds = Math.round((reading.system - reading.server) / SECOND)
    const wasOff = isOff
    isOff = Math.abs(reading.system - reading.server) > MAX_SKEW
    if (isOff && !wasOff) {
      const direction = seconds > 0 ? 'ahead of' : 'behind'
      log.warn(`database: this machine’s clock is ${Math.abs(seconds)} s ${direction} the server’s, which counts`)
    } else if (wasOff && !isOff) log.info('database: this machine’s clock agrees with the server’s again')
  }

  const loop = startPollLoop(() => syncOrLog().then(() => PERIOD), {
    retryMs: PERIOD,
    log,
    failureMessage: 'database: could not read its clock',
  })

  return {
    now() {
      const at = expected()
      const drift = system().getTime() - reading.system - (monotonic() - reading.monotonic)
      if (Math.abs(drift) > MAX_DRIFT) void syncOrLog()
      return new Date(at)
    },
    sync,
    stop: () => loop.stop(),
  }
}
