import type pg from 'pg'

/** What changes by itself: when an objective is looked at again. */
const withoutOwnChanges = (table: string) =>
  table === '"Objective"' ? `(to_jsonb(each) - 'dueAt')::text` : 'each::text'

/** Returns every row of tables that has one of these texts in it, such as the ids of an organization and its things. */
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
