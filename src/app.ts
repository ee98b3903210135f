import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createOperatorToken } from './account/operator.ts'
import { watchRevokedKeys } from './account/revoked-keys.ts'
import { createUsageCounters, forgetOldUsage } from './account/usage.ts'
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
import { LOG_CHANNEL } from './eventlog/event.ts'
import { openEventLog } from './eventlog/tail.ts'
import { createLiveSubscriptions } from './graphql/live.ts'
import { schema } from './graphql/schema.ts'
import { createGraphqlServer } from './graphql/server.ts'
import { createSharedExecution } from './graphql/shared-execution.ts'
import { createWebsocketDoor } from './graphql/websocket.ts'
import { loadAssets } from './http/assets.ts'
import type { Parts } from './http/caller.ts'
import { callerOf, contextOf, visitorContext } from './http/caller.ts'
import { createRouter, pageAssets } from './http/router.ts'
import { createHttpServer } from './http/server.ts'
import { createDnsClient } from './network/dns/client.ts'
import { createPageCache } from './page/page-cache.ts'
import { runDueMaintenance } from './status/maintenance-round.ts'
import type { Clock } from './time.ts'
import { DAY, SECOND } from './time.ts'

/** The service, running. */
export interface App {
  /** The public address, without a slash at its end. */
  readonly baseUrl: string
  /** The operator's token when this start made it: to be shown once, for it is not kept. */
  readonly newOperatorToken: string | null
  /** Resolves with the reason when the service cannot go on. */
  readonly failure: Promise<Error>
  /** Stops accepting, lets what runs finish for at most ten seconds, and closes everything. */
  close(): Promise<void>
}

export interface AppOptions {
  readonly config: Config
  readonly log: Logger
  readonly now?: Clock
  /** The lists to ask instead of the eight that the settings give. */
  readonly lists?: readonly Blacklist[]
}

/** How long running work may take to finish when the service stops. */
const GRACE = 10 * SECOND

/**
 * Starts the service: the only place where all its parts meet.
 * @throws when a part cannot start; those that had started are stopped again.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, now = () => new Date() } = options
  const started: (() => Promise<void> | void)[] = []
  const stop = async () => {
    for (const close of started.splice(0).reverse()) await close()
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
  stop: () => Promise<void>,
): Promise<App> {
  const opening = openDatabase({ dataDir: config.DATA_DIR, databaseUrl: config.DATABASE_URL, log })
  // What did not open need not be closed; why it did not is said by the next line.
  started.push(() =>
    opening.then(
      (database) => database.close(),
      () => {},
    ),
  )
  const [database, assets] = await Promise.all([opening, loadAssets(pageAssets)])
  const db = database.prisma
  const newOperatorToken = await createOperatorToken({ db, config, now })
  started.push(repeat(() => forgetOldUsage({ db, now }).then(() => DAY), DAY, log))
  if (config.ROLE !== 'web') started.push(startMaintenanceRounds({ config, db, now, log }))

  const checker = startChecker({ config, log, now, lists }, started)
  const eventLog = await openEventLog({ database, now, log })
  started.push(() => eventLog.close())
  const revokedKeys = await watchRevokedKeys({ database, log })
  started.push(() => revokedKeys.close())
  const usage = createUsageCounters(database.pool)
  const parts: Parts = { config, db, usage, checker, eventLog, now, log }

  const pageCache = createPageCache(now)
  started.push(await database.listen(LOG_CHANNEL, pageCache.forget))

  const site = { assets, baseUrl: config.BASE_URL?.replace(/\/+$/, '') ?? '' }
  let stopping = false
  const isReady = async () => !stopping && (await answers(database.pool))
  const shared = createSharedExecution({ visitorContext: async () => visitorContext(parts, null), log })
  const live = createLiveSubscriptions({
    contextOf: (caller) => contextOf(parts, caller),
    shared,
    revokedKeys,
    log,
  })
  const yoga = createGraphqlServer({
    schema,
    contextOf: (...caller) => contextOf(parts, ...caller),
    live: live.plugin,
    log,
  })
  const server = createHttpServer({
    router: createRouter({ parts, site, pageCache, isReady }),
    yoga,
    websocket: createWebsocketDoor({
      yoga,
      callerOf: (request) => callerOf(request, parts),
      admit: (caller) => contextOf(parts, caller),
      shared,
      revokedKeys,
      log,
    }),
    callerOf: (request) => callerOf(request, parts),
  })
  const port = await server.listen(config.PORT, config.HOST)
  started.push(() => server.close(GRACE))
  started.push(() => live.close())
  site.baseUrl ||= `http://localhost:${port}`
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

/** The longest time from one look for work that is due to the next: how late work may be that came up meanwhile. */
const ROUND = 5 * SECOND

/** So that work which cannot be taken for a moment is not asked for without a pause. */
const SHORTEST_PAUSE = 0.1 * SECOND

/** Starts and ends maintenance when its time has come, as the system. */
function startMaintenanceRounds(parts: Pick<Context, 'config' | 'db' | 'now' | 'log'>): () => Promise<void> {
  const ctx = { ...parts, actor: { kind: 'system' }, clientAddress: null } as const
  const round = async () => {
    const next = await runDueMaintenance(ctx)
    return next ? Math.min(Math.max(next.getTime() - ctx.now().getTime(), SHORTEST_PAUSE), ROUND) : ROUND
  }
  return repeat(round, ROUND, ctx.log)
}

/**
 * Does `work` now and again each time the milliseconds that it gives have passed, until it is stopped, which waits for
 * work under way. What fails is logged, and done again after `pause` milliseconds.
 */
function repeat(work: () => Promise<number>, pause: number, log: Logger): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = (async () => {
    while (!signal.aborted) {
      const wait = await work().catch((error: unknown) => {
        log.error({ err: error }, 'app: repeated work failed')
        return pause
      })
      await sleep(wait, undefined, { signal, ref: false }).catch(() => {})
    }
  })()
  return () => {
    stopping.abort()
    return running
  }
}

/** Whether the database answers a statement; a dead server makes the pool's own time limits say no. */
async function answers(pool: { query(text: string): Promise<unknown> }): Promise<boolean> {
  try {
    await pool.query('SELECT 1')
    return true
  } catch {
    return false
  }
}
