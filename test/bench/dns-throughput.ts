import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { type Checker, createChecker } from '../../src/blacklist/checker.ts'
import { openGeo } from '../../src/blacklist/geo/geo.ts'
import { blacklists, queryName } from '../../src/blacklist/list.ts'
import { createListHealth } from '../../src/blacklist/list-health.ts'
import { createDailyBudget } from '../../src/blacklist/query-budget.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { addressFamily, reversedLabels } from '../../src/core/ip-address.ts'
import { createDnsClient } from '../../src/network/dns/client.ts'
import { silent } from '../support/scratch.ts'
import { line, median, roundsOf, title, verdict } from './report.ts'
import { sendChecks, startService, warmedUp } from './service.ts'
import { callers, scatteredAddresses } from './targets.ts'

/** Queries in flight: the limit of our DNS client, and also of the bare loop. */
const inFlight = 64
const checksAtOnce = 16
const roundMs = 1500
const rounds = roundsOf(5)

/** (b) List queries per second of uncached checks, beside a loop that only queries the same names with dns-packet. */
export async function dnsThroughput(dns: DnsServer, dataDir: string): Promise<void> {
  title(
    `(b) Uncached checks against rbldnsd, ${inFlight} queries in flight, ${rounds} rounds of ${roundMs / 1000} s each`,
  )
  const lists = blacklists(undefined)
  const now = () => new Date()
  const client = createDnsClient({ servers: [dns], timeoutMs: 3000, now })
  const health = createListHealth({ lists, dns: client, now, log: silent })
  const geo = openGeo({ dataDir, cityFile: undefined, asnFile: undefined, log: silent })
  // The lists' daily budgets would end the bench.
  const budgets = new Map(lists.map((list) => [list.id, createDailyBudget(Number.MAX_SAFE_INTEGER, now)]))
  const checker = createChecker({ lists, lookup: { dns: client, health, budgets }, geo, now })
  const targets = scatteredAddresses()
  await Promise.all([geo.load(), ...lists.map((list) => health.whenMeasured(list))])

  const bare: number[] = []
  const checked: number[] = []
  // The first round of each warms up the compiler and is not counted.
  for (let round = 0; round <= rounds; round++) {
    bare.push(await bareLoop(dns, targets))
    const before = client.statistics.received
    const seconds = await checkFor(roundMs, checker, targets)
    checked.push((client.statistics.received - before) / seconds)
  }
  await client.close()
  await geo.close()
  bare.shift()
  checked.shift()

  line(`bare dns-packet loop on one socket: ${perSecond(median(bare))} queries`)
  line(`checks: ${perSecond(median(checked))} queries, ${perSecond(median(checked) / 6)} checks`)
  const ratios = checked.map((rate, round) => rate / (bare[round] ?? Number.NaN))
  verdict('queries of checks / bare queries', median(ratios), { least: 0.5 })
  const { retransmitted, timeouts } = client.statistics
  line(`retransmitted ${retransmitted}, timed out ${timeouts} of ${client.statistics.sent} queries`)
  await overRest(dns, dataDir)
}

/** For comparison: the same checks over HTTP, with counting. */
async function overRest(dns: DnsServer, dataDir: string): Promise<void> {
  const service = await startService(dns, dataDir)
  const rate = await warmedUp(service)
    .then(() => sendChecks(service.port, checksAtOnce, 5000, scatteredAddresses(), callers()))
    .finally(() => service.stop())
  line(`over REST with counting, the client in this process: ${perSecond(rate * 6)} queries, ${perSecond(rate)} checks`)
}

async function checkFor(milliseconds: number, checker: Checker, targets: Iterator<string, never>): Promise<number> {
  const begun = performance.now()
  const end = begun + milliseconds
  // Two callers, because one has at most half of the queries in flight.
  const work = async (_: unknown, index: number) => {
    while (performance.now() < end) {
      const address = targets.next().value
      const { failedCount } = await checker.checkIp(
        { kind: 'ip', address, family: addressFamily(address) },
        { owner: `caller ${index % 2}` },
      )
      if (failedCount > 0) throw new Error('A list did not answer')
    }
  }
  await Promise.all(Array.from({ length: checksAtOnce }, work))
  return (performance.now() - begun) / 1000
}

/** Queries the lists about the targets, keeping the number in flight. Returns answers per second. */
async function bareLoop(dns: DnsServer, targets: Iterator<string, never>): Promise<number> {
  const names = namesOf(targets)
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024 })
  socket.connect(dns.port, dns.address)
  await once(socket, 'connect')
  const waiting = new Map<number, Buffer>()
  let id = 0
  let answered = 0
  const ask = () => {
    id = (id + 1) & 0xffff
    const questions = [{ name: names.next().value, type: 'A' as const }]
    const query = encode({ type: 'query', id, flags: RECURSION_DESIRED, questions })
    waiting.set(id, query)
    socket.send(query)
  }
  socket.on('message', (message) => {
    const packet = decode(message)
    if (!waiting.delete(packet.id ?? -1)) return
    answered++
    ask()
  })
  const begun = performance.now()
  for (let query = 0; query < inFlight; query++) ask()
  await new Promise((resolve) => setTimeout(resolve, roundMs))
  const seconds = (performance.now() - begun) / 1000
  await once(socket.close(), 'close')
  return answered / seconds
}

function* namesOf(targets: Iterator<string, never>): Generator<string, never> {
  const lists = blacklists(undefined).filter((list) => list.kind === 'ip')
  for (;;) {
    const label = reversedLabels(targets.next().value)
    for (const list of lists) yield queryName(list, label)
  }
}

const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en')}/s`
