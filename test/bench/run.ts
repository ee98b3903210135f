/**
 * Measures the service beside a baseline, and prints figures, ratios and targets. `npm run bench` runs everything, `npm
 * run bench latency dns` only these: latency, dns, http, start, memory, fan-out, monitoring, monitors, history-page, notify,
 * hostile, cost, graphql, mutations, public-answers, search, growth, pixels, live-events, edge, console, first-minutes,
 * from-clone, import, backup, move. `npm run bench -- record` also writes their figures to `docs/performance.md`, `npm
 * run bench -- guard` runs those that stand for all, in short, and prints what fell since.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connectPorts } from '../../src/app/ports.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { root } from '../../src/core/process/paths.ts'
import { listZones } from '../support/lists.ts'
import { startRbldnsd } from '../support/rbldnsd.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { backup } from './backup.ts'
import { consoleScreens } from './console.ts'
import { cost } from './cost.ts'
import { dnsThroughput } from './dns-throughput.ts'
import { edge } from './edge.ts'
import { fanOut } from './fan-out.ts'
import { firstMinutes, fromClone } from './first-minutes.ts'
import { graphqlThroughput } from './graphql-throughput.ts'
import { growth } from './growth.ts'
import { historyPage } from './history-page.ts'
import { hostile } from './hostile.ts'
import { httpThroughput } from './http-throughput.ts'
import { importing } from './import.ts'
import { latency } from './latency.ts'
import { fallen, readLedger, writeLedger } from './ledger.ts'
import { liveEvents } from './live-events.ts'
import { memory } from './memory.ts'
import { monitoring } from './monitoring.ts'
import { manyMonitors } from './monitors.ts'
import { move } from './move.ts'
import { mutations } from './mutations.ts'
import { notify } from './notify.ts'
import { pixels } from './pixels.ts'
import { publicAnswers } from './public-answers.ts'
import { begin, figures, line, title } from './report.ts'
import { search } from './search.ts'
import { start } from './start.ts'

connectPorts()

/** The benchmarks. Each gets lists on loopback, and a used data directory. */
const benches: Readonly<Record<string, (dns: DnsServer, dataDir: string) => Promise<void>>> = {
  latency: (_dns, dataDir) => latency(dataDir),
  dns: dnsThroughput,
  http: httpThroughput,
  start,
  memory,
  'fan-out': fanOut,
  monitoring,
  monitors: manyMonitors,
  'history-page': (_dns, dataDir) => historyPage(dataDir),
  notify,
  hostile: (_dns, dataDir) => hostile(dataDir),
  cost,
  graphql: graphqlThroughput,
  mutations,
  'public-answers': publicAnswers,
  pixels,
  'live-events': liveEvents,
  edge,
  console: consoleScreens,
  'first-minutes': firstMinutes,
  'from-clone': fromClone,
  import: importing,
  search: (_dns, dataDir) => search(dataDir),
  growth: (_dns, dataDir) => growth(dataDir),
  backup,
  move,
}

/** The benches that stand for all: list queries, cached checks, hot query and page, changes, events, fan-out, start, memory. */
const guards = ['dns', 'http', 'public-answers', 'graphql', 'mutations', 'live-events', 'fan-out', 'start', 'memory']

const ledger = new URL('docs/performance.md', root)
const words = process.argv.slice(2)
const [isGuard, isRecord] = [words.includes('guard'), words.includes('record')]
const named = isGuard ? guards : words.filter((word) => word !== 'record')
const unknown = named.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`No bench is named ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`)
  process.exit(1)
}

const rbldnsd = await startRbldnsd(listZones())
const data = await temporaryDirectory()
try {
  for (const [name, bench] of Object.entries(benches)) {
    if (named.length > 0 && !named.includes(name)) continue
    begin(name)
    await bench(rbldnsd, data.path)
  }
  const document = readFileSync(ledger, 'utf8')
  if (isGuard) printFallen(fallen(readLedger(document), figures))
  if (isRecord) writeFileSync(ledger, writeLedger(document, figures, measuredNow()))
} finally {
  await rbldnsd.stop()
  await data.remove()
}

function printFallen(all: ReturnType<typeof fallen>): void {
  title(`Fallen by more than a fifth since the last entry of docs/performance.md: ${all.length || 'nothing'}`)
  for (const { figure, last } of all) {
    line(
      `${figure.bench}: ${figure.what}: ${figure.value.toFixed(2)}, was ${last.value} on ${last.day} (${last.commit})`,
    )
  }
}

function measuredNow() {
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim()
  return { commit, day: new Date().toISOString().slice(0, 10) }
}
