import type { Logger } from 'pino'
import type { App } from './app.ts'
import { startApp } from './app.ts'
import type { Config } from './config.ts'
import { readConfig } from './config.ts'
import { StartError } from './errors.ts'

/** The settings of this process; it ends, saying why, when they cannot be used. */
export function readSettings(): Config {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    process.stderr.write(`Allclear cannot start with these settings:\n${error.message}\n`)
    return process.exit(1)
  }
}

/**
 * Runs the service as this process: says what to open, stops in order at SIGTERM and SIGINT, and ends the process, saying
 * why, when the service cannot start or go on.
 */
export async function serve(config: Config, log: Logger): Promise<App> {
  const app = await startApp({ config, log }).catch(refuseToStart(log))
  announce(app, config, log)
  let stopping = false
  // Once: on Ctrl-C npm sends the signal a second time, and what is running has its time limit anyway.
  const shutDown = async (signal: NodeJS.Signals) => {
    if (stopping) return
    stopping = true
    log.info(`app: ${signal}, stopping`)
    await app.close()
    log.info('app: stopped')
    process.exit(0)
  }
  process.on('SIGTERM', shutDown)
  process.on('SIGINT', shutDown)
  void app.failure.then((error) => {
    log.fatal({ err: error }, 'app: cannot go on')
    process.exit(1)
  })
  return app
}

/** Ends the process, saying why it could not start. */
export function refuseToStart(log: Logger): (error: unknown) => never {
  return (error) => {
    if (error instanceof StartError) log.fatal(`app: cannot start: ${error.message}`)
    else log.fatal({ err: error }, 'app: cannot start')
    process.exit(1)
  }
}

/** The addresses to open, and the operator's token when it was just made: printed, not logged, for logs are kept. */
function announce({ baseUrl, newOperatorToken }: App, { ROLE }: Config, log: Logger): void {
  log.info(
    ROLE === 'worker'
      ? `ready: open ${baseUrl}/readyz (health), ${baseUrl}/metrics; a worker serves nothing else`
      : `ready: open ${baseUrl} (checks), ${baseUrl}/graphql (GraphiQL), ${baseUrl}/docs (REST)`,
  )
  if (newOperatorToken === null) return
  process.stdout.write(`\n  The operator's token, shown this once:\n\n  ${newOperatorToken}\n\n`)
}
