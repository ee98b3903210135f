import type { Logger } from 'pino'
import pino from 'pino'
import { build as pretty } from 'pino-pretty'

/** The process's log: JSON lines, or readable ones on a terminal. */
export function createLog(level: string): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }
  if (!process.stdout.isTTY) return pino(options)
  return pino(options, pretty({ translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true }))
}
