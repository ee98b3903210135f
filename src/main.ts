import { createLog } from './log.ts'
import { readSettings, serve } from './serve.ts'

const config = readSettings()
await serve(config, createLog(config.LOG_LEVEL))
