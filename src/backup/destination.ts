import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { StartError } from '../core/errors.ts'
import { KEY_FILE } from '../core/process/private-directory.ts'
import { MOVE_MARK } from '../database/migration/migrate.ts'

/*
 * The destination of a restore or a move. Either can be killed at any moment: before its last step, no service starts on the
 * destination, and running the command again starts over. The last step renames a directory, or drops the table `MOVE_MARK` of a
 * server's database. The secret key is written right before it.
 */

/** Reads the secret key in a data directory. Returns null if there is no file. */
export async function readKey(dataDir: string): Promise<string | null> {
  return readFile(join(dataDir, KEY_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new StartError(`${join(dataDir, KEY_FILE)} cannot be read: ${error.message}`, { cause: error })
  })
}

/**
 * Requires that a key can be written to a data directory. The same key may exist already, from an interrupted run.
 * @throws StartError if the directory holds another key.
 */
export async function requireRoomForKey(dataDir: string, key: string | null): Promise<void> {
  const existing = await readKey(dataDir)
  if (existing === null || existing === key) return
  throw new StartError(
    `${join(dataDir, KEY_FILE)} is the key of other data. Set DATA_DIR to an empty directory, or move that file away.`,
  )
}

/** Writes the secret key to a data directory. @throws StartError like `requireRoomForKey`. */
export async function writeKey(dataDir: string, key: string): Promise<void> {
  await requireRoomForKey(dataDir, key)
  await writeFile(join(dataDir, KEY_FILE), key, { mode: 0o600, flush: true })
}

/**
 * Fills an empty database of a server. First empties a database that an interrupted restore or move left unfinished.
 * @throws StartError if the database has other tables, or another restore or move is filling it.
 */
export async function fillServer<T>(to: pg.ClientBase, fill: () => Promise<T>): Promise<T> {
  await requireAlone(to)
  await clearUnfinished(to)
  await requireEmpty(to)
  await to.query(`CREATE TABLE "${MOVE_MARK}" ()`)
  const filled = await fill()
  await to.query(`DROP TABLE "${MOVE_MARK}"`)
  return filled
}

/** The key of the advisory lock of a restore or a move. The lock ends with the connection. */
const FILL_LOCK = 7_234_117_003

async function requireAlone(to: pg.ClientBase): Promise<void> {
  const { rows } = await to.query<{ isOnly: boolean }>('SELECT pg_try_advisory_lock($1) AS "isOnly"', [FILL_LOCK])
  if (rows[0]?.isOnly !== true) throw new StartError('Another restore or move into this database is running.')
}

async function clearUnfinished(to: pg.ClientBase): Promise<void> {
  const { rows } = await to.query<{ isMarked: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "isMarked"', [
    `"${MOVE_MARK}"`,
  ])
  if (rows[0]?.isMarked !== true) return
  await to.query('BEGIN')
  await to.query(`
    DO $$ DECLARE each record; BEGIN
      FOR each IN SELECT oid::regclass AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      LOOP EXECUTE 'DROP TABLE IF EXISTS ' || each.name || ' CASCADE'; END LOOP;
      FOR each IN SELECT oid::regtype AS name FROM pg_type
        WHERE typnamespace = current_schema()::regnamespace AND typtype = 'e'
      LOOP EXECUTE 'DROP TYPE IF EXISTS ' || each.name || ' CASCADE'; END LOOP;
      FOR each IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
      LOOP EXECUTE 'DROP ROUTINE IF EXISTS ' || each.name || ' CASCADE'; END LOOP;
    END $$`)
  await to.query('COMMIT')
}

async function requireEmpty(to: pg.ClientBase): Promise<void> {
  const { rows } = await to.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') LIMIT 1`,
  )
  const [table] = rows
  if (table === undefined) return
  throw new StartError(`The database already has tables, such as "${table.name}". Use an empty one (createdb).`)
}
