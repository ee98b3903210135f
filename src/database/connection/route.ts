import pg from 'pg'
import { errorCode } from '../../core/error-code.ts'
import { StartError } from '../../core/errors.ts'
import { plainConfig, type ServerConfig, unconnected } from './server-config.ts'

/** How connections reach a server. */
export interface Route {
  /** Whether through a pooler, which may give each transaction another session, and passes on no `options`. */
  readonly isPooled: boolean
  /** What the operator should set because the pooler does not pass it on, for the log; null: nothing. */
  readonly advice: string | null
}

/** The way of connections without a pooler. */
export const DIRECT: Route = { isPooled: false, advice: null }

/** The error code of a pooler that refuses a parameter of the session (PostgreSQL manual, appendix A). */
const PROTOCOL_VIOLATION = '08P01'

/** What a connection shows of the server and of what is between. */
interface Session {
  readonly pid: number
  readonly zone: string
  readonly isUtc: boolean
  readonly role: string
  readonly hasDeadline: boolean
}

/**
 * Returns how connections reach the server of an address.
 * @throws StartError when it cannot be reached, or when its sessions behind a pooler have another time zone than UTC.
 */
export async function routeTo(databaseUrl: string): Promise<Route> {
  const plain = plainConfig(databaseUrl)
  try {
    const direct = await sessionOf({ ...plain, options: '-c statement_timeout=0' }).catch(withoutOptions)
    if (direct?.isDirect) return DIRECT
    const { isUtc, zone, role, hasDeadline } = await sessionOf(plain)
    if (!isUtc) throw new StartError(otherZone(zone, role))
    return { isPooled: true, advice: hasDeadline ? null : withoutDeadline(role) }
  } catch (error) {
    throw error instanceof StartError ? error : unconnected(plain, error)
  }
}

/** Returns null if a pooler refuses `options`. @throws every other error. */
function withoutOptions(error: unknown): null {
  if (errorCode(error) === PROTOCOL_VIOLATION && /unsupported startup parameter/.test(String(error))) return null
  throw error
}

async function sessionOf(config: ServerConfig): Promise<Session & { readonly isDirect: boolean }> {
  const client = new config.Client(config)
  // Without a listener, a connection that is lost meanwhile would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<Session>(
      `SELECT pg_backend_pid() AS pid, current_setting('TimeZone') AS zone, current_user AS role,
         current_setting('statement_timeout') <> '0' AS "hasDeadline",
         (SELECT bool_and(extract(timezone FROM at) = 0)
          FROM unnest('{2026-01-01T00:00Z,2026-07-01T00:00Z}'::timestamptz[]) AS at) AS "isUtc"`,
    )
    const session = rows[0] as Session
    // A pooler announces a process of its own, by which its clients cancel statements.
    return { ...session, isDirect: session.pid === announcedProcess(client) }
  } finally {
    await client.end().catch(() => {})
  }
}

/** The process that the server announced at the start of the session (PostgreSQL manual, "BackendKeyData"). */
const announcedProcess = (client: pg.Client): unknown => (client as { readonly processID?: unknown }).processID

const otherZone = (zone: string, role: string) =>
  `The pooler of the database does not pass on the time zone of sessions, which must be UTC and is ${zone}. Set it for the role: ALTER ROLE ${pg.escapeIdentifier(role)} SET TimeZone TO 'UTC'. Then let the pooler reconnect to the server.`
const withoutDeadline = (role: string) =>
  `the pooler passes on no settings, so single statements have no deadline on the server. Set one for the role: ALTER ROLE ${pg.escapeIdentifier(role)} SET statement_timeout TO '10s'`
