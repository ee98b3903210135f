import type pg from 'pg'
import type { Logger } from 'pino'
import { MINUTE } from '../time.ts'

/**
 * Does for the embedded database, every five minutes, what background processes do on a server: it has none, and without
 * this its log would grow until it is closed, and so would tables that are updated.
 * @returns what stops it, after waiting for a round under way.
 */
export function keepUp(pool: pg.Pool, log: Logger): () => Promise<void> {
  let round = Promise.resolve()
  const timer = setInterval(() => {
    round = round.then(() => upkeep(pool)).catch((error) => log.error({ err: error }, 'database: upkeep failed'))
  }, 5 * MINUTE).unref()
  return () => {
    clearInterval(timer)
    return round
  }
}

/**
 * Vacuums and analyzes the tables that PostgreSQL's autovacuum would, by the same rules and numbers (PostgreSQL manual,
 * "Automatic Vacuuming"), and then checkpoints, so that the log can be used again.
 */
export async function upkeep(pool: pg.Pool): Promise<void> {
  const due = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', s.schemaname, s.relname) AS name
     FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
     WHERE c.relkind IN ('r', 'm')
       AND (s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
         OR s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
         OR s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
         OR age(c.relfrozenxid) > 200000000)`,
  )
  for (const { name } of due.rows) await pool.query(`VACUUM (ANALYZE) ${name}`)
  await pool.query('CHECKPOINT')
}
