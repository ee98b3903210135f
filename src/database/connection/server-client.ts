import pg from 'pg'

/** What @types/pg lacks: the parameters with which a client opens its session. */
type Startup = new (config?: string | pg.ClientConfig) => pg.Client & { getStartupConf(): Record<string, string> }

const Client = pg.Client as unknown as Startup

/**
 * A client of a PostgreSQL server in sessions with the time zone UTC, because the Prisma adapter reads times without an
 * offset as UTC. The zone is a parameter of its own: PgBouncer keeps that for each client, in every pool mode, but
 * refuses or ignores `options` (pgbouncer.org/config.html, `ignore_startup_parameters`).
 */
export class ServerClient extends Client {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC' }
  }
}

/** Settings of PostgreSQL by name. */
export type ServerSettings = Readonly<Record<string, number>>

/**
 * Returns the class of clients for a pooler that may give each transaction another session. Statements have no names,
 * because the next session would not know them. Each transaction begins with its settings.
 */
export function pooledClient(settings: ServerSettings): typeof ServerClient {
  const local = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${value}`)
  const begin = ['BEGIN', ...local].join('; ')
  return class PooledClient extends ServerClient {
    // The overloads of pg's method differ in what they return, not in what becomes of the statement.
    override query(statement: unknown, ...rest: unknown[]): never {
      return super.query(...([asPooled(statement, begin), ...rest] as Parameters<pg.Client['query']>)) as never
    }
  }
}

function asPooled(statement: unknown, begin: string): unknown {
  if (statement === 'BEGIN') return begin
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement
  // Not a copy: pg writes to a statement that is a query of its own, and Prisma's has getters.
  if (statement.text === 'BEGIN') return Object.assign(Object.create(statement), { text: begin, values: undefined })
  return 'name' in statement && statement.name !== undefined
    ? Object.assign(Object.create(statement), { name: undefined })
    : statement
}
