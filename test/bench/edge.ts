import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { DnsServer } from '../../src/core/config.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { nginxMissing, startEdge } from '../support/nginx.ts'
import { newOrganization, updateOf } from './organization.ts'
import { line, median, title, verdict } from './report.ts'
import { startService } from './service.ts'
import { hasWrk } from './wrk.ts'

const seconds = 20
const rounds = 5

/** (o) Pollers of public answers behind nginx, configured as docs/deployment.md says. */
export async function edge(dns: DnsServer, dataDir: string): Promise<void> {
  if (nginxMissing !== null || !(await hasWrk()))
    return title('(o) A cache in front: skipped, because nginx or wrk is not installed')
  title(`(o) A cache in front: ${seconds} s of load, then ${rounds} changes seen by polling`)
  const service = await startService(dns, dataDir, { DEFAULT_TIER: 'team', LOG_LEVEL: 'fatal' })
  const origin = await startCountingProxy(`http://127.0.0.1:${service.port}`)
  const cache = await startEdge(origin.url)
  try {
    const { slug, run, incidentId } = await newOrganization(service.port, 20)
    const page = `/status/${slug}`
    const paths = [page, `${page}/history`, `${page}/api/v2/summary.json`, `${page}/badge.svg`]
    origin.paths.length = 0
    const answers = await Promise.all(paths.map((path) => load(cache.url + path)))
    const perSecond = answers.reduce((sum, count) => sum + count, 0) / seconds
    const most = Math.max(...paths.map((path) => origin.paths.filter((asked) => asked === path).length))
    line(`${Math.round(perSecond).toLocaleString('en')} answers a second of ${paths.length} addresses`)
    verdict('requests of the service per address and 5 s, after the first', (most - 1) / (seconds / 5), { most: 1 })

    const delays: number[] = []
    for (let round = 0; round < rounds; round++) {
      const text = `Change ${round} at the edge`
      await fetch(cache.url + page)
      const begun = performance.now()
      await run(updateOf(incidentId, text))
      while (!(await (await fetch(cache.url + page)).text()).includes(text)) await sleep(50)
      delays.push((performance.now() - begun) / 1000)
    }
    verdict('seconds until pollers see a change, middle', median(delays), { most: 6 })
    verdict('seconds until pollers see a change, longest', Math.max(...delays), { most: 6 })

    const html = await (await fetch(cache.url + page)).text()
    const begun = performance.now()
    await run(updateOf(incidentId, 'A change by its position'))
    const current = await (await fetch(`http://127.0.0.1:${service.port}${page}`)).text()
    const address = `${page}?since=${attribute(html, 'version')}&at=${attribute(current, 'cursor')}`
    const changes = await (await fetch(cache.url + address)).text()
    if (!changes.includes('A change by its position')) throw new Error('The change was not at its address')
    verdict('seconds until those on a socket can fetch a change', (performance.now() - begun) / 1000, { most: 1 })

    origin.stop()
    await sleep(7000)
    const stale = await fetch(cache.url + page)
    line(`the service gone for 7 s: ${stale.status}, last modified ${stale.headers.get('last-modified')}`)
  } finally {
    origin.stop()
    await cache.stop()
    await service.stop()
  }
}

const attribute = (html: string, name: string) => new RegExp(`data-${name}="([^"]+)"`).exec(html)?.[1] ?? ''

/**
 * Requests an address over 16 connections at once, and returns the number of answers.
 * @throws when one is not 2xx.
 */
async function load(url: string): Promise<number> {
  const { stdout } = await promisify(execFile)('wrk', ['-t1', '-c16', `-d${seconds}s`, url])
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout)
  return Number(/(\d+) requests in/.exec(stdout)?.[1])
}
