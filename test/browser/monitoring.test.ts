import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { SECOND } from '../../src/core/time.ts'
import { testApp } from '../support/app.ts'
import { useChromium } from '../support/chromium.ts'
import { noon } from '../support/context.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate, succeed } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

/** The service's clock, which the test advances. */
let time = noon
const now = () => time

/** The monitored server: records the times of requests, and its answers. */
const asked: { at: Date; status: number }[] = []
let status = 200
const watched = createServer((_, response) => {
  asked.push({ at: now(), status })
  response.writeHead(status).end()
}).listen(0, '127.0.0.1')
await new Promise((resolve) => watched.once('listening', resolve))
const { port } = watched.address() as AddressInfo

const dns = await startDnsServer(scriptedLists())
const settings = { ALLOW_PRIVATE_NETWORKS: 'true', DEFAULT_TIER: 'team' }
const { baseUrl } = await testApp({ dns, now, settings })
afterAll(async () => {
  watched.close()
  await dns.close()
})

const newTab = useChromium()

test('an outage opens and resolves an incident, the open page follows, and the uptime is exact to the second', async () => {
  const { slug, key } = await newOrganization(baseUrl)
  const { id: serviceId } = await mutate(baseUrl, key, 'createService', 'Service', {
    name: 'Website',
    status: 'OPERATIONAL',
  })
  await using tab = await newTab((url) => url.startsWith(baseUrl))
  const { page } = tab
  await page.goto(`${baseUrl}/status/${slug}`)
  await page.locator('#live[data-state=live]').waitFor()
  await page.evaluate(() => Object.assign(window, { same: true }))
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor()
  await heading('All services are operational')

  const http = { url: `http://127.0.0.1:${port}/health` }
  const monitor = { name: 'Website', serviceId, intervalSeconds: 60, failureThreshold: 3, probe: { http } }
  const { id } = await mutate(baseUrl, key, 'createMonitor', 'Monitor', monitor)
  const read = (fields: string) =>
    succeed(baseUrl, key, `query ($id: ID!) { node(id: $id) { ... on Monitor { ${fields} } } }`, { id })
  /** Advances the clock. Returns the result of the probe that is due then. */
  const check = async (seconds: number) => {
    time = new Date(time.getTime() + seconds * SECOND)
    const last = async () => (await read('lastResult { at outcome }'))['lastResult'] as Record<string, string> | null
    await expect.poll(async () => (await last())?.['at']).toBe(time.toISOString())
    return (await last())?.['outcome']
  }
  expect(await check(0)).toBe('UP')
  expect(await check(60)).toBe('UP')
  expect(await check(60)).toBe('UP')

  status = 503
  expect(await check(60)).toBe('DOWN')
  // A contradicting result is confirmed sooner than a minute later.
  expect(await check(20)).toBe('DOWN')
  await heading('All services are operational')
  expect(await page.locator('#open-incidents').count()).toBe(0)
  expect(await check(20)).toBe('DOWN')
  await heading('Major outage: Website')
  await page.getByRole('link', { name: 'Website is down' }).waitFor()
  await page.locator('.prose', { hasText: 'Website went down at 12:03:00 UTC' }).waitFor()
  expect(await check(60)).toBe('DOWN')

  status = 200
  expect(await check(60)).toBe('UP')
  await heading('All services are operational')
  expect(await page.locator('#open-incidents').count()).toBe(0)
  await page.locator('#past').getByText('Website recovered after 2 minutes 40 seconds.').waitFor()
  expect(await page.evaluate(() => 'same' in window)).toBe(true)
  await page.locator(`#${serviceId} summary .name`).click()
  await page.locator(`#${serviceId} .days-link`).click()
  await page.locator('.eventful li', { hasText: 'Down 2 min' }).waitFor()
  expect(tab.complaints).toEqual([])

  time = new Date(time.getTime() + 30 * SECOND)
  const failed = asked.filter((each) => each.status === 503)
  const first = failed[0]?.at ?? noon
  const recovered = asked.at(-1)?.at ?? noon
  const down = (recovered.getTime() - first.getTime()) / SECOND
  expect([failed.length, down]).toEqual([4, 160])
  const up = (time.getTime() - noon.getTime()) / SECOND - down
  const past = await read(`
    uptime(from: "${noon.toISOString()}") { percentage coverage upSeconds downSeconds unknownSeconds }
    outages { edges { node { startedAt endedAt downSeconds cause incident { title status startedAt resolvedAt } } } }`)
  const outage = { startedAt: first.toISOString(), endedAt: recovered.toISOString(), downSeconds: down }
  const incident = {
    title: 'Website is down',
    status: 'RESOLVED',
    startedAt: outage.startedAt,
    resolvedAt: outage.endedAt,
  }
  expect(past).toMatchObject({
    uptime: { coverage: 100, upSeconds: up, downSeconds: down, unknownSeconds: 0 },
    outages: { edges: [{ node: { ...outage, cause: expect.stringContaining('503'), incident } }] },
  })
  expect((past['uptime'] as { percentage: number }).percentage).toBeCloseTo((100 * up) / (up + down), 2)
})
