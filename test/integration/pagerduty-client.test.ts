import { once } from 'node:events'
import { Agent } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { acknowledge, event, resolve, trigger } from '@pagerduty/pdjs'
import { afterAll, expect, test } from 'vitest'
import { createAuthority } from '../support/certificate.ts'
import { testConsole } from '../support/console.ts'
import { mutate } from '../support/filled-organization.ts'

/** Sends events with PagerDuty's own JavaScript client, in which only the host is changed. */

const { app, database, organization } = await testConsole()
const { prisma } = database

// The client speaks HTTPS only.
const authority = createAuthority()
const tls = createServer(authority.issue(['127.0.0.1']), (socket) => {
  const inner = connect(Number(new URL(app.baseUrl).port), '127.0.0.1')
  socket.pipe(inner).pipe(socket)
  for (const each of [socket, inner]) each.on('error', () => undefined)
}).listen(0, '127.0.0.1')
await once(tls, 'listening')
const agent = new Agent({ ca: authority.ca })
const to = { server: `127.0.0.1:${(tls.address() as AddressInfo).port}`, agent }
afterAll(() => {
  agent.destroy()
  tls.close()
})

let made = 0

/** An integration of a new organization. */
async function integration(rule: object = {}) {
  const { key } = await organization(`acme-${++made}`)
  const { id, url } = await mutate<{ id: string; url: string }>(
    ...([app.baseUrl, key, 'createIntegration', 'Integration'] as const),
    { name: 'Pager', kind: 'PAGERDUTY_EVENTS', rules: [rule] },
    'id url',
  )
  const routing_key = new URL(url).pathname.split('/').at(-1) ?? ''
  /** The outcomes of the received bodies, once all are read. */
  async function outcomes(count: number): Promise<string[]> {
    const read = () =>
      prisma.incomingBody.findMany({
        where: { integrationId: id, status: { not: 'PENDING' } },
        orderBy: { position: 'asc' },
      })
    await expect.poll(async () => (await read()).length, { timeout: 20_000 }).toBe(count)
    return (await read()).map(({ status, note }) => `${status} ${note}`)
  }
  const incidents = async () => {
    const groups = await prisma.incomingGroup.findMany({ where: { integrationId: id } })
    const known = groups.flatMap(({ incidentId }) => incidentId ?? [])
    return prisma.incident.findMany({ where: { id: { in: known } }, include: { updates: true } })
  }
  return { routing_key, outcomes, incidents }
}

const payload = {
  summary: 'Replication lag is 400 s',
  source: 'db-1.example.com',
  severity: 'critical',
  timestamp: new Date().toISOString(),
  component: 'postgres',
  group: 'prod-datapipe',
  class: 'deploy',
  custom_details: { 'lag s': 400, nested: { team: 'data' } },
} as const
const success = (key: string | object) => ({ status: 202, data: { status: 'success', dedup_key: key } })

test('triggers, repeats, acknowledges and resolves one incident', async () => {
  const { routing_key, outcomes, incidents } = await integration()
  const data = { routing_key, dedup_key: 'srv01/lag', payload }
  const links = [{ href: 'https://runbooks.example.com/lag', text: 'Runbook' }]
  const images = [{ src: 'https://charts.example.com/lag.png', href: 'https://charts.example.com', alt: 'Lag' }]
  const shown = { links, images, client: 'Monitor', client_url: 'https://monitor.example.com' }
  expect(await trigger({ ...to, data: { ...data, ...shown } })).toMatchObject(success('srv01/lag'))
  expect(await trigger({ ...to, data })).toMatchObject(success('srv01/lag'))
  expect(await acknowledge({ ...to, data })).toMatchObject(success('srv01/lag'))
  expect(await outcomes(3)).toEqual([
    'DONE Suggested an incident.',
    'DONE Already known.',
    'IGNORED It was acknowledged at its source.',
  ])
  const [incident, ...others] = await incidents()
  expect(others).toEqual([])
  expect(incident).toMatchObject({ title: payload.summary, impact: 'CRITICAL', status: 'INVESTIGATING' })
  expect(incident?.updates[0]?.message).toContain('(<https://runbooks.example.com/lag>)')
  // A resolution requires only the key.
  expect(await resolve({ ...to, data: { routing_key, dedup_key: 'srv01/lag' } })).toMatchObject(success('srv01/lag'))
  expect((await outcomes(4)).at(-1)).toBe('DONE Resolved its incident.')
  expect(await incidents()).toMatchObject([{ id: incident?.id, status: 'RESOLVED' }])
})

test('resolves by the key from the response if it has none of its own', async () => {
  const { routing_key, outcomes, incidents } = await integration({ mode: 'DRAFT' })
  const data = { routing_key, event_action: 'trigger', payload } as const
  const first = await event({ ...to, data })
  const second = await event({ ...to, data })
  expect([first, second]).toMatchObject([success(expect.any(String)), success(expect.any(String))])
  const [one, two] = [first, second].map(({ data: given }) => (given as { dedup_key: string }).dedup_key)
  expect(one).not.toBe(two)
  await resolve({ ...to, data: { routing_key, dedup_key: String(one), payload } })
  const [opened, joined, resolved] = await outcomes(3)
  expect([opened, joined, resolved]).toEqual([
    'DONE Drafted an incident.',
    'DONE Joined the incident of other alerts.',
    'DONE Resolved; 1 other alert of its incident still firing.',
  ])
  await resolve({ ...to, data: { routing_key, dedup_key: String(two), payload } })
  expect((await outcomes(4)).at(-1)).toBe('DONE Resolved its incident.')
  expect(await incidents()).toMatchObject([{ status: 'RESOLVED', visibility: 'DRAFT' }])
})

test('keeps a key that is longer than PagerDuty allows, because others may begin alike', async () => {
  const { routing_key, outcomes } = await integration()
  const keys = ['1', '2'].map((end) => `${'k'.repeat(300)}${end}`)
  for (const dedup_key of keys)
    expect(await trigger({ ...to, data: { routing_key, dedup_key, payload } })).toMatchObject(success(dedup_key))
  await resolve({ ...to, data: { routing_key, dedup_key: String(keys[0]) } })
  expect((await outcomes(3)).at(-1)).toBe('DONE Resolved; 1 other alert of its incident still firing.')
})

test('matches rules by the labels of its events', async () => {
  const { routing_key, outcomes } = await integration({
    labels: [
      { name: 'component', value: 'postgres' },
      { name: 'severity', value: 'critical' },
    ],
  })
  await trigger({ ...to, data: { routing_key, dedup_key: 'a', payload: { ...payload, severity: 'info' } } })
  await trigger({ ...to, data: { routing_key, dedup_key: 'b', payload } })
  expect(await outcomes(2)).toEqual(['IGNORED No rule matches it.', 'DONE Suggested an incident.'])
})

test('gets errors as JSON, and does not retry', async () => {
  const wrong = await trigger({ ...to, data: { routing_key: 'a'.repeat(32), payload } })
  expect(wrong).toMatchObject({ status: 404, data: { error: { code: 'NOT_FOUND' } } })
  const { routing_key, outcomes, incidents } = await integration()
  // An event without a payload is kept, not lost.
  const empty = await trigger({ ...to, data: { routing_key, dedup_key: 'x' } })
  expect(empty).toMatchObject(success('x'))
  expect(await outcomes(1)).toEqual(['DONE Suggested an incident.'])
  expect(await incidents()).toMatchObject([{ title: 'x' }])
})
