import type { Logger } from 'pino'
import type { Config } from '../core/config.ts'
import { readConfig } from '../core/config.ts'
import { StartError } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { SETUP_PATH } from '../people/setup.ts'
import type { App } from './start.ts'
import { startApp } from './start.ts'

/** A signal that follows the first one within this time is a repetition of it. */
const REPEATED_SIGNAL = SECOND
/** When a stopping process ends, even if something hangs. */
const STOP_TIMEOUT = 10 * SECOND

/** Reads the settings of this process; ends it with a message when they are invalid. */
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
 * Runs the service in this process: prints its addresses, stops in order on SIGTERM and SIGINT, and ends the process
 * with a message when the service cannot start or continue. A signal during the start takes effect once it has started.
 */
export async function serve(config: Config, log: Logger): Promise<App> {
  const starting = startApp({ config, log }).catch(refuseToStart(log))
  let stoppingSince: number | null = null
  const shutDown = async (signal: NodeJS.Signals) => {
    if (stoppingSince !== null) {
      // On Ctrl-C, npm sends the signal a second time.
      if (performance.now() - stoppingSince < REPEATED_SIGNAL) return
      log.error(`app: second ${signal}, exiting immediately`)
      process.exit(1)
    }
    stoppingSince = performance.now()
    log.info(`app: ${signal}, stopping`)
    setTimeout(() => {
      log.error('app: did not stop in time, exiting immediately')
      process.exit(1)
    }, STOP_TIMEOUT)
    const cut = await starting.then((app) => app.close())
    if (cut.length === 0) log.info('app: stopped')
    else log.error(`app: stopped, but these did not finish: ${cut.join(', ')}`)
    process.exit(cut.length === 0 ? 0 : 1)
  }
  // Registered before the first `await`: anyone who reads that the service is ready may stop it at once, and the first
  // process of a container ignores signals without a handler.
  process.on('SIGTERM', shutDown)
  process.on('SIGINT', shutDown)
  const app = await starting
  if (stoppingSince === null) announce(app, config, log)
  void app.failure.then((error) => {
    log.fatal({ err: error }, 'app: cannot continue')
    process.exit(1)
  })
  return app
}

/** Ends the process and logs why it could not start. */
export function refuseToStart(log: Logger): (error: unknown) => never {
  return (error) => {
    if (error instanceof StartError) log.fatal(`app: cannot start: ${error.message}`)
    else log.fatal({ err: error }, 'app: cannot start')
    process.exit(1)
  }
}

/** Logs the addresses. Prints the link of the setup and a new operator's token, because logs are kept. */
function announce({ baseUrl, newOperatorToken, setupToken }: App, { ROLE }: Config, log: Logger): void {
  log.info(
    ROLE === 'worker'
      ? `ready: open ${baseUrl}/readyz (health), ${baseUrl}/metrics; a worker serves nothing else`
      : `ready: open ${baseUrl}, ${baseUrl}/docs (documentation), ${baseUrl}/graphql (GraphiQL)`,
  )
  if (setupToken !== null)
    process.stdout.write(
      `\n  Open this link to set up Allclear; it works once:\n\n  ${baseUrl}${SETUP_PATH}?token=${setupToken}\n`,
    )
  if (newOperatorToken === null) return
  process.stdout.write(`\n  The operator's token for the API, shown only once:\n\n  ${newOperatorToken}\n\n`)
}
