// @slow
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { serverUrl } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate, succeed } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import type { ServiceProcess } from '../support/process.ts'
import { startService } from '../support/process.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { testData } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const { dataDir, settings, remove } = await testData()
const started: ServiceProcess[] = []
afterAll(async () => {
  for (const service of started) service.signal('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  await dns.close()
  await remove()
})

function start(): ServiceProcess {
  const service = startService(dns, {
    DATA_DIR: dataDir,
    SECRET_KEY: 'the key of two processes and their tests',
    ...settings,
  })
  started.push(service)
  return service
}

interface Found {
  readonly state: string
  readonly regions: readonly { readonly startedAt: string | null }[]
  readonly results: {
    readonly nodes: readonly { readonly outcome: string; readonly latencyMs: number | null; readonly at: string }[]
  }
}

test(`after a kill between the starts and the ends of two runs, each run has its own duration (${serverUrl ? 'server' : 'embedded'})`, async () => {
  const first = start()
  const url = await first.ready()
  const { key } = await newOrganization(url)
  const heartbeat = { graceSeconds: 60, maxRunSeconds: 3600 }
  const input = { name: 'Backup', intervalSeconds: 300, probe: { heartbeat } }
  const fields = 'id options { ... on HeartbeatOptions { url } }'
  const job = await mutate<{ id: string; options: { url: string } }>(
    ...([url, key, 'createMonitor', 'Monitor', input, fields] as const),
  )
  const path = new URL(job.options.url).pathname
  const runs = [randomUUID(), randomUUID()] as const
  const read = (base: string) =>
    succeed<Found>(
      base,
      key,
      `query ($id: ID!) { node(id: $id) { ... on Monitor {
        state regions { startedAt } results(first: 10) { nodes { at outcome latencyMs } } } } }`,
      { id: job.id },
    )
  const starts: number[] = []
  for (const rid of runs) {
    expect((await fetch(`${url}${path}/start?rid=${rid}`)).status).toBe(200)
    const { regions } = await read(url)
    // The oldest run says since when the job runs.
    starts.push(Date.parse(regions[0]?.startedAt ?? ''))
  }
  expect(starts[1]).toBe(starts[0])
  const sentAt = Date.now()
  first.signal('SIGKILL')
  expect((await first.ended).signal).toBe('SIGKILL')

  const second = start()
  const again = await second.ready()
  expect((await read(again)).regions).toEqual([{ startedAt: new Date(starts[0] ?? 0).toISOString() }])
  expect((await fetch(`${again}${path}?rid=${runs[1]}`)).status).toBe(200)
  await expect.poll(async () => (await read(again)).state).toBe('UP')
  const one = await read(again)
  expect(one.regions).toEqual([{ startedAt: new Date(starts[0] ?? 0).toISOString() }])
  expect((await fetch(`${again}${path}/fail?rid=${runs[0]}`)).status).toBe(200)
  await expect.poll(async () => (await read(again)).state).toBe('DOWN')
  const both = await read(again)
  expect(both.regions).toEqual([{ startedAt: null }])
  const [failure, success] = both.results.nodes
  expect(both.results.nodes.map(({ outcome }) => outcome)).toEqual(['DOWN', 'UP'])
  expect(failure?.latencyMs).toBe(Date.parse(failure?.at ?? '') - (starts[0] ?? 0))
  // The second run started after the first one, and before the process was killed.
  const begun = Date.parse(success?.at ?? '') - (success?.latencyMs ?? 0)
  expect(begun).toBeGreaterThan(starts[0] ?? 0)
  expect(begun).toBeLessThanOrEqual(sentAt)
})
