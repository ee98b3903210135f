/**
 * A process that uses a database, for tests of several processes and of crashes: `hold` opens it and keeps it open,
 * `write` adds rows one by one and reports each number after its write. Reports a database that does not open, and
 * ends.
 */
import pino from 'pino'
import { type DatabaseHandle, openDatabase } from '../../src/database/client.ts'

const [task, where = ''] = process.argv.slice(2)
const databaseUrl = where.startsWith('postgresql:') ? where : undefined

try {
  const database = await openDatabase({ dataDir: where, databaseUrl, log: pino({ level: 'silent' }) })
  say('open')
  if (task === 'write') await write(database)
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

async function write({ pool }: DatabaseHandle): Promise<void> {
  await pool.query('CREATE TABLE IF NOT EXISTS written (number int PRIMARY KEY)')
  const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM written')
  for (let number = rows[0]?.count ?? 0; ; number++) {
    await pool.query('INSERT INTO written VALUES ($1)', [number])
    say(String(number))
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
