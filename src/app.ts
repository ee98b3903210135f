import type { Logger } from 'pino'
import { createOperatorToken } from './account/operator.ts'
import { createUsageCounters } from './account/usage.ts'
import type { Background } from './background.ts'
import { startBackground } from './background.ts'
import { createBtcpay } from './billing/btcpay.ts'
import { createTokens } from './billing/token.ts'
import { dailyBudget } from './blacklist/budget.ts'
import type { Checker } from './blacklist/checker.ts'
import { createChecker } from './blacklist/checker.ts'
import { openGeo } from './blacklist/geo.ts'
import { createListHealth } from './blacklist/health.ts'
import type { Blacklist } from './blacklist/list.ts'
import { blacklists } from './blacklist/list.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { openDatabase } from './database/client.ts'
import { Overdue, within } from './deadline.ts'
import type { Parts } from './http/caller.ts'
import { callerOf } from './http/caller.ts'
import type { Readiness } from './http/health.ts'
import { workerRouter } from './http/router.ts'
import { createHttpServer } from './http/server.ts'
import { createMetrics } from './metrics.ts'
import type { ProbeTools } from './monitoring/probe/probe.ts'
import { PROBE_LIMITS } from './monitoring/target.ts'
import { startMonitoring } from './monitoring/worker.ts'
import type { DnsClient } from './network/dns/client.ts'
import { createDnsClient } from './network/dns/client.ts'
import { createOutbound } from './network/outbound.ts'
import { sendThrough } from './network/send.ts'
import { createTurns } from './network/turns.ts'
import { closeToOthers } from './private-directory.ts'
import { closeRendering } from './rendering.ts'
import { openSeal } from './seal.ts'
import { requireStartable } from './startable.ts'
import type { Clock } from './time.ts'
import { SECOND } from './time.ts'
import { loadWeb, openWeb } from './web.ts'

/** The service, running. */
export interface App {
  /** The public address, without a slash at its end. */
  readonly baseUrl: string
  /** The operator's token when this start made it: to be shown once, for it is not kept. */
  readonly newOperatorToken: string | null
  /** Resolves with the reason when the service cannot go on. */
  readonly failure: Promise<Error>
  /** Stops accepting, lets what runs finish for some seconds, and closes everything: within ten. Gives what had to be cut. */
  close(): Promise<readonly string[]>
}

export interface AppOptions {
  readonly config: Config
  readonly log: Logger
  readonly now?: Clock
  /** The lists to ask instead of the eight that the settings give. */
  readonly lists?: readonly Blacklist[]
}

/** How long stopping may take as a whole, and of it requests that are being answered, and any other part. */
const STOPPING = 9.5 * SECOND
const GRACE = 5 * SECOND
const PART = 3 * SECOND
/** What each part that is still to be closed has at least. */
const LEAST = 0.1 * SECOND

/**
 * Starts the service: the only place where all its parts meet.
 * @throws when a part cannot start; those that had started are stopped again.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, now = () => new Date() } = options
  const started: (() => Promise<void> | void)[] = []
  let stopped: Promise<readonly string[]> | undefined
  const stop = () => {
    stopped ??= closeAll(started.splice(0).reverse(), log)
    return stopped
  }
  try {
    return await compose(
      { config, log, now, lists: options.lists ?? blacklists(config.SPAMHAUS_DQS_KEY) },
      started,
      stop,
    )
  } catch (error) {
    await stop()
    throw error
  }
}

async function compose(
  { config, log, now, lists }: Required<AppOptions>,
  started: (() => Promise<void> | void)[],
  stop: () => Promise<readonly string[]>,
): Promise<App> {
  await requireStartable(config)
  await closeToOthers(config.DATA_DIR)
  started.push(closeRendering)
  const opening = openDatabase({ dataDir: config.DATA_DIR, databaseUrl: config.DATABASE_URL, log })
  // What did not open need not be closed; why it did not is said by the next line.
  started.push(function database() {
    return opening.then(
      (opened) => opened.close(),
      () => {},
    )
  })
  const [database, loaded] = await Promise.all([opening, config.ROLE === 'worker' ? null : loadWeb()])
  const db = database.prisma
  const seal = await openSeal({ config, db })
  const newOperatorToken = await createOperatorToken({ db, config, now })
  const checker = startChecker({ config, log, now, lists }, started)
  const site = { baseUrl: config.BASE_URL?.replace(/\/+$/, '') ?? '' }
  const tokens = createTokens(seal.keyFor('billing tokens'))
  const billing = { tokens, btcpay: btcpayOf(config, checker.lookup.dns, log) }
  const ctx = systemContext({ config, db, now, log, billing, site })

  const tools = probeTools({ config, checker, now, log })
  const metrics = createMetrics(() => healthOf(checker))
  const monitoring = await startMonitoring({ ctx, database, seal, tools, metrics })
  started.push(function monitors() {
    return monitoring.close()
  })

  let stopping = false
  let background: Background | null = null
  const readiness = async (): Promise<Readiness> => {
    const trouble = await database.trouble()
    const works = { database: trouble, probing: monitoring.probing(), delivering: background?.delivering() }
    return readinessOf(stopping ? { ...works, process: 'stopping' } : works)
  }
  const usage = createUsageCounters(database.pool)
  const parts = { config, db, now, log, checker, seal, usage, tools, billing, ...monitoring.parts }
  const serving = { parts, database, metrics, beats: monitoring.parts, readiness }
  const web = loaded && (await openWeb({ ...serving, loaded, site }, started))
  const doors = web?.doors ?? { router: workerRouter(serving), yoga: null, websocket: null }
  const server = createHttpServer({ ...doors, callerOf: (request) => callerOf(request, parts) })
  const port = await server.listen(config.PORT, config.HOST)
  started.push(function requests() {
    return server.close(GRACE)
  })
  started.push(() => web?.end())
  site.baseUrl ||= `http://localhost:${port}`
  web?.prepare()
  if (config.ROLE !== 'web') {
    background = await startBackground(
      { ctx, database, seal, usage, outbound: tools.outbound, dns: tools.dns, metrics },
      started,
    )
  }
  log.info(`http: listening on ${config.HOST} port ${port}`)

  return {
    baseUrl: site.baseUrl,
    newOperatorToken,
    failure: database.failure,
    close: () => {
      stopping = true
      return stop()
    },
  }
}

/**
 * Closes parts one after the other, each within its time, and all of them within `STOPPING`: what does not end is cut, for
 * the process ends then. Gives the names of those.
 */
async function closeAll(parts: readonly (() => Promise<void> | void)[], log: Logger): Promise<readonly string[]> {
  const end = performance.now() + STOPPING - parts.length * LEAST
  const cut: string[] = []
  for (const close of parts) {
    const name = close.name || 'a part'
    const most = name === 'requests' ? GRACE + LEAST : PART
    const milliseconds = Math.round(Math.max(LEAST, Math.min(most, end - performance.now())))
    try {
      await within(milliseconds, name, Promise.resolve(close()))
    } catch (error) {
      // The others are closed all the same: the database, say, may be gone.
      log.error({ err: error }, `stop: ${name} did not close well`)
      if (error instanceof Overdue) cut.push(name)
    }
  }
  return cut
}

/** The checker with everything under it; list health and geo data are still coming when it is given. */
function startChecker(
  { config, log, now, lists }: Required<AppOptions>,
  started: (() => Promise<void> | void)[],
): Checker {
  const dns = createDnsClient({ servers: config.DNS_SERVERS, timeoutMs: config.DNS_TIMEOUT_MS, now })
  started.push(() => dns.close())
  const health = createListHealth({ lists, dns, now, log })
  health.start()
  started.push(() => health.stop())
  const resolvers = config.DNS_SERVERS.map(({ address }) => address).join(', ')
  log.info(`blacklists: asking ${lists.length} lists through ${resolvers}`)
  const geo = openGeo({ dataDir: config.DATA_DIR, cityFile: config.GEO_CITY_DB, asnFile: config.GEO_ASN_DB, log })
  started.push(() => geo.close())
  const budgets = new Map(lists.map((list) => [list.id, dailyBudget(list.queriesPerDay, now)]))
  return createChecker({ lists, lookup: { dns, health, budgets }, geo, now })
}

/** What monitors are probed with; names are resolved by the checker's DNS client. */
function probeTools({ config, checker, now, log }: Pick<Parts, 'config' | 'checker' | 'now' | 'log'>): ProbeTools {
  const { dns } = checker.lookup
  const allowPrivate = config.ALLOW_PRIVATE_NETWORKS
  return {
    outbound: createOutbound({ dns, allowPrivate }),
    dns,
    checker,
    turns: createTurns(PROBE_LIMITS),
    allowPrivate,
    now,
    log,
  }
}

/** Whether each list is in use. */
function healthOf({ lists, lookup }: Checker): { id: string; healthy: boolean }[] {
  return lists.map((list) => ({ id: list.id, healthy: lookup.health.of(list).status === 'ok' }))
}

/** The context of our own work. */
function systemContext<P extends Pick<Context, 'config' | 'db' | 'now' | 'log'>>(parts: P) {
  return { ...parts, actor: { kind: 'system' }, clientAddress: null } as const
}

/** The payment server for coins, when everything that it takes is set. */
function btcpayOf(config: Config, dns: DnsClient, log: Logger) {
  const { BTCPAY_URL: url, BTCPAY_API_KEY: apiKey, BTCPAY_STORE_ID: storeId } = config
  if (url && apiKey && storeId) {
    // The operator has named it, and it may stand in the operator's own network.
    const send = sendThrough(createOutbound({ dns, allowPrivate: true }))
    return createBtcpay({ url, apiKey, storeId, send })
  }
  const isPartly = url ?? apiKey ?? storeId
  if (isPartly) log.warn('billing: coins are not taken: that needs BTCPAY_URL, BTCPAY_API_KEY and BTCPAY_STORE_ID')
  return null
}

/** Whether a process can do its work, by what is wrong with its parts; null, `ok`: nothing. */
function readinessOf(states: Readonly<Record<string, string | null | undefined>>): Readiness {
  const checks = Object.fromEntries(
    Object.entries(states).flatMap(([part, state]) => (state === undefined ? [] : [[part, state ?? 'ok']])),
  )
  return { isReady: Object.values(checks).every((state) => state === 'ok'), checks }
}
