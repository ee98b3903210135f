/**
 * A process that opens the PGlite in PGLITE_DIRECTORY, or creates it, sends a message once it has answered, and keeps
 * running.
 */
import { PGlite } from '@electric-sql/pglite'

const database = await PGlite.create({ dataDir: process.env['PGLITE_DIRECTORY'] })
await database.query('SELECT 1')
process.send?.('open')
process.once('SIGTERM', async () => {
  await database.close()
  process.exit(0)
})
