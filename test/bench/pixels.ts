import { once } from 'node:events'
import type { DnsServer } from '../../src/core/config.ts'
import { openFileLimit } from '../../src/core/process/open-files.ts'
import { newOrganization, updateOf } from './organization.ts'
import type { Followed, ViewerOrder } from './pixels-viewers.ts'
import { ownDatabase } from './postgres.ts'
import { processorTime } from './processor.ts'
import { line, median, title, verdict } from './report.ts'
import { startNode, startService, stopNode } from './service.ts'

/**
 * Organizations by number of services, with the number of open pages, and the target in seconds for the last one to
 * have the update.
 */
const cases = [
  { services: 20, viewers: 5_000, most: 0.6 },
  { services: 100, viewers: 5_000, most: 0.6 },
  // As many as fit where the limit of open files is low.
  { services: 100, viewers: Math.min(20_000, openFileLimit() - 1000), most: 2 },
]
const rounds = 3

/** (n) The time from an incident update until every open page has it. */
export async function pixels(dns: DnsServer, dataDir: string): Promise<void> {
  await measure(dns, dataDir, null)
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`(n) Open pages on PostgreSQL: skipped (${database})`)
  await measure(dns, dataDir, database.url).finally(() => database.remove())
}

async function measure(dns: DnsServer, dataDir: string, url: string | null): Promise<void> {
  const where = url === null ? 'the embedded database' : 'PostgreSQL'
  title(`(n) An update to open pages on ${where}, medians of ${rounds} rounds; the viewers are another process`)
  const service = await startService(dns, dataDir, {
    ...(url !== null && { DATABASE_URL: url }),
    DEFAULT_TIER: 'team',
    LOG_LEVEL: 'fatal',
  })
  const child = startNode('dist/pixels-viewers.js', [], {})
  const lost = once(child, 'exit').then(() => Promise.reject(new Error('The viewers’ process has ended')))
  const send = async <T>(order: ViewerOrder): Promise<T> => {
    child.send(order)
    const [answer] = await Promise.race([once(child, 'message'), lost])
    return answer as T
  }
  try {
    for (const { services, viewers, most } of cases) {
      const name = `${services} services, ${viewers.toLocaleString('en')} pages`
      const { slug, run, incidentId } = await newOrganization(service.port, services)
      await send({ do: 'open', port: service.port, slug, count: viewers })
      const figures: (Followed & { readonly took: number; readonly busy: number })[] = []
      for (let round = 0; round <= rounds; round++) {
        const text = `Round ${round} of the bench`
        await send({ do: 'follow', text })
        const before = await processorTime(service.pid)
        const begunAt = Date.now()
        const followed = once(child, 'message')
        await run(updateOf(incidentId, text))
        const [answer] = (await Promise.race([followed, lost])) as [Followed]
        const busy = (await processorTime(service.pid)).mainThread - before.mainThread
        figures.push({ ...answer, took: answer.lastAt - begunAt, busy })
      }
      // The first round warms up.
      figures.shift()
      const middle = (figure: keyof (typeof figures)[number]) => median(figures.map((each) => each[figure]))
      line(
        `${name}: the last page after ${middle('took')} ms; ${middle('bytesEach').toFixed(0)} bytes and ${middle('requestsEach').toFixed(2)} requests a viewer, ${middle('resets')} resets; ${(middle('busy') / viewers).toFixed(0)} µs of main thread a viewer`,
      )
      verdict(`${name}: seconds until the last page`, middle('took') / 1000, { most })
      verdict(`${name}: kB a viewer`, middle('bytesEach') / 1000, { most: 1.5 })
    }
  } finally {
    lost.catch(() => {})
    await stopNode(child)
    await service.stop()
  }
}
