import type { DnsServer } from '../../src/core/config.ts'
import { startBare } from './http-throughput.ts'
import { newOrganization } from './organization.ts'
import { ownDatabase } from './postgres.ts'
import { isShort, line, roundsOf, title, verdict } from './report.ts'
import { requestWith, startService } from './service.ts'
import type { Load } from './wrk.ts'
import { hasWrk, loadBy, processorCost, rate, ratio } from './wrk.ts'

const connections = 64
const seconds = 2
const rounds = roundsOf(5)
const services = 20

/** Hot public documents without changes, beside a bare server that sends the same bytes. */
export async function publicAnswers(dns: DnsServer, dataDir: string): Promise<void> {
  if (!(await hasWrk())) return title('Hot public answers: skipped, because wrk is not installed')
  await compare('the embedded database', dns, dataDir)
  if (isShort) return
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`Hot public answers on PostgreSQL: skipped (${database})`)
  await compare('PostgreSQL', dns, dataDir, database.url).finally(() => database.remove())
}

async function compare(where: string, dns: DnsServer, dataDir: string, databaseUrl?: string): Promise<void> {
  title(`Hot public answers on ${where}: ${connections} callers, ${rounds} rounds of ${seconds} s by turns`)
  const service = await startService(dns, dataDir, { DATABASE_URL: databaseUrl })
  try {
    const { slug } = await newOrganization(service.port, services)
    const page = `/status/${slug}/en`
    const gzip = { 'accept-encoding': 'gzip' }
    const { rawHeaders } = await requestWith(service.port, page, gzip)
    const etag = rawHeaders[rawHeaders.findIndex((name) => /^etag$/i.test(name)) + 1] ?? ''
    for (const [name, path, headers] of [
      ['page, gzip', page, gzip],
      ['page, 304', page, { ...gzip, 'if-none-match': etag }],
      ['summary.json', `/status/${slug}/api/v2/summary.json`, {}],
    ] as const) {
      const answer = await requestWith(service.port, path, headers)
      const bare = await startBare(answer)
      const load = { script: 'gets.lua', arguments: Object.entries(headers).flat(), path, connections, seconds }
      const loads: Record<'bare' | 'service', Load[]> = { bare: [], service: [] }
      try {
        for (let round = 0; round <= rounds; round++) {
          loads.bare.push(await loadBy(bare, load))
          loads.service.push(await loadBy(service, load))
        }
      } finally {
        await bare.stop()
      }
      // The first round warms up the compilers.
      for (const each of Object.values(loads)) each.shift()
      line(
        `${name} (${answer.status}, ${answer.body.length} bytes): bare ${rate(loads.bare)}; service ${rate(loads.service)}`,
      )
      line(`  processor time an answer: bare ${processorCost(loads.bare)}; service ${processorCost(loads.service)}`)
      verdict(`${name}, ${where}: service / bare`, ratio(loads.service, loads.bare), { least: 0.7 })
    }
  } finally {
    await service.stop()
  }
}
