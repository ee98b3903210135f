import pg from 'pg'
import { Prisma } from '../generated/prisma/client.ts'

/** The maximum number of prepared statements per connection. */
const MAX_PREPARED = 200

/** The names of prepared statements by text. */
const names = new Map<string, string>()
/** How often all prepared statements were renamed. */
let renamed = 0

/**
 * Returns a statement for `pg`, whose rows have the values that Prisma returns. It has a name, so that each connection
 * parses and plans it only once.
 */
export function prepared({ text, values }: Pick<Prisma.Sql, 'text' | 'values'>): pg.QueryConfig {
  const name = names.get(text) ?? (names.size < MAX_PREPARED ? `${renamed}.${names.size}` : null)
  const statement = { text, values: values.map(asParameter), types }
  if (name === null) return statement
  names.set(text, name)
  return { ...statement, name }
}

/**
 * Runs work. Repeats it if a statement was prepared before a newer version's migration, after which `SELECT *` would
 * return other columns, or in another session, which a pooler has replaced. That statement fails before it has changed
 * anything.
 */
export async function withCurrentPlans<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isPlanLost(error)) throw error
    names.clear()
    renamed += 1
    return run()
  }
}

/** Codes for a prepared statement that does not exist, or exists already (PostgreSQL manual, appendix A). */
const otherSession = new Set<unknown>(['26000', '42P05'])

/** Returns whether an error is that of a prepared statement which another session or another schema has. */
export function isPlanLost(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  // PostgreSQL's `feature_not_supported` has other causes too.
  return otherSession.has(code) || (code === '0A000' && message === 'cached plan must not change result type')
}

/** Returns a parameter with its times in UTC. `pg` would write them in the time zone of the process. */
function asParameter(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace(/^\+0?/, '')
  return Array.isArray(value) ? value.map(asParameter) : value
}

type Parse = (text: string) => unknown

const { builtins, getTypeParser } = pg.types
/** The array types whose items `pg` would read otherwise, and that of texts (PostgreSQL, `pg_type.dat`). */
const arrays = { int8: 1016, numeric: 1231, date: 1182, text: 1009 } as const

const listOf =
  (parse: Parse): Parse =>
  (text) =>
    (getTypeParser(arrays.text as typeof builtins.TEXT)(text) as (string | null)[]).map((item) =>
      item === null ? null : parse(item),
    )

const decimal: Parse = (text) => new Prisma.Decimal(text)
const day: Parse = (text) => new Date(`${text}T00:00:00Z`)

const parsers: Readonly<Record<number, Parse>> = {
  [builtins.INT8]: BigInt,
  [arrays.int8]: listOf(BigInt),
  [builtins.NUMERIC]: decimal,
  [arrays.numeric]: listOf(decimal),
  [builtins.DATE]: day,
  [arrays.date]: listOf(day),
}

/** Reads columns as Prisma does. */
const types = {
  getTypeParser: ((oid: number, format) => parsers[oid] ?? getTypeParser(oid, format)) as typeof getTypeParser,
}
