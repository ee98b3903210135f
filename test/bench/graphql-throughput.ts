import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { DnsServer } from '../../src/core/config.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { startBare } from './http-throughput.ts'
import { newOrganization } from './organization.ts'
import { ownDatabase } from './postgres.ts'
import { isShort, line, roundsOf, title, verdict } from './report.ts'
import { startNode, startService, stopNode } from './service.ts'
import type { Load } from './wrk.ts'
import { hasWrk, loadBy, processorCost, rate, ratio } from './wrk.ts'

const connections = 64
const seconds = 2
const rounds = roundsOf(7)
const documents = 20
const services = 10

/**
 * Visitors' queries from the answer cache, beside mercurius with its compiler and a bare server that sends the same
 * bytes.
 */
export async function graphqlThroughput(dns: DnsServer, dataDir: string): Promise<void> {
  if (!(await hasWrk())) return title('Hot GraphQL queries: skipped, because wrk is not installed')
  await compare('the embedded database', dns, dataDir)
  if (isShort) return
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`Hot GraphQL queries on PostgreSQL: skipped (${database})`)
  await compare('PostgreSQL', dns, dataDir, database.url).finally(() => database.remove())
}

async function compare(where: string, dns: DnsServer, dataDir: string, databaseUrl?: string): Promise<void> {
  title(`Hot public GraphQL queries on ${where}: ${connections} callers, ${rounds} rounds of ${seconds} s by turns`)
  const service = await startService(dns, dataDir, { DATABASE_URL: databaseUrl })
  const files = await temporaryDirectory()
  const url = `http://127.0.0.1:${service.port}/graphql`
  const { slug } = await newOrganization(service.port, services)
  const bodies = Array.from({ length: documents }, (_, number) => JSON.stringify({ query: queryOf(slug, number) }))
  const response = await send(url, bodies[0] ?? '')
  const text = await response.text()
  const mercurius = await startMercurius(JSON.parse(text).data)
  const bare = await startBare({ status: 200, rawHeaders: [...response.headers].flat(), body: Buffer.from(text) })
  try {
    for (const [name, sent] of [
      ['one document', bodies.slice(0, 1)],
      [`${documents} documents in turn`, bodies],
    ] as const) {
      const file = join(files.path, `bodies-${sent.length}`)
      await writeFile(file, `${sent.join('\n')}\n`)
      const loads: Record<'bare' | 'mercurius' | 'service', Load[]> = { bare: [], mercurius: [], service: [] }
      for (let round = 0; round < rounds; round++) {
        for (const [which, server] of Object.entries({ bare, mercurius, service })) {
          const load = { script: 'posts.lua', arguments: [file], path: '/graphql', connections, seconds }
          loads[which as keyof typeof loads].push(await loadBy(server, load))
        }
      }
      // The first round warms up the compilers.
      for (const each of Object.values(loads)) each.shift()
      line(`${name}: bare ${rate(loads.bare)}; mercurius ${rate(loads.mercurius)}; service ${rate(loads.service)}`)
      line(`processor time an answer of ${text.length} bytes: bare ${processorCost(loads.bare)};`)
      line(`  mercurius ${processorCost(loads.mercurius)}; service ${processorCost(loads.service)}`)
      verdict(`${name}, ${where}: service / mercurius`, ratio(loads.service, loads.mercurius), { least: 1 })
      verdict(`${name}, ${where}: service / bare`, ratio(loads.service, loads.bare), { least: 0.6 })
    }
  } finally {
    await Promise.all([service.stop(), mercurius.stop(), bare.stop()])
    await files.remove()
  }
}

const queryOf = (slug: string, number: number) =>
  `query Q${number} { statusPage(slug: "${slug}") { name cursor status { indicator description } services { id name status } incidents { title status updates(first: 3) { nodes { message createdAt } } } } }`

const send = (url: string, body: string) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

async function startMercurius(data: unknown) {
  // A package of its own, so that nobody else installs it.
  const folder = 'test/bench/mercurius'
  if (!existsSync(`${folder}/node_modules`)) await promisify(execFile)('npm', ['ci'], { cwd: folder })
  const child = startNode(`${folder}/server.mjs`, [], {})
  child.send(data as object)
  const [port] = await once(child, 'message')
  return { port: port as number, pid: child.pid ?? 0, stop: () => stopNode(child) }
}
