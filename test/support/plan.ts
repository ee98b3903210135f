import type pg from 'pg'

/** A node of a plan, as `EXPLAIN (FORMAT JSON)` prints it. */
export interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Returns the number of rows that a node of a plan reads. */
export const rowsOf = (node: Plan) =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']

/**
 * Runs a statement, takes back what it changed, and returns the nodes of its plan.
 * @param without steps to avoid, because the statistics of an empty table depend on earlier tests.
 */
export async function planOf(pool: pg.Pool, text: string, values: unknown[] = [], without: readonly string[] = []) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (const step of without) await client.query(`SET LOCAL enable_${step} = off`)
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    return nodesOf(rows[0]?.['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}
