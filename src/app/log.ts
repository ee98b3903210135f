import type { Logger } from 'pino'
import pino from 'pino'
import { build as pretty } from 'pino-pretty'
import { escapeControls, showControls } from '../core/control-characters.ts'
import type { Clock } from '../core/time.ts'
import { MINUTE } from '../core/time.ts'
import { unavailability } from '../database/connection/unavailable.ts'
import { loggedError, shortLine } from './log-line.ts'
import { createRepeatedLines } from './repeated-lines.ts'

/** Creates the log of this process: JSON lines, or readable ones on a terminal. */
export function createLog(level: string): Logger {
  const { isTTY } = process.stdout
  const output = isTTY
    ? pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true })
    : logDestination(STANDARD_OUTPUT)
  const { log, report } = createBoundedLog({
    level,
    escaped: isTTY ? showControls : escapeControls,
    write: (line) => void output.write(line),
    now: () => new Date(),
  })
  setInterval(report, MINUTE).unref()
  process.once('exit', report)
  return log
}

/**
 * Creates a log whose lines have at most 2 KiB, and which counts repeated lines instead of writing all of them.
 * `report` writes the counts; call it once a minute.
 */
export function createBoundedLog({
  level,
  escaped,
  write,
  now,
}: {
  readonly level: string
  /** Escapes the control characters of a line. */
  readonly escaped: (line: string) => string
  readonly write: (line: string) => void
  readonly now: Clock
}): { readonly log: Logger; readonly report: () => void } {
  const lines = createRepeatedLines((line) => write(shortLine(line, escaped)), now)
  const options: pino.LoggerOptions = {
    level,
    base: undefined,
    timestamp: () => `,"time":"${now().toISOString()}"`,
    hooks: demoteOutages,
    serializers: { err: loggedError },
  }
  return { log: pino(options, { write: lines.write }), report: lines.report }
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
