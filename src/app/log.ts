import type { Logger } from 'pino'
import pino from 'pino'
import { build as pretty } from 'pino-pretty'
import { escapeControls, showControls } from '../core/control-characters.ts'
import { unavailability } from '../database/connection/unavailable.ts'

/** Creates the log of this process: JSON lines, or readable ones on a terminal. */
export function createLog(level: string): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }
  if (!process.stdout.isTTY)
    return pino(
      { ...options, hooks: { ...demoteOutages, streamWrite: escapeControls } },
      logDestination(STANDARD_OUTPUT),
    )
  return pino(
    { ...options, hooks: { ...demoteOutages, streamWrite: showControls } },
    pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true }),
  )
}

const STANDARD_OUTPUT = 1
/** The maximum size of the log kept while it cannot be written, in bytes; the rest is lost. */
const MAX_BUFFERED_BYTES = 256 * 1024

/**
 * Writes log lines synchronously. A line that cannot be written, for example to a full disk, does not block: the
 * library would retry its last line endlessly and hang the process.
 */
export function logDestination(fd: number): pino.DestinationStream {
  const out = pino.destination({ fd, sync: true, maxLength: MAX_BUFFERED_BYTES })
  // The error cannot be reported; the next line retries.
  out.on('error', () => {})
  out.on('drop', () => out.flush())
  out.flushSync = () => {}
  return out
}

/**
 * Lowers messages about a database outage to level `debug`: the database room logs its beginning, its end and the
 * number of failed statements.
 */
export const demoteOutages: NonNullable<pino.LoggerOptions['hooks']> = {
  logMethod(args, method, level) {
    const [about] = args as readonly unknown[]
    const isOutage = typeof about === 'object' && about !== null && 'err' in about && unavailability(about.err) !== null
    if (!isOutage || level <= DEBUG || level >= FATAL) method.apply(this, args)
    else this.debug(...args)
  },
}

const { debug: DEBUG = 20, fatal: FATAL = 60 } = pino.levels.values
