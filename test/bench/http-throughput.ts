import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checksPerDay } from '../../src/account/plan.ts'
import type { DnsServer } from '../../src/config.ts'
import { openDatabase } from '../../src/database/client.ts'
import { root } from '../../src/paths.ts'
import { silent } from '../support/scratch.ts'
import { ownDatabase } from './postgres.ts'
import type { ProcessorTime } from './processor.ts'
import { processorTime } from './processor.ts'
import { line, median, title, verdict } from './report.ts'
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

const connections = 64
const roundSeconds = 2
const rounds = 8
/** Published by nobody, so in no list. */
const target = '9.9.9.10'

type Server = Pick<Service, 'port' | 'pid'>

interface Load {
  readonly answers: number
  readonly perSecond: number
  /** What the server took for them. */
  readonly took: ProcessorTime
}

/** (c) Cached checks over REST with exact counting, beside a bare server that sends the same. */
export async function httpThroughput(dns: DnsServer, dataDir: string): Promise<void> {
  const wrk = await findWrk()
  if (wrk === null) return title('(c) Cached REST checks: skipped, because wrk is not installed')
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
  const ratios = served.map(({ perSecond }, round) => perSecond / (bareServed[round]?.perSecond ?? Number.NaN))
  // The first round warms the compilers up.
  ratios.shift()
  line(`bare node:http: ${rate(bareServed)}; service: ${rate(served)} (${bytes} bytes of body)`)
  line(`processor time an answer: bare ${processorCost(bareServed)}; service ${processorCost(served)}`)
  verdict('service / bare', median(ratios), { least: 0.4 })
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

/** The counters must hold every answer wrk has seen; it leaves up to one request per connection unanswered at its end. */
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

async function startBare(answer: Answer): Promise<Server & { stop(): Promise<void> }> {
  const child = startNode('dist/bare-http-server.js', [], {})
  const headers = answer.rawHeaders.filter((_, index, all) => !ownHeaders.test(all[index - (index % 2)] ?? ''))
  child.send({ rawHeaders: headers, body: answer.body.toString() })
  const [port] = await once(child, 'message')
  return { port, pid: child.pid ?? 0, stop: () => stopNode(child) }
}

/** Headers that `node:http` sends by itself. */
const ownHeaders = /^(?:date|connection|keep-alive)$/i

async function load({ port, pid }: Server, round: number): Promise<Load> {
  const before = await processorTime(pid)
  const script = fileURLToPath(new URL('test/bench/callers.lua', root))
  const url = `http://127.0.0.1:${port}${checkPath(target)}`
  const args = ['-t1', `-c${connections}`, `-d${roundSeconds}s`, '-s', script, url, '--']
  const { stdout } = await promisify(execFile)('wrk', [...args, `${connections}`, `${checksPerDay.FREE}`, `${round}`])
  const result = /^RESULT (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout)
  if (result === null) throw new Error(`wrk gave no result: ${stdout}`)
  const [answers = 0, microseconds = 0, refused = 0, lost = 0] = result.slice(1).map(Number)
  if (refused + lost > 0) throw new Error(`${refused} requests were refused and ${lost} lost`)
  const after = await processorTime(pid)
  const took = {
    mainThread: after.mainThread - before.mainThread,
    otherThreads: after.otherThreads - before.otherThreads,
  }
  return { answers, perSecond: answers / (microseconds / 1e6), took }
}

async function findWrk(): Promise<string | null> {
  // `wrk -v` prints its version and exits with 1.
  return promisify(execFile)('wrk', ['-v']).then(
    () => 'wrk',
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : 'wrk'),
  )
}

function rate(loads: readonly Load[]): string {
  return `${Math.round(median(loads.slice(1).map((load) => load.perSecond))).toLocaleString('en')}/s`
}

function processorCost(loads: readonly Load[]): string {
  const each = (thread: keyof ProcessorTime) =>
    `${median(loads.slice(1).map(({ answers, took }) => took[thread] / answers)).toFixed(1)} µs`
  return `${each('mainThread')} of its main thread and ${each('otherThreads')} of others`
}
