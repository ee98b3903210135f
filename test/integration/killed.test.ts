import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import type { ServiceProcess } from '../support/process.ts'
import { startService } from '../support/process.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { testData } from '../support/service-data.ts'
import { using } from '../support/shared-database.ts'

const COUNT = 1000
/** How many requests a sender has under way. */
const AT_ONCE = 20
/** Ten seconds on a machine that does nothing else; the tests share theirs. */
const LONGEST_MS = 30_000
/** After so many answers the service is killed. */
const KILLED_AFTER = 400

const data = await testData()
const dns = await startDnsServer(scriptedLists())
const started: ServiceProcess[] = []
afterAll(async () => {
  for (const service of started) service.signal('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  await dns.close()
  await data.remove()
})

function start(): ServiceProcess {
  const service = startService(dns, { DATA_DIR: data.dataDir, ...data.settings })
  started.push(service)
  return service
}

test('1,000 alerts of one sender, and the service killed in the middle: none is lost, one incident', async () => {
  const first = start()
  const url = await first.ready()
  const { key } = await newOrganization(url)
  const made = await mutate<{ id: string; url: string }>(
    url,
    key,
    'createIntegration',
    'Integration',
    { name: 'Checks', kind: 'GENERIC', rules: [{ mode: 'PUBLISH' }] },
    'id url',
  )
  const { pathname } = new URL(made.url)
  const left = Array.from({ length: COUNT }, (_, number) => number)
  const accepted = new Set<number>()

  /** Sends until all is accepted or the service is gone: what was not answered is sent again, as senders do. */
  async function sendTo(base: string, until: number): Promise<void> {
    for (let number = left.pop(); number !== undefined; number = left.pop()) {
      const alert = { title: `Check ${number % 40} fails`, key: `check ${number % 40}`, text: `number ${number}.` }
      const status = await fetch(base + pathname, { method: 'POST', body: JSON.stringify(alert) })
        .then((response) => response.status)
        .catch(() => 0)
      if (status === 202) accepted.add(number)
      else left.push(number)
      if (accepted.size >= until) first.signal('SIGKILL')
      if (status !== 202) return
    }
  }
  const sendAll = (base: string, until = Number.POSITIVE_INFINITY) =>
    Promise.all(Array.from({ length: AT_ONCE }, () => sendTo(base, until)))

  const begun = performance.now()
  await sendAll(url, KILLED_AFTER)
  const sendingMs = performance.now() - begun
  expect((await first.ended).signal).toBe('SIGKILL')
  expect(accepted.size, 'it was killed in the middle').toBeLessThan(COUNT)

  const second = start()
  const again = await second.ready()
  const resumed = performance.now()
  await sendAll(again)
  const allMs = sendingMs + performance.now() - resumed
  expect(allMs).toBeLessThan(LONGEST_MS)
  expect(accepted.size).toBe(COUNT)
  await allRead(again, key)
  second.signal('SIGTERM')
  await second.ended

  const where = data.settings['DATABASE_URL'] ?? data.dataDir
  await using(where, async ({ prisma }) => {
    const [read, ...others] = await prisma.incomingBody.groupBy({ by: ['status'], _count: true })
    expect([read?.status, others]).toEqual(['DONE', []])
    // What was stored when its answer was lost came twice.
    expect(read?._count).toBeGreaterThanOrEqual(COUNT)
    expect(read?._count).toBeLessThanOrEqual(COUNT + AT_ONCE)
    expect(await prisma.incident.count()).toBe(1)
    expect(await prisma.incomingGroup.count()).toBe(40)
  })
})

/** Waits until nothing that came in waits to be read. */
async function allRead(url: string, key: string): Promise<void> {
  const query = '{ organization { integrations { received { status } } } }'
  for (;;) {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query }),
    })
    const { data: found } = await response.json()
    const bodies: { status: string }[] = found.organization.integrations[0].received
    if (bodies.every(({ status }) => status !== 'PENDING')) return
    await sleep(100)
  }
}
