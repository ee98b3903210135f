import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { createOperatorToken } from '../account/operator.ts'
import { createQuota } from '../account/quota.ts'
import { serveChanges } from '../backup/change-feed.ts'
import { scheduleBackups } from '../backup/schedule.ts'
import { serveSnapshots } from '../backup/snapshot.ts'
import { createBtcpay } from '../billing/check-plan/btcpay.ts'
import { createTokens } from '../billing/token.ts'
import type { Checker } from '../blacklist/checker.ts'
import { createChecker } from '../blacklist/checker.ts'
import type { GeoLookup } from '../blacklist/geo/geo.ts'
import { openGeo } from '../blacklist/geo/geo.ts'
import type { Blacklist } from '../blacklist/list.ts'
import { blacklists } from '../blacklist/list.ts'
import { createListHealth } from '../blacklist/list-health.ts'
import { createDailyBudget } from '../blacklist/query-budget.ts'
import { openMountedFile } from '../configuration/mounted-file.ts'
import { closeYamlThread } from '../configuration/yaml-thread.ts'
import { DeadlineExceeded, withDeadline } from '../core/concurrency/deadline.ts'
import type { LoopState } from '../core/concurrency/poll-loop.ts'
import { type Config, otherVariables } from '../core/config.ts'
import type { Context } from '../core/context.ts'
import { closeRendering } from '../core/markdown/markdown-rendering.ts'
import { restrictDirectory } from '../core/process/private-directory.ts'
import { openSecretBox } from '../core/secret-box.ts'
import { createMetrics } from '../core/telemetry/metrics.ts'
import { openTracer } from '../core/telemetry/tracing.ts'
import type { Clock } from '../core/time.ts'
import { SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { openDatabase } from '../database/client.ts'
import { traceStatements } from '../database/connection/statement-spans.ts'
import { createAgenda } from '../database/lease/agenda.ts'
import { createDiagnosis } from '../diagnosis/diagnosis.ts'
import type { Readiness } from '../http/health-routes.ts'
import { callerOf } from '../http/request/caller.ts'
import { createHttpServer } from '../http/server.ts'
import { closeImportThread } from '../import/import-thread.ts'
import { PROBE_LIMITS } from '../monitoring/monitor/target.ts'
import { closeJsonThread } from '../monitoring/probe/json-thread.ts'
import type { ProbeTools } from '../monitoring/probe/probe.ts'
import { startMonitoring } from '../monitoring/schedule/worker.ts'
import { createAddressRateLimiter } from '../network/address-rate.ts'
import { createDestinationLimiter } from '../network/destination-limiter.ts'
import type { DnsClient } from '../network/dns/client.ts'
import { createDnsClient } from '../network/dns/client.ts'
import { createOutbound } from '../network/outbound/outbound.ts'
import { createRdapClient } from '../network/rdap.ts'
import { createSend } from '../network/send.ts'
import { createMailer } from '../notification/channel/mailer.ts'
import { createAccountMail } from '../notification/mail/account-mail.ts'
import { closePasskeyThread } from '../people/credential/passkey-thread.ts'
import { createSetupToken } from '../people/setup.ts'
import type { Background } from './background.ts'
import { startBackground } from './background.ts'
import { checkStartable } from './preflight.ts'
import type { Dependencies } from './request-context.ts'
import { metricsRouter, workerRouter } from './router.ts'
import { startStandby } from './standby.ts'
import { watchSurroundings } from './surroundings.ts'
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
  readonly now?: Clock
  /** Lists to query instead of those that the settings select. */
  readonly lists?: readonly Blacklist[]
  /** Opens the database instead of `openDatabase`; the service closes it. */
  readonly openDatabase?: typeof openDatabase
}

/** The time limits of stopping: in total, of current requests, and of any other part. */
const STOP_TIMEOUT = 9.5 * SECOND
const REQUEST_GRACE = 5 * SECOND
const PART_TIMEOUT = 3 * SECOND
/** The minimum time for each remaining part. */
const MIN_PART_TIMEOUT = 0.1 * SECOND

/**
 * Starts the service and connects all its parts.
 * @throws when a part cannot start, after stopping those that had started.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, now = () => new Date() } = options
  const closers: (() => Promise<void> | void)[] = []
  let stopped: Promise<readonly string[]> | undefined
  const stop = () => {
    stopped ??= closeAll(closers.splice(0).reverse(), log)
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

async function compose(
  { config, log, now, lists, openDatabase: open }: Required<AppOptions>,
  closers: (() => Promise<void> | void)[],
  stop: () => Promise<readonly string[]>,
): Promise<App> {
  await checkStartable(config)
  await restrictDirectory(config.DATA_DIR)
  closers.push(closeRendering, closeJsonThread, closePasskeyThread, closeYamlThread, closeImportThread)
  const tracer = await openTracer(config, log)
  if (tracer) closers.push(tracer.close, traceStatements(tracer))
  const opening = open({ dataDir: config.DATA_DIR, databaseUrl: config.DATABASE_URL, log })
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
  const db = database.prisma
  const seal = await openSecretBox({ config, db })
  const newOperatorToken = await createOperatorToken({ db, config, now })
  const setupToken = config.ROLE === 'worker' ? null : await createSetupToken({ db, config, now })
  const { checker, geo } = startChecker({ config, log, now, lists }, closers)
  const site = { baseUrl: config.BASE_URL?.replace(/\/+$/, '') ?? '' }
  const mailer = createMailer(config, site)
  closers.push(() => mailer?.close())
  const tokens = createTokens(seal.keyFor('billing tokens'))
  const billing = { tokens, btcpay: btcpayOf(config, checker.lookup.dns, log) }
  const ctx = systemContext({ config, db, now, log, billing, site })

  const tools = probeTools({ config, checker, now, log, tracer })
  const backups = config.ROLE === 'web' ? null : scheduleBackups(config, now)
  const usage = createQuota(database.pool)
  const configurationFile =
    config.ROLE === 'web' ? null : openMountedFile({ ...ctx, seal, usage, tools, mailer }, otherVariables())
  const metrics = createMetrics(
    () => healthOf(checker),
    backups && (() => backups.state()),
    configurationFile && (() => configurationFile.state()),
  )
  const agenda = createAgenda({ pool: database.pool, now, log })
  const monitoring = await startMonitoring({ ctx, database, seal, tools, metrics, agenda })
  closers.push(function monitors() {
    return monitoring.close()
  })

  const region = config.ROLE === 'web' ? null : config.REGION
  const surroundings = watchSurroundings({ mailer, checker, pool: database.pool, region, now })
  let stopping = false
  let background: Background | null = null
  const readiness = async (): Promise<Readiness> => {
    const trouble = await database.trouble()
    // Loops that sleep notice nothing.
    if (trouble === null) await Promise.all([monitoring.check(), background?.check()])
    const [probing, delivering] = await Promise.all([
      loopHealth(monitoring.schedulerState(), database),
      loopHealth(background?.deliveryState(), database),
    ])
    const works = { database: trouble, probing, delivering }
    const upkeep = { backup: backups?.state(), configuration: configurationFile?.state() }
    const { isReady, checks } = readinessOf(stopping ? { ...works, process: 'stopping' } : works, upkeep)
    return { isReady, checks: { ...checks, ...(trouble === null && (await surroundings())) } }
  }
  const sendMail = mailer === null ? undefined : createAccountMail({ now, log }, mailer)
  const dependencies = {
    config,
    db,
    now,
    log,
    checker,
    seal,
    sendMail,
    mailer,
    usage,
    tools,
    billing,
    backups,
    configurationFile,
    diagnosis: createDiagnosis({ config, database, checker, readiness, site, now, log }),
    ...monitoring.parts,
  }
  const serving = { dependencies, database, metrics, heartbeats: monitoring.parts, readiness, tracer }
  const web = loaded && (await openWeb({ ...serving, loaded, site }, closers))
  const ofWorker = {
    graphql: null,
    websocket: null,
    callerOf: (request: IncomingMessage) => callerOf(request, dependencies),
  }
  const handlers = web?.handlers ?? { router: workerRouter(serving), ...ofWorker }
  const server = createHttpServer({ ...handlers, tracer })
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
  site.baseUrl ||= `http://localhost:${port}`
  monitoring.startProbing()
  web?.preload()
  // Only now: compiling it at the first start keeps a processor busy for seconds.
  void geo.load()
  if (config.ROLE !== 'web') {
    background = await startBackground(
      {
        ctx,
        database,
        seal,
        usage,
        outbound: tools.outbound,
        dns: tools.dns,
        mailer,
        metrics,
        agenda,
        backups,
        configurationFile,
        retention: config,
      },
      closers,
    )
    agenda.start()
    closers.push(function dueWork() {
      return agenda.stop()
    })
  }
  closers.push(startStandby({ ctx, database, seal, usage, outbound: tools.outbound, mailer, site, metrics }))
  log.info(`http: listening on ${config.HOST} port ${port}`)

  return {
    baseUrl: site.baseUrl,
    newOperatorToken,
    setupToken,
    failure: database.failure,
    close: () => {
      stopping = true
      return stop()
    },
  }
}

/**
 * Closes parts one after the other, each within its time limit and all within `STOP_TIMEOUT`; the end of the process
 * cuts the rest. Returns the names of the parts that were cut.
 */
async function closeAll(
  dependencies: readonly (() => Promise<void> | void)[],
  log: Logger,
): Promise<readonly string[]> {
  const end = performance.now() + STOP_TIMEOUT - dependencies.length * MIN_PART_TIMEOUT
  const cut: string[] = []
  for (const close of dependencies) {
    const name = close.name || 'a part'
    const most = name === 'requests' ? REQUEST_GRACE + MIN_PART_TIMEOUT : PART_TIMEOUT
    const milliseconds = Math.round(Math.max(MIN_PART_TIMEOUT, Math.min(most, end - performance.now())))
    try {
      await withDeadline(milliseconds, name, Promise.resolve(close()))
    } catch (error) {
      // The other parts are closed too.
      log.error({ err: error }, `stop: could not close ${name}`)
      if (error instanceof DeadlineExceeded) cut.push(name)
    }
  }
  return cut
}

/** Creates the checker. List health is still loading when it returns, and geo data is not loaded. */
function startChecker(
  { config, log, now, lists }: Pick<Required<AppOptions>, 'config' | 'log' | 'now' | 'lists'>,
  closers: (() => Promise<void> | void)[],
): { checker: Checker; geo: GeoLookup } {
  const dns = createDnsClient({ servers: config.DNS_SERVERS, timeoutMs: config.DNS_TIMEOUT_MS, now })
  closers.push(() => dns.close())
  const health = createListHealth({ lists, dns, now, log })
  health.start()
  closers.push(() => health.stop())
  const resolvers = config.DNS_SERVERS.map(({ address }) => address).join(', ')
  log.info(`blacklists: querying ${lists.length} lists through ${resolvers}`)
  const geo = openGeo({ dataDir: config.DATA_DIR, cityFile: config.GEO_CITY_DB, asnFile: config.GEO_ASN_DB, log })
  closers.push(() => geo.close())
  const budgets = new Map(lists.map((list) => [list.id, createDailyBudget(list.queriesPerDay, now)]))
  return { checker: createChecker({ lists, lookup: { dns, health, budgets }, geo, now }), geo }
}

/** Returns the tools of probes, which resolve names with the checker's DNS client. */
function probeTools({
  config,
  checker,
  now,
  log,
  tracer,
}: Pick<Dependencies, 'config' | 'checker' | 'now' | 'log'> & Pick<ProbeTools, 'tracer'>): ProbeTools {
  const { dns } = checker.lookup
  const allowPrivate = config.ALLOW_PRIVATE_NETWORKS
  const outbound = createOutbound({ dns, allowPrivate, rate: createAddressRateLimiter() })
  return {
    outbound,
    dns,
    checker,
    rdap: createRdapClient({ outbound, bootstrapUrl: config.RDAP_BOOTSTRAP_URL, now }),
    limiter: createDestinationLimiter(PROBE_LIMITS),
    allowPrivate,
    now,
    log,
    tracer,
  }
}

/** Returns whether each list is healthy. */
function healthOf({ lists, lookup }: Checker): { id: string; healthy: boolean }[] {
  return lists.map((list) => ({ id: list.id, healthy: lookup.health.get(list).status === 'ok' }))
}

/** Creates the context of the service's own work. */
function systemContext<P extends Pick<Context, 'config' | 'db' | 'now' | 'log'>>(dependencies: P) {
  return { ...dependencies, actor: { kind: 'system' }, clientAddress: null } as const
}

/** Creates the client of the BTCPay server, if it is fully configured. */
function btcpayOf(config: Config, dns: DnsClient, log: Logger) {
  const { BTCPAY_URL: url, BTCPAY_API_KEY: apiKey, BTCPAY_STORE_ID: storeId } = config
  if (url && apiKey && storeId) {
    // The operator configured it, and it may be in the operator's own network.
    const send = createSend(createOutbound({ dns, allowPrivate: true }))
    return createBtcpay({ url, apiKey, storeId, send })
  }
  const isPartly = url ?? apiKey ?? storeId
  if (isPartly) log.warn('billing: crypto payments are off: set BTCPAY_URL, BTCPAY_API_KEY and BTCPAY_STORE_ID')
  return null
}

/** Returns the state of a loop for `/readyz`. A busy loop is ok unless it waits for a locked table. */
async function loopHealth(
  state: LoopState | undefined,
  { isLocked }: Pick<DatabaseHandle, 'isLocked'>,
): Promise<string | undefined> {
  if (state !== 'busy' && state !== 'stopped') return state
  if (await isLocked()) return 'locked'
  return state === 'busy' ? 'ok' : state
}

/**
 * Returns whether a process can work, from the states of its parts; null and `ok`: no problem. Upkeep that fails, such as backups,
 * is said, and is no reason to send visitors elsewhere.
 */
function readinessOf(
  states: Readonly<Record<string, string | null | undefined>>,
  upkeep: Readonly<Record<string, { readonly failure: object | null } | undefined>>,
): Readiness {
  const checks = Object.fromEntries(
    Object.entries(states).flatMap(([part, state]) => (state === undefined ? [] : [[part, state ?? 'ok']])),
  )
  const isReady = Object.values(checks).every((state) => state === 'ok')
  const kept = Object.entries(upkeep).flatMap(([part, state]) =>
    state ? [[part, state.failure ? 'failing' : 'ok'] as const] : [],
  )
  return { isReady, checks: { ...checks, ...Object.fromEntries(kept) } }
}
