/**
 * Measures the service beside a baseline, and prints figures, ratios and targets. `npm run bench` runs everything, `npm
 * run bench latency dns` only these: latency, dns, http, start, memory, fan-out, monitoring, history-page, notify,
 * hostile, cost, graphql, mutations, public-answers, search, growth, pixels, live-events, edge, console, first-minutes,
 * from-clone, import, backup, move.
 */
import { connectPorts } from '../../src/app/ports.ts'
import type { DnsServer } from '../../src/core/config.ts'
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
import { liveEvents } from './live-events.ts'
import { memory } from './memory.ts'
import { monitoring } from './monitoring.ts'
import { move } from './move.ts'
import { mutations } from './mutations.ts'
import { notify } from './notify.ts'
import { pixels } from './pixels.ts'
import { publicAnswers } from './public-answers.ts'
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

const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`No bench is named ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`)
  process.exit(1)
}

const rbldnsd = await startRbldnsd(listZones())
const data = await temporaryDirectory()
try {
  for (const [name, bench] of Object.entries(benches)) {
    if (named.length === 0 || named.includes(name)) await bench(rbldnsd, data.path)
  }
} finally {
  await rbldnsd.stop()
  await data.remove()
}
