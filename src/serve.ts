import type { Logger } from 'pino'
import type { App } from './app.ts'
import { startApp } from './app.ts'
import type { Config } from './config.ts'
import { readConfig } from './config.ts'
import { StartError } from './errors.ts'
import { SECOND } from './time.ts'

/** A signal that comes so soon after the first, in milliseconds, is the same one. */
const REPEATED = SECOND
/** When a process ends that is told to stop, whatever hangs. */
const LONGEST_STOP = 10 * SECOND

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
  let stoppingSince: number | null = null
  const shutDown = async (signal: NodeJS.Signals) => {
    if (stoppingSince !== null) {
      // On Ctrl-C npm sends the signal a second time.
      if (performance.now() - stoppingSince < REPEATED) return
      log.error(`app: ${signal} again, ending at once`)
      process.exit(1)
    }
    stoppingSince = performance.now()
    log.info(`app: ${signal}, stopping`)
    setTimeout(() => {
      log.error('app: did not stop in time, ending at once')
      process.exit(1)
    }, LONGEST_STOP)
    const cut = await app.close()
    if (cut.length === 0) log.info('app: stopped')
    else log.error(`app: stopped, and cut what did not end: ${cut.join(', ')}`)
    process.exit(cut.length === 0 ? 0 : 1)
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
