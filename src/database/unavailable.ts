import { DatabaseUnavailable } from '../errors.ts'

/** Why the database cannot do its work: nothing answers, or it refuses to write. */
export type Trouble = 'unreachable' | 'read-only' | 'full'

/** What pg says, without a code, of connections that could not be made, are lost, or do not answer. */
const lostConnection =
  /^(Query read timeout|Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable|Cannot use a pool after calling end|The embedded database has stopped|read ECONNRESET|write EPIPE)/

/** Codes of Node's for connections that fail. */
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
])

/**
 * Prisma's: unreachable (P1001, P1002), timed out (P1008), connection closed (P1017), no connection free (P2024), a
 * transaction that did not begin or end in time (P2028), too many connections (P2037); and ours, which it passes on.
 */
const prismaCodes = /^(P1001|P1002|P1008|P1017|P2024|P2028|P2037|UNAVAILABLE)$/

/** What Prisma's driver adapter calls the same. */
const adapterKinds = /^(DatabaseNotReachable|SocketTimeout|ConnectionClosed|TooManyConnections)$/

/**
 * The trouble that an error of the database tells of, whether pg, Prisma, its adapter or the embedded database says it;
 * null: the database has answered, and refuses the statement for what it is.
 */
export function troubleOf(error: unknown): Trouble | null {
  if (error instanceof DatabaseUnavailable) return troubleOf(error.cause) ?? 'unreachable'
  if (typeof error !== 'object' || error === null) return null
  const { code, message, kind, originalCode, cause, errors, meta } = error as {
    readonly [name in 'code' | 'message' | 'kind' | 'originalCode' | 'cause' | 'errors' | 'meta']?: unknown
  }
  return (
    ofState(code) ??
    ofState(originalCode) ??
    (isLost({ code, message, kind }) ? 'unreachable' : null) ??
    firstOf([cause, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError, ...listOf(errors)])
  )
}

function isLost({ code, message, kind }: { code: unknown; message: unknown; kind: unknown }): boolean {
  if (typeof code === 'string' && (networkCodes.has(code) || prismaCodes.test(code))) return true
  if (typeof kind === 'string' && adapterKinds.test(kind)) return true
  return typeof message === 'string' && lostConnection.test(message)
}

/** By PostgreSQL's code of an error (manual, appendix A). */
function ofState(code: unknown): Trouble | null {
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return null
  if (code === '25006') return 'read-only'
  if (code === '53100') return 'full'
  // Connections, lack of means, a deadline that has passed, a server that stops or starts, failures of its disk.
  return /^(08|53|57|58)/.test(code) ? 'unreachable' : null
}

function firstOf(errors: readonly unknown[]): Trouble | null {
  for (const error of errors) {
    const trouble = error == null ? null : troubleOf(error)
    if (trouble) return trouble
  }
  return null
}

const listOf = (errors: unknown): readonly unknown[] => (Array.isArray(errors) ? errors : [])

/** An error of a statement or a connection, as `DatabaseUnavailable` where it tells of trouble. */
export function translated(error: unknown): unknown {
  return error instanceof DatabaseUnavailable || troubleOf(error) === null
    ? error
    : new DatabaseUnavailable({ cause: error })
}

/**
 * What a door answers an unexpected error with when it is the database's; null: it is not. Errors of statements are
 * translated where they occur; what is left are Prisma's own. Errors of other connections are none of the database's.
 */
export function unavailability(error: unknown): DatabaseUnavailable | null {
  if (error instanceof DatabaseUnavailable) return error
  if (!(error instanceof Error)) return null
  if (error.cause instanceof DatabaseUnavailable) return error.cause
  const isPrismas = /^(PrismaClient|DriverAdapterError|TransactionManagerError)/.test(error.name)
  return isPrismas && troubleOf(error) !== null ? new DatabaseUnavailable({ cause: error }) : null
}
