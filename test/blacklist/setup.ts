import pino from 'pino'
import { onTestFinished } from 'vitest'
import { type Checker, createChecker } from '../../src/blacklist/checker.ts'
import { type GeoLookup, unknownGeo } from '../../src/blacklist/geo/geo.ts'
import { type Blacklist, blacklists } from '../../src/blacklist/list.ts'
import { createListHealth, type ListHealth } from '../../src/blacklist/list-health.ts'
import type { Lookup } from '../../src/blacklist/lookup.ts'
import { createDailyBudget, type QueryBudget } from '../../src/blacklist/query-budget.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { createDnsClient, type DnsClient } from '../../src/network/dns/client.ts'
import { createClock } from '../network/dns/setup.ts'
import {
  answer,
  type Behaviour,
  type Reply,
  rcodes,
  soa,
  startDnsServer,
  type TestDnsServer,
} from '../support/dns-server.ts'

/** The eight lists. */
export const lists = blacklists(undefined)

/** Returns the list with this id. */
export function listOf(id: string, among: readonly Blacklist[] = lists): Blacklist {
  const found = among.find((list) => list.id === id)
  if (found === undefined) throw new Error(`There is no list ${id}`)
  return found
}

/** Behaviours by name. An entry also answers for every name below its own. */
export type Script = Readonly<Record<string, Behaviour>>

/** Answers A queries with codes. Has no TXT records. */
export const codes =
  (...values: readonly string[]): Behaviour =>
  (query) =>
    query.type === 'A' ? answer(query, values) : nothing(query)

/** Answers A queries with a code, and TXT queries with a reason. */
export const listed =
  (code: string, reason: string): Behaviour =>
  (query) =>
    answer(query, [query.type === 'A' ? code : reason])

/** Answers NXDOMAIN. */
export const nothing: Behaviour = (query): Reply => ({
  rcode: rcodes.nxdomain,
  authorities: [soa(query.name, 600, 600)],
})

/**
 * Simulates the DNS: healthy lists that contain only their test entries, and no other names. `script` overrides a name:
 * its entry for the name, or else for the longest name above it, answers.
 */
export function play(script: Script = {}): Behaviour {
  return (query) => {
    const labels = query.name.toLowerCase().split('.')
    const scripted = labels
      .map((_, index) => script[labels.slice(index).join('.')])
      .find((found) => found !== undefined)
    if (scripted !== undefined) return scripted(query)
    return query.name.startsWith('2.0.0.127.') ? codes('127.0.0.2', '127.0.0.8')(query) : nothing(query)
  }
}

/** Creates a log that collects its lines. */
export function createLog() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) }
}

/** The blacklist services around a test DNS server; the clock stands still until the test advances it. */
export interface Rig {
  readonly dns: DnsClient
  readonly health: ListHealth
  readonly budgets: Map<string, QueryBudget>
  readonly lookup: Lookup
  readonly checker: Checker
  readonly clock: ReturnType<typeof createClock>
  readonly logged: readonly string[]
}

/** The timeout of queries, in milliseconds, in tests that are not about timeouts. Long enough for a busy machine. */
const PATIENCE = 5000

/**
 * Starts the services as the application does, but with a test clock, and with a separate DNS client for health checks,
 * so that a test can use a short timeout for lookups and still find the lists healthy. Stops them when the test ends.
 */
export function startCore(
  server: DnsServer,
  options: { timeoutMs?: number; probeTimeoutMs?: number; lists?: readonly Blacklist[]; geo?: GeoLookup } = {},
): Rig {
  const { timeoutMs = PATIENCE, probeTimeoutMs = PATIENCE, lists: asked = lists, geo = nowhere } = options
  const clock = createClock()
  const { lines, log } = createLog()
  const dns = createDnsClient({ servers: [server], timeoutMs, now: clock.now })
  const probing = createDnsClient({ servers: [server], timeoutMs: probeTimeoutMs, now: clock.now })
  const health = createListHealth({ lists: asked, dns: probing, now: clock.now, log })
  const budgets = new Map(asked.map((list) => [list.id, createDailyBudget(list.queriesPerDay, clock.now)]))
  const lookup = { dns, health, budgets }
  onTestFinished(async () => {
    health.stop()
    await Promise.all([dns.close(), probing.close()])
  })
  const checker = createChecker({ lists: asked, lookup, geo, now: clock.now })
  return { dns, health, budgets, lookup, checker, clock, logged: lines }
}

/** Starts a scripted DNS server and the services. Measures every list before the script applies. */
export async function startScripted(
  script: Script = {},
  options: Parameters<typeof startCore>[1] & { measured?: boolean } = {},
): Promise<Rig & { readonly server: TestDnsServer; sentQueries(): string[] }> {
  const server = await startDnsServer(play())
  onTestFinished(() => server.close())
  const core = startCore(server, options)
  if (options.measured ?? true) await Promise.all(core.checker.lists.map((list) => core.health.whenMeasured(list)))
  server.behave(play(script))
  const before = server.queries.length
  return { ...core, server, sentQueries: () => server.queries.slice(before).map(({ name, type }) => `${type} ${name}`) }
}

const nowhere: GeoLookup = {
  locate: async () => unknownGeo,
  load: async () => {},
  close: async () => {},
}
