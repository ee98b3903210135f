import { DatabaseUnavailable } from '../../core/errors.ts'

/** Why the database is unavailable: it does not answer, or it refuses writes. */
export type DatabaseProblem = 'unreachable' | 'read-only' | 'full'

/** The messages of pg errors that have no code, for failed, lost and silent connections. */
const lostConnection =
  /^(Query read timeout|Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed and is not queryable|Cannot use a pool after calling end|The embedded database has stopped|read ECONNRESET|write EPIPE)/

/** Node's error codes for failed connections. */
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
 * Prisma's error codes: login refused (P1000, P1010), unreachable (P1001, P1002), no such database (P1003), timed out
 * (P1008), connection closed (P1017), no free connection (P2024), transaction not begun or ended in time (P2028), too
 * many connections (P2037). Also our own code, which Prisma passes on.
 */
const prismaCodes = /^(P1000|P1001|P1002|P1003|P1008|P1010|P1017|P2024|P2028|P2037|UNAVAILABLE)$/

/** The names that Prisma's driver adapter has for these errors. */
const adapterKinds =
  /^(DatabaseNotReachable|SocketTimeout|ConnectionClosed|TooManyConnections|AuthenticationFailed|DatabaseAccessDenied|DatabaseDoesNotExist)$/

/**
 * Returns the problem that an error of pg, Prisma, its adapter or the embedded database reports; null: the database has
 * answered and rejects the statement.
 */
export function problemOf(error: unknown): DatabaseProblem | null {
  if (error instanceof DatabaseUnavailable) return problemOf(error.cause) ?? 'unreachable'
  if (typeof error !== 'object' || error === null) return null
  const { code, message, kind, originalCode, cause, errors, meta } = error as {
    readonly [name in 'code' | 'message' | 'kind' | 'originalCode' | 'cause' | 'errors' | 'meta']?: unknown
  }
  return (
    problemOfState(code) ??
    problemOfState(originalCode) ??
    (isLost({ code, message, kind }) ? 'unreachable' : null) ??
    firstOf([cause, (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError, ...listOf(errors)])
  )
}

function isLost({ code, message, kind }: { code: unknown; message: unknown; kind: unknown }): boolean {
  if (typeof code === 'string' && (networkCodes.has(code) || prismaCodes.test(code))) return true
  if (typeof kind === 'string' && adapterKinds.test(kind)) return true
  return typeof message === 'string' && lostConnection.test(message)
}

/** Returns the problem of a PostgreSQL error code (manual, appendix A). */
function problemOfState(code: unknown): DatabaseProblem | null {
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return null
  if (code === '25006') return 'read-only'
  if (code === '53100') return 'full'
  // Connection failures, refused logins, a database that is gone, insufficient resources, operator intervention
  // (timeouts, shutdowns) and system errors.
  return /^(08|28|3D|53|57|58)/.test(code) ? 'unreachable' : null
}

function firstOf(errors: readonly unknown[]): DatabaseProblem | null {
  for (const error of errors) {
    const trouble = error == null ? null : problemOf(error)
    if (trouble) return trouble
  }
  return null
}

const listOf = (errors: unknown): readonly unknown[] => (Array.isArray(errors) ? errors : [])

/** Converts an error that reports a database problem to `DatabaseUnavailable`; returns others unchanged. */
export function asUnavailable(error: unknown): unknown {
  return error instanceof DatabaseUnavailable || problemOf(error) === null
    ? error
    : new DatabaseUnavailable({ cause: error })
}

/**
 * Returns the `DatabaseUnavailable` behind an unexpected error; null: it is not a database problem. Errors of
 * statements are converted where they occur, so only Prisma's own errors remain. Errors of other network connections do
 * not count.
 */
export function unavailability(error: unknown): DatabaseUnavailable | null {
  if (error instanceof DatabaseUnavailable) return error
  if (!(error instanceof Error)) return null
  if (error.cause instanceof DatabaseUnavailable) return error.cause
  const isPrismas = /^(PrismaClient|DriverAdapterError|TransactionManagerError)/.test(error.name)
  return isPrismas && problemOf(error) !== null ? new DatabaseUnavailable({ cause: error }) : null
}
