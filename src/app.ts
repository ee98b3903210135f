import type { Logger } from 'pino'
import { createOperatorToken } from './account/operator.ts'
import { createUsageCounters, forgetOldUsage } from './account/usage.ts'
import { dailyBudget } from './blacklist/budget.ts'
import type { Checker } from './blacklist/checker.ts'
import { createChecker } from './blacklist/checker.ts'
import { openGeo } from './blacklist/geo.ts'
import { createListHealth } from './blacklist/health.ts'
import type { Blacklist } from './blacklist/list.ts'
import { blacklists } from './blacklist/list.ts'
import type { Config } from './config.ts'
import { openDatabase } from './database/client.ts'
import { schema } from './graphql/schema.ts'
import { createGraphqlServer } from './graphql/server.ts'
import { createWebsocketDoor } from './graphql/websocket.ts'
import { loadAssets } from './http/assets.ts'
import type { Parts } from './http/caller.ts'
import { callerOf, contextOf } from './http/caller.ts'
import { browserScripts, createRouter } from './http/router.ts'
import { createHttpServer } from './http/server.ts'
import { createDnsClient } from './network/dns/client.ts'
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
  const [database, assets] = await Promise.all([opening, loadAssets(browserScripts)])
  const db = database.prisma
  const newOperatorToken = await createOperatorToken({ db, config, now })
  started.push(repeatDaily(() => forgetOldUsage({ db, now }), log))

  const checker = startChecker({ config, log, now, lists }, started)
  const parts: Parts = { config, db, usage: createUsageCounters(database.pool), checker, now, log }

  const site = { assets, baseUrl: config.BASE_URL?.replace(/\/+$/, '') ?? '' }
  let stopping = false
  const isReady = async () => !stopping && (await answers(database.pool))
  const yoga = createGraphqlServer({ schema, contextOf: (...caller) => contextOf(parts, ...caller), log })
  const server = createHttpServer({
    router: createRouter({ parts, site, isReady }),
    yoga,
    websocket: createWebsocketDoor({
      yoga,
      callerOf: (request) => callerOf(request, parts),
      admit: (caller) => contextOf(parts, caller),
      log,
    }),
    callerOf: (request) => callerOf(request, parts),
  })
  const port = await server.listen(config.PORT, config.HOST)
  started.push(() => server.close(GRACE))
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

/** Does `work` now and then every day until it is stopped; what fails is logged and done again the next day. */
function repeatDaily(work: () => Promise<void>, log: Logger): () => Promise<void> {
  const attempt = () => work().catch((error: unknown) => log.error({ err: error }, 'app: daily work failed'))
  let running = attempt()
  const timer = setInterval(() => {
    running = attempt()
  }, DAY).unref()
  return () => {
    clearInterval(timer)
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
