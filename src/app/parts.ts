import type { Logger } from 'pino'
import { createPrivateTargetCheck } from '../account/private-targets/check.ts'
import { createQuota } from '../account/quota.ts'
import { scheduleBackups } from '../backup/schedule.ts'
import { createBtcpay } from '../billing/btcpay.ts'
import { offeredTiers } from '../billing/price.ts'
import { createTokens } from '../billing/token.ts'
import type { Checker } from '../blacklist/checker.ts'
import { createChecker } from '../blacklist/checker.ts'
import type { GeoLookup } from '../blacklist/geo/geo.ts'
import { openGeo } from '../blacklist/geo/geo.ts'
import type { Blacklist } from '../blacklist/list.ts'
import { createListHealth } from '../blacklist/list-health.ts'
import { createDailyBudget } from '../blacklist/query-budget.ts'
import { openMountedFile } from '../configuration/mounted-file.ts'
import { type Config, otherVariables } from '../core/config.ts'
import type { Context } from '../core/context.ts'
import { openSecretBox } from '../core/secret-box.ts'
import { createMetrics } from '../core/telemetry/metrics.ts'
import type { Tracer } from '../core/telemetry/tracing.ts'
import type { Clock } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { createAgenda } from '../database/lease/agenda.ts'
import { PROBE_LIMITS } from '../monitoring/monitor/target.ts'
import type { ProbeTools } from '../monitoring/probe/probe.ts'
import { createAddressRateLimiter } from '../network/address-rate.ts'
import { createDestinationLimiter } from '../network/destination-limiter.ts'
import type { DnsClient } from '../network/dns/client.ts'
import { createDnsClient } from '../network/dns/client.ts'
import { createOutbound } from '../network/outbound/outbound.ts'
import { createRdapClient } from '../network/outbound/rdap.ts'
import { createSend } from '../network/outbound/send.ts'
import { createThirdPartyRate } from '../network/third-party-rate.ts'
import { createMailer } from '../notification/channel/mailer.ts'
import type { Closers } from './stop.ts'

interface PartsOptions {
  readonly config: Config
  readonly log: Logger
  readonly now: Clock
  readonly lists: readonly Blacklist[]
  readonly database: DatabaseHandle
  /** Null: nothing is traced. */
  readonly tracer: Tracer | null
}

/** Creates the parts that requests and background work share. @param closers receives functions that close them. */
export async function createParts(options: PartsOptions, closers: Closers) {
  const { config, log, now, database, tracer } = options
  const db = database.prisma
  const seal = await openSecretBox({ config, db })
  const { checker, geo } = startChecker(options, closers)
  const site = { baseUrl: config.BASE_URL?.replace(/(?<!\/)\/+$/, '') ?? '', hasPayments: false }
  const mailer = createMailer(config, site)
  closers.push(() => mailer?.close())
  const tokens = createTokens(seal.keyFor('billing tokens'))
  const billing = { tokens, btcpay: btcpayOf(config, checker.lookup.dns, log) }
  site.hasPayments = billing.btcpay !== null || offeredTiers(config, 'FREE').length > 0
  const ctx = systemContext({ config, db, now, log, billing, site })
  const privateTargets = await createPrivateTargetCheck({ database, config, log })
  closers.push(() => privateTargets.close())
  const tools = probeTools({ allowPrivate: privateTargets.allows, config, checker, now, log, tracer })
  const usage = createQuota(database.pool)
  const runsJobs = config.ROLE !== 'web'
  const backups = runsJobs ? scheduleBackups(config, now) : null
  const configurationFile = runsJobs ? openMountedFile({ ...ctx, seal, usage, tools, mailer }, otherVariables()) : null
  const metrics = createMetrics(
    () => healthOf(checker),
    backups && (() => backups.state()),
    configurationFile && (() => configurationFile.state()),
  )
  const agenda = createAgenda({ pool: database.pool, now, log })
  const rate = createThirdPartyRate()
  return {
    ctx,
    seal,
    checker,
    geo,
    site,
    mailer,
    billing,
    privateTargets,
    tools,
    rate,
    usage,
    backups,
    configurationFile,
    metrics,
    agenda,
  }
}

/** Creates the checker. List health is still loading when it returns, and geo data is not loaded. */
function startChecker(
  { config, log, now, lists }: Pick<PartsOptions, 'config' | 'log' | 'now' | 'lists'>,
  closers: Closers,
): { checker: Checker; geo: GeoLookup } {
  const dns = createDnsClient({ servers: config.DNS_SERVERS, timeoutMs: config.DNS_TIMEOUT_MS, now })
  closers.push(() => dns.close())
  const health = createListHealth({ lists, dns, now, log })
  health.start()
  closers.push(() => health.stop())
  const resolvers = config.DNS_SERVERS.map(({ address }) => address).join(', ')
  log.info(`blacklist: querying ${lists.length} lists through ${resolvers}`)
  const geo = openGeo({ dataDir: config.DATA_DIR, cityFile: config.GEO_CITY_DB, asnFile: config.GEO_ASN_DB, log })
  closers.push(() => geo.close())
  const budgets = new Map(lists.map((list) => [list.id, createDailyBudget(list.queriesPerDay, now)]))
  return { checker: createChecker({ lists, lookup: { dns, health, budgets }, geo, now }), geo }
}

/** Returns the tools of probes, which resolve names with the checker's DNS client. */
function probeTools({
  allowPrivate,
  config,
  checker,
  now,
  log,
  tracer,
}: Pick<PartsOptions, 'config' | 'now' | 'log' | 'tracer'> & Pick<ProbeTools, 'allowPrivate' | 'checker'>): ProbeTools {
  const { dns } = checker.lookup
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
