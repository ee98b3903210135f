import { cachetTable, type Tables, translateCachetTables } from './cachet-tables.ts'
import { type OpenDatabase, readSqlite } from './sqlite.ts'
import type { Drafted } from './translation.ts'

/** The maximum number of rows to read from a table. */
const MAX_ROWS = 50_000

/** Translates a SQLite database of Cachet 2 or 3. @param path the path of a private copy. @throws Unreadable. */
export function translateCachetDatabase(path: string): Drafted {
  return readSqlite(path, 'Stop Cachet before you copy its database.', (database) =>
    translateCachetTables(tablesOf(database)),
  )
}

function tablesOf({ table, tables }: OpenDatabase): Tables {
  const found = tables().flatMap((name) => {
    const known = cachetTable(name)
    return known === null ? [] : [[known, table(name, MAX_ROWS)] as const]
  })
  return new Map(found)
}
