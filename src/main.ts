import type { App } from './app.ts'
import { startApp } from './app.ts'
import type { Config } from './config.ts'
import { readConfig } from './config.ts'
import { StartError } from './errors.ts'
import { createLog } from './log.ts'

const config = readSettings()
const log = createLog(config.LOG_LEVEL)
const app = await startApp({ config, log }).catch(refuseToStart)
announce(app)

let stopping = false
process.on('SIGTERM', shutDown)
process.on('SIGINT', shutDown)
void app.failure.then((error) => {
  log.fatal({ err: error }, 'app: cannot go on')
  process.exit(1)
})

/** Told without the log, which the settings set up. */
function readSettings(): Config {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    process.stderr.write(`Allclear cannot start with these settings:\n${error.message}\n`)
    return process.exit(1)
  }
}

function refuseToStart(error: unknown): never {
  if (error instanceof StartError) log.fatal(`app: cannot start: ${error.message}`)
  else log.fatal({ err: error }, 'app: cannot start')
  process.exit(1)
}

/** The addresses to open, and the operator's token when it was just made: printed, not logged, for logs are kept. */
function announce({ baseUrl, newOperatorToken }: App): void {
  log.info(`ready: open ${baseUrl} (checks), ${baseUrl}/graphql (GraphiQL), ${baseUrl}/docs (REST)`)
  if (newOperatorToken === null) return
  process.stdout.write(`\n  The operator's token, shown this once:\n\n  ${newOperatorToken}\n\n`)
}

/** Once: on Ctrl-C npm sends the signal a second time, and what is running has its time limit anyway. */
async function shutDown(signal: NodeJS.Signals): Promise<void> {
  if (stopping) return
  stopping = true
  log.info(`app: ${signal}, stopping`)
  await app.close()
  log.info('app: stopped')
  process.exit(0)
}
