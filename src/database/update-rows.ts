import type { Database } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { columnOf, inColumns } from './columns.ts'

/** The maximum number of rows per statement. */
const MAX_ROWS = 100

/**
 * Updates many versioned rows with few statements, and increments their versions.
 * @param rows rows with the same fields; `id` identifies the row. Their names are interpolated into SQL, so never pass
 * user input.
 */
export async function updateRows(
  db: Pick<Database, '$queryRaw'>,
  table: string,
  rows: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const name = Prisma.raw(`"${table}"`)
  const fields = Object.keys(first).filter((field) => field !== 'id')
  const columns = fields.map((field) => columnOf(table, field))
  const values = Prisma.raw(columns.map((column) => `"${column}" = given."${column}"`).join(', '))
  for (let start = 0; start < rows.length; start += MAX_ROWS) {
    const json = JSON.stringify(inColumns(table, rows.slice(start, start + MAX_ROWS)))
    await db.$queryRaw`
      UPDATE ${name} AS known SET ${values}, version = known.version + 1
      FROM jsonb_populate_recordset(NULL::${name}, ${json}::jsonb) AS given WHERE known.id = given.id`
  }
}
