import pino from 'pino'
import { onTestFinished } from 'vitest'
import { type Budget, dailyBudget } from '../../src/blacklist/budget.ts'
import { type Checker, createChecker } from '../../src/blacklist/checker.ts'
import { type GeoLookup, unknownGeo } from '../../src/blacklist/geo.ts'
import { createListHealth, type ListHealth } from '../../src/blacklist/health.ts'
import { type Blacklist, blacklists } from '../../src/blacklist/list.ts'
import type { Lookup } from '../../src/blacklist/lookup.ts'
import type { DnsServer } from '../../src/config.ts'
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

/** The list of this id. */
export function listOf(id: string, among: readonly Blacklist[] = lists): Blacklist {
  const found = among.find((list) => list.id === id)
  if (found === undefined) throw new Error(`There is no list ${id}`)
  return found
}

/** What a name, or every name below a zone, is answered with; `A` and `TXT` tell the types apart. */
export type Script = Readonly<Record<string, Behaviour>>

/** Answers A queries with codes; there is no TXT. */
export const codes =
  (...values: readonly string[]): Behaviour =>
  (query) =>
    query.type === 'A' ? answer(query, values) : nothing(query)

/** Answers A queries with a code, TXT queries with a reason. */
export const listed =
  (code: string, reason: string): Behaviour =>
  (query) =>
    answer(query, [query.type === 'A' ? code : reason])

/** The name does not exist. */
export const nothing: Behaviour = (query): Reply => ({
  rcode: rcodes.nxdomain,
  authorities: [soa(query.name, 600, 600)],
})

/**
 * Plays the whole DNS: lists that work and list nobody but their test entries, and no other name; except what the script says of
 * a name or, where it says nothing, of the longest name above it.
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

/** A log that keeps what is written to it. */
export function createLog() {
  const lines: string[] = []
  return { lines, log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) }
}

/** The parts of the core around a DNS server; the clock stands until it is moved. */
export interface Rig {
  readonly dns: DnsClient
  readonly health: ListHealth
  readonly budgets: Map<string, Budget>
  readonly lookup: Lookup
  readonly checker: Checker
  readonly clock: ReturnType<typeof createClock>
  readonly logged: readonly string[]
}

/** How long a query may take where a test is not about its being late: longer than a busy machine holds it up. */
const PATIENCE = 5000

/**
 * The core as `app.ts` puts it together, but for the clock, and for a DNS client of their own that the probes have, so that
 * a test may be short with the lists and still find them well; stopped when the test ends.
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
  const budgets = new Map(asked.map((list) => [list.id, dailyBudget(list.queriesPerDay, clock.now)]))
  const lookup = { dns, health, budgets }
  onTestFinished(async () => {
    health.stop()
    await Promise.all([dns.close(), probing.close()])
  })
  const checker = createChecker({ lists: asked, lookup, geo, now: clock.now })
  return { dns, health, budgets, lookup, checker, clock, logged: lines }
}

/** A scripted server and the core that asks it, every list probed and found well unless the script says otherwise. */
export async function startScripted(
  script: Script = {},
  options: Parameters<typeof startCore>[1] & { probed?: boolean } = {},
): Promise<Rig & { readonly server: TestDnsServer; asked(): string[] }> {
  const server = await startDnsServer(play())
  onTestFinished(() => server.close())
  const core = startCore(server, options)
  if (options.probed ?? true) await Promise.all(core.checker.lists.map((list) => core.health.known(list)))
  server.behave(play(script))
  const before = server.queries.length
  return { ...core, server, asked: () => server.queries.slice(before).map(({ name, type }) => `${type} ${name}`) }
}

const nowhere: GeoLookup = {
  locate: async () => unknownGeo,
  ready: async () => {},
  close: async () => {},
}
