import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { createOperatorToken } from '../account/operator.ts'
import { countPermitted, readPrivateTargets } from '../account/private-targets/permission.ts'
import { serveChanges } from '../backup/change-feed.ts'
import { serveSnapshots } from '../backup/snapshot.ts'
import type { Blacklist } from '../blacklist/list.ts'
import { blacklists } from '../blacklist/list.ts'
import { closeYamlProcess } from '../configuration/yaml-process.ts'
import type { Config } from '../core/config.ts'
import { closeRendering } from '../core/markdown/markdown-rendering.ts'
import { restrictDirectory } from '../core/process/private-directory.ts'
import { openTracer } from '../core/telemetry/tracing.ts'
import type { Clock } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { openDatabase } from '../database/client.ts'
import { traceStatements } from '../database/connection/statement-spans.ts'
import { startDatabaseClock } from '../database/database-clock.ts'
import { createDiagnosis } from '../diagnosis/diagnosis.ts'
import { callerOf } from '../http/request/caller.ts'
import { strictTransportFor } from '../http/request/own-host.ts'
import { createHttpServer } from '../http/server.ts'
import { closeImportProcess } from '../import/import-process.ts'
import { removeLeftCopies } from '../import/private-copy.ts'
import { closeJsonThread } from '../monitoring/probe/json-thread.ts'
import { startMonitoring } from '../monitoring/schedule/start-monitoring.ts'
import { createAccountMail } from '../notification/mail/account-mail.ts'
import { readMailState } from '../notification/mail/mail-state.ts'
import { closePasskeyThread } from '../people/credential/passkey-thread.ts'
import { createSetupToken } from '../people/setup.ts'
import { createAdvisoryHealth } from './advisory-health.ts'
import { startBackground } from './background.ts'
import { createParts } from './parts.ts'
import { connectPorts } from './ports.ts'
import { checkStartable } from './preflight.ts'
import type { Progress } from './readiness.ts'
import { createReadiness } from './readiness.ts'
import { metricsRouter, workerRouter } from './router.ts'
import { createHostCheck } from './served-hosts.ts'
import { startStandby } from './standby.ts'
import type { Closers } from './stop.ts'
import { closeAll, REQUEST_GRACE } from './stop.ts'
import type { LoadedWeb, WebOptions } from './web.ts'
import { loadWeb, openWeb } from './web.ts'

/** The running service. */
export interface App {
  /** The public address, without a trailing slash. */
  readonly baseUrl: string
  /** The operator's token, if this start created it; it is shown once and not stored. */
  readonly newOperatorToken: string | null
  /** The token of the setup page, as long as no one has an account; null: none is needed. */
  readonly setupToken: string | null
  /** Resolves with the reason when the service cannot continue. */
  readonly failure: Promise<Error>
  /**
   * Stops accepting requests, lets the current ones finish for some seconds, and closes everything within ten. Returns
   * the names of the parts that had to be cut.
   */
  close(): Promise<readonly string[]>
}

export interface AppOptions {
  readonly config: Config
  readonly log: Logger
  /** The clock; absent: that of the database server, or of this machine for the embedded database. */
  readonly now?: Clock
  /** Lists to query instead of those that the settings select. */
  readonly lists?: readonly Blacklist[]
  /** Opens the database instead of `openDatabase`; the service closes it. */
  readonly openDatabase?: typeof openDatabase
}

/**
 * Starts the service and connects all its parts.
 * @throws when a part cannot start, after stopping those that had started.
 */
export async function startApp(options: AppOptions): Promise<App> {
  connectPorts()
  const { config, log, now = null } = options
  const closers: Closers = []
  let stopped: Promise<readonly string[]> | undefined
  const stop = () => {
    stopped ??= closeAll(closers.splice(0), log)
    return stopped
  }
  try {
    return await compose(
      {
        config,
        log,
        now,
        lists: options.lists ?? blacklists(config.SPAMHAUS_DQS_KEY),
        openDatabase: options.openDatabase ?? openDatabase,
      },
      closers,
      stop,
    )
  } catch (error) {
    await stop()
    throw error
  }
}

/** The options with their defaults. */
type Options = Required<Omit<AppOptions, 'now'>> & { readonly now: Clock | null }

async function compose(options: Options, closers: Closers, stop: () => Promise<readonly string[]>): Promise<App> {
  const { config, log } = options
  const { database, loaded, tracer } = await openStorage(options, closers)
  const now = options.now ?? (await clockOf(database, log, closers))
  const parts = await createParts({ ...options, now, database, tracer }, closers)
  const { ctx, seal, checker, geo, site, mailer, billing, tools, usage, backups, configurationFile } = parts
  const { privateTargets, metrics, agenda } = parts
  const newOperatorToken = await createOperatorToken(ctx)
  const setupToken = config.ROLE === 'worker' ? null : await createSetupToken(ctx)
  const monitoring = await startMonitoring({ ctx, database, seal, tools, metrics, agenda })
  closers.push(function monitors() {
    return monitoring.close()
  })
  const progress: Progress = { background: null, isStopping: false }
  const region = config.ROLE === 'web' ? null : config.REGION
  const advisoryHealth = createAdvisoryHealth({ mailer, checker, pool: database.pool, region, now })
  const readiness = createReadiness({
    serves: config.ROLE !== 'worker',
    progress,
    database,
    monitoring,
    advisoryHealth,
    backups,
    configurationFile,
  })
  const dependencies = {
    config,
    db: ctx.db,
    now,
    log,
    checker,
    seal,
    sendMail: mailer === null ? undefined : createAccountMail({ now, log }, mailer),
    mailer,
    usage,
    tools,
    privateTargets,
    billing,
    backups,
    configurationFile,
    diagnosis: createDiagnosis({
      config,
      database,
      checker,
      readMailRefusal: async () => (await readMailState(ctx)).refusal,
      readPrivateTargets: async () => ({
        ...(await readPrivateTargets(ctx, null)),
        organizations: await countPermitted(ctx),
      }),
      readiness,
      site,
      now: options.now ?? machineClock,
      log,
    }),
    ...monitoring.parts,
  }
  const serving = { dependencies, site, database, metrics, heartbeats: monitoring.parts, readiness, tracer }
  const port = await startServing(serving, loaded, closers)
  site.baseUrl ||= `http://localhost:${port}`
  await monitoring.startReceiving()
  monitoring.startProbing()
  // Only now: compiling it at the first start keeps a processor busy for seconds.
  void geo.load()
  const outside = { outbound: tools.outbound, dns: tools.dns }
  if (config.ROLE !== 'web') {
    progress.background = await startBackground({ ...parts, ...outside, database, retention: config }, closers)
    agenda.start()
    closers.push(function dueWork() {
      return agenda.stop()
    })
  }
  closers.push(startStandby({ ...parts, ...outside, database }))
  log.info(`http: listening on ${config.HOST} port ${port}`)

  return {
    baseUrl: site.baseUrl,
    newOperatorToken,
    setupToken,
    failure: database.failure,
    close: () => {
      progress.isStopping = true
      return stop()
    },
  }
}

/** The clock of this machine. */
const machineClock: Clock = () => new Date()

/**
 * Returns the clock that all due times and leases are written and compared with. Instances that share a server share its
 * clock, because one whose own clock is wrong would hold work back for all.
 */
async function clockOf({ kind, pool }: DatabaseHandle, log: Logger, closers: Closers): Promise<Clock> {
  if (kind === 'embedded') return machineClock
  const clock = await startDatabaseClock({ pool, log, system: machineClock })
  closers.push(function databaseClock() {
    return clock.stop()
  })
  return clock.now
}

/** Opens the database, while the parts of the web server load that need none; null in a worker. */
async function openStorage({ config, log, openDatabase: open }: Options, closers: Closers) {
  await checkStartable(config)
  await restrictDirectory(config.DATA_DIR)
  closers.push(closeRendering, closeJsonThread, closePasskeyThread, closeYamlProcess, closeImportProcess)
  await removeLeftCopies().catch((error: unknown) => log.warn({ err: error }, 'import: could not remove left copies'))
  const tracer = await openTracer(config, log)
  if (tracer) closers.push(tracer.close, traceStatements(tracer))
  const opening = open({
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL,
    directUrl: config.DATABASE_DIRECT_URL,
    connections: config.DATABASE_CONNECTIONS,
    log,
  })
  // A failed opening needs no closing; the next line reports it.
  closers.push(function database() {
    return opening.then(
      (opened) => opened.close(),
      () => {},
    )
  })
  const [database, loaded] = await Promise.all([opening, config.ROLE === 'worker' ? null : loadWeb()])
  if (database.kind === 'embedded') {
    closers.push(await serveSnapshots(config.DATA_DIR, database.pool, log))
    closers.push(await serveChanges(config.DATA_DIR, database.pool, log))
  }
  return { database, loaded, tracer }
}

/** Starts the HTTP server, and that of metrics if they have a port of their own. Returns the port of the first. */
async function startServing(
  serving: Omit<WebOptions, 'loaded'>,
  loaded: LoadedWeb | null,
  closers: Closers,
): Promise<number> {
  const { dependencies, tracer } = serving
  const { config, log } = dependencies
  const web = loaded && (await openWeb({ ...serving, loaded }, closers))
  const ofWorker = {
    graphql: null,
    websocket: null,
    callerOf: (request: IncomingMessage) => callerOf(request, dependencies),
    isServed: createHostCheck(config, null),
  }
  const strict = { strictTransportFor: (request: IncomingMessage) => strictTransportFor(request, config) }
  const server = createHttpServer({
    ...(web?.handlers ?? { router: workerRouter(serving), ...ofWorker }),
    ...strict,
    tracer,
  })
  if (config.METRICS_PORT !== undefined) {
    const operations = createHttpServer({ router: metricsRouter(serving), ...ofWorker })
    const metricsPort = await operations.listen(config.METRICS_PORT, config.HOST)
    closers.push(function metrics() {
      return operations.close(0)
    })
    log.info(`http: metrics on ${config.HOST} port ${metricsPort}`)
  }
  const port = await server.listen(config.PORT, config.HOST)
  closers.push(function requests() {
    return server.close(REQUEST_GRACE)
  })
  closers.push(() => web?.end())
  web?.preload()
  return port
}
