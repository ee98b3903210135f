import { once } from 'node:events'
import { checksPerDay } from '../../src/account/limits.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { openDatabase } from '../../src/database/client.ts'
import { silent } from '../support/scratch.ts'
import { ownDatabase } from './postgres.ts'
import { line, roundsOf, title, verdict } from './report.ts'
import {
  type Answer,
  checkPath,
  request,
  type Service,
  startNode,
  startService,
  stopNode,
  warmedUp,
} from './service.ts'
import { callers } from './targets.ts'
import type { Load } from './wrk.ts'
import { hasWrk, loadBy, processorCost, rate, ratio } from './wrk.ts'

const connections = 64
const roundSeconds = 2
const rounds = roundsOf(8)
/** An unused address, which is on no list. */
const target = '9.9.9.10'

type Server = Pick<Service, 'port' | 'pid'>

/** (c) Cached checks over REST with exact counting, beside a bare server that sends the same. */
export async function httpThroughput(dns: DnsServer, dataDir: string): Promise<void> {
  if (!(await hasWrk())) return title('(c) Cached REST checks: skipped, because wrk is not installed')
  await compare('the embedded database', dns, dataDir)
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`(c) The same on PostgreSQL: skipped (${database})`)
  await compare('PostgreSQL', dns, dataDir, database.url).finally(() => database.remove())
}

async function compare(where: string, dns: DnsServer, dataDir: string, databaseUrl?: string): Promise<void> {
  title(
    `(c) Cached checks over REST, counted on ${where}: ${connections} callers, ${rounds} rounds of ${roundSeconds} s each`,
  )
  const service = await startService(dns, dataDir, { DATABASE_URL: databaseUrl })
  const { served, bareServed, bytes } = await interleave(service).finally(() => service.stop())
  // The first round warms up the compilers.
  const [ours, bare] = [served.slice(1), bareServed.slice(1)]
  line(`bare node:http: ${rate(bare)}; service: ${rate(ours)} (${bytes} bytes of body)`)
  line(`processor time an answer: bare ${processorCost(bare)}; service ${processorCost(ours)}`)
  verdict('service / bare', ratio(ours, bare), { least: 0.4 })
  await verifyCounters(dataDir, databaseUrl, served)
}

async function interleave(service: Service) {
  await warmedUp(service)
  const { rawHeaders, body } = await request(service.port, checkPath(target), callers().next().value)
  const bare = await startBare({ status: 200, rawHeaders, body })
  const served: Load[] = []
  const bareServed: Load[] = []
  try {
    for (let round = 0; round <= rounds; round++) {
      bareServed.push(await load(bare, round))
      served.push(await load(service, round))
    }
  } finally {
    await bare.stop()
  }
  return { served, bareServed, bytes: body.length }
}

/**
 * The counters must include every answer that wrk has received; it leaves up to one request per connection unanswered
 * at its end.
 */
async function verifyCounters(
  dataDir: string,
  databaseUrl: string | undefined,
  served: readonly Load[],
): Promise<void> {
  const database = await openDatabase({ dataDir, databaseUrl, log: silent })
  let exact = true
  let counted = 0
  for (const [round, { answers }] of served.entries()) {
    const subjects = { startsWith: `ip:10.${round}.` }
    const rows = await database.prisma.usageCounter.findMany({ where: { subject: subjects } })
    const sum = rows.reduce((total, row) => total + row.count, 0)
    // Of the callers, in groups of one per connection, only the last two groups can have checks left.
    const unspent = rows.filter((row) => row.count < checksPerDay.FREE).length
    exact &&= sum >= answers && sum <= answers + connections && unspent <= 2 * connections
    exact &&= rows.every((row) => row.count <= checksPerDay.FREE)
    counted += sum
  }
  await database.close()
  const answers = served.reduce((sum, load) => sum + load.answers, 0)
  line(
    `counters: ${counted} checks for ${answers} answers, ${exact ? 'exact' : 'NOT EXACT'} but for what the ends of rounds cut off`,
  )
}

/** Starts the bare server, which sends this answer to everyone. */
export async function startBare(answer: Answer): Promise<Server & { stop(): Promise<void> }> {
  const child = startNode('dist/bare-http-server.js', [], {})
  const headers = answer.rawHeaders.filter((_, index, all) => !ownHeaders.test(all[index - (index % 2)] ?? ''))
  child.send({ status: answer.status, rawHeaders: headers, body: answer.body.toString('hex') })
  const [port] = await once(child, 'message')
  return { port, pid: child.pid ?? 0, stop: () => stopNode(child) }
}

/** Headers that `node:http` adds. */
const ownHeaders = /^(?:date|connection|keep-alive)$/i

const load = (server: Server, round: number) =>
  loadBy(server, {
    script: 'callers.lua',
    arguments: [`${connections}`, `${checksPerDay.FREE}`, `${round}`],
    path: checkPath(target),
    connections,
    seconds: roundSeconds,
  })
