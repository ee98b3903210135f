import { preloadEmbedded } from './database/embedded-thread.ts'

// Before all else: PostgreSQL takes longer to load than the program, and beside it.
if (!process.env['DATABASE_URL']) preloadEmbedded()

const { createLog } = await import('./app/log.ts')
const { readSettings, serve } = await import('./app/serve.ts')
const config = readSettings()
await serve(config, createLog(config.LOG_LEVEL))
