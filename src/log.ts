import type { Logger } from 'pino'
import pino from 'pino'
import { build as pretty } from 'pino-pretty'
import { unavailability } from './database/unavailable.ts'

/** The process's log: JSON lines, or readable ones on a terminal. */
export function createLog(level: string): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, hooks: quietOutages }
  if (!process.stdout.isTTY) return pino(options)
  return pino(options, pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true }))
}

/**
 * Moves what parts of the service say of an outage of the database to level `debug`: the database itself logs when it begins
 * and ends, and how many statements failed meanwhile.
 */
export const quietOutages: NonNullable<pino.LoggerOptions['hooks']> = {
  logMethod(args, method, level) {
    const [about] = args as readonly unknown[]
    const isOutage = typeof about === 'object' && about !== null && 'err' in about && unavailability(about.err) !== null
    if (!isOutage || level <= DEBUG || level >= FATAL) method.apply(this, args)
    else this.debug(...args)
  },
}

const { debug: DEBUG = 20, fatal: FATAL = 60 } = pino.levels.values
