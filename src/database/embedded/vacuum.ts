import type pg from 'pg'
import type { Logger } from 'pino'
import { MINUTE } from '../../core/time.ts'

/**
 * Vacuums the embedded database every five minutes. It has no background processes, so its write-ahead log and updated
 * tables would otherwise grow.
 * @returns a function that stops this after the current run.
 */
export function startVacuum(pool: pg.Pool, log: Logger): () => Promise<void> {
  let run = Promise.resolve()
  const timer = setInterval(() => {
    run = run.then(() => vacuum(pool)).catch((error) => log.error({ err: error }, 'database: vacuum failed'))
  }, 5 * MINUTE).unref()
  return () => {
    clearInterval(timer)
    return run
  }
}

/**
 * Vacuums and analyzes the tables that autovacuum would process, with its default thresholds (PostgreSQL manual,
 * "Automatic Vacuuming"). Then writes a checkpoint, so that the write-ahead log can be reused.
 */
export async function vacuum(pool: pg.Pool): Promise<void> {
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
