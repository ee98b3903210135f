import type pg from 'pg'

/** Leaves out the only value that changes without a request: when an objective is evaluated next. */
const withoutOwnChanges = (table: string) =>
  table === '"Objective"' ? `(to_jsonb(each) - 'dueAt')::text` : 'each::text'

/**
 * Returns every row of the tables that contains one of these texts, such as the ids of an organization and its objects.
 */
export async function rowsNaming(
  pool: pg.Pool,
  tables: readonly string[],
  texts: readonly string[],
): Promise<object[]> {
  const found = tables.map(
    (table) => `SELECT '${table}' AS table, ${withoutOwnChanges(table)} AS row FROM ${table} each`,
  )
  const { rows } = await pool.query(
    `SELECT * FROM (${found.join(' UNION ALL ')}) AS found WHERE row LIKE ANY ($1) ORDER BY 1, 2`,
    [texts.filter((text) => text !== '').map((text) => `%${text}%`)],
  )
  return rows
}

/** Returns all rows of all tables as text, by table. */
export async function contentOf({ pool }: { readonly pool: pg.Pool }): Promise<Record<string, string[]>> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> '_prisma_migrations' ORDER BY 1`,
  )
  const content: Record<string, string[]> = {}
  for (const { name } of rows) {
    const found = await pool.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t ORDER BY 1`)
    content[name] = found.rows.map(({ row }) => row)
  }
  return content
}
