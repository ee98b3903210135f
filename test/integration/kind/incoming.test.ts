// @slow
import { createSign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { NotFound } from '../../../src/core/errors.ts'
import { DAY, MINUTE, utcDay } from '../../../src/core/time.ts'
import { BYTES_PER_DAY } from '../../../src/integration/byte-quota.ts'
import {
  createIntegration,
  deleteIntegration,
  rotateIntegration,
  updateIntegration,
} from '../../../src/integration/integration.ts'
import type { ReceiveContext } from '../../../src/integration/receive.ts'
import { createReceiveLimits, receive, receiveEvent } from '../../../src/integration/receive.ts'
import { readBody } from '../../../src/integration/received.ts'
import { deleteOldBodies, MAX_GROUPS } from '../../../src/integration/retention.ts'
import { readSns } from '../../../src/integration/sns.ts'
import { createIncomingWorker } from '../../../src/integration/worker.ts'
import type { Answer, Outbound } from '../../../src/network/outbound/outbound.ts'
import { dismissIncident, publishIncident } from '../../../src/status/incident/incident-publication.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { seal, site } from '../../notification/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { createAuthority } from '../../support/certificate.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma, pool } = await testDatabase()
const tenant = tenantsOf(prisma)
let minutes = 0
const now = () => new Date(noon.getTime() + minutes * MINUTE)
const system = testContext(prisma, { now })
const noRequests = { request: () => Promise.reject(new Error('No request is expected.')) }
const newWorker = () => createIncomingWorker({ ctx: system, seal, outbound: noRequests })

/** A tenant with a service, and a GENERIC integration with these rules. */
async function withIntegration(rules: readonly object[] | null = null, kind = 'GENERIC') {
  minutes = 0
  const acme = await tenant('TEAM')
  const [serviceId = ''] = await acme.services('Shop')
  const ctx: ReceiveContext = { ...acme.ctx, now, seal, site, receiveLimits: createReceiveLimits() }
  const given = rules?.map((rule) => ({ serviceId, ...rule })) ?? null
  const { integration, secret } = await createIntegration(ctx, { name: 'Prom', kind, rules: given })
  if (secret === null) throw new Error('There is no secret.')
  const worker = newWorker()
  const send = (body: object, address = secret) =>
    receive(ctx, address, { body: Buffer.from(JSON.stringify(body)), header: () => undefined })
  const work = async () => {
    await worker.poll()
    await worker.idle()
  }
  return {
    ...{ ...acme, ctx, serviceId, id: integration.id, secret, send, work },
    async deliver(...bodies: object[]) {
      for (const body of bodies) await send(body)
      await work()
    },
    incidents: () =>
      prisma.incident.findMany({
        where: { organizationId: acme.id },
        include: { services: true, updates: { orderBy: { createdAt: 'asc' } } },
        orderBy: { createdAt: 'asc' },
      }),
    notes: async () =>
      (
        await prisma.incomingBody.findMany({ where: { integrationId: integration.id }, orderBy: { position: 'asc' } })
      ).map(({ status, note }) => `${status} ${note}`),
  }
}

const fires = { title: 'Checkout is slow', key: 'k', state: 'firing', severity: 'critical' }
const resolved = { ...fires, state: 'resolved' }

describe('an alert', () => {
  test('suggests an incident with its services once, and resolves it if no person has changed it', async () => {
    const { deliver, incidents, notes, serviceId, events } = await withIntegration([{}])
    await deliver(fires, fires)
    expect(await incidents()).toMatchObject([
      {
        ...{ title: 'Checkout is slow', visibility: 'SUGGESTED', impact: 'CRITICAL', automatic: false },
        services: [{ serviceId, status: 'MAJOR_OUTAGE' }],
        updates: [{ message: 'Checkout is slow\n\nReported by Prom.' }],
      },
    ])
    minutes = 5
    await deliver(resolved, resolved)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED', updates: [{}, { status: 'RESOLVED' }] }])
    expect(await notes()).toEqual([
      'DONE Suggested an incident.',
      'DONE Already known.',
      'DONE Resolved its incident.',
      'DONE Nothing was open.',
    ])
    expect((await events()).map(({ kind }) => kind).filter((kind) => /INCIDENT/.test(kind))).toEqual([
      'INCIDENT_DRAFTED',
      'INCIDENT_DRAFT_UPDATED',
    ])
  })

  test('reopens its incident within half an hour, and opens a new one later', async () => {
    const { deliver, incidents } = await withIntegration([{ mode: 'PUBLISH' }])
    await deliver(fires, resolved)
    minutes = 29
    await deliver(fires)
    expect(await incidents()).toMatchObject([{ visibility: 'PUBLIC', status: 'INVESTIGATING' }])
    await deliver(resolved)
    minutes = 60
    await deliver(fires)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED' }, { status: 'INVESTIGATING' }])
  })

  test('does not change an incident that a person has changed', async () => {
    const { ctx, deliver, incidents, notes } = await withIntegration([{ mode: 'PUBLISH' }])
    await deliver(fires)
    const [incident] = await incidents()
    await postIncidentUpdate(ctx, { incidentId: incident?.id, status: 'IDENTIFIED', message: 'We know.' })
    await deliver(resolved)
    expect((await incidents())[0]?.status).toBe('IDENTIFIED')
    await deliver(fires)
    expect(await incidents()).toHaveLength(2)
    expect((await notes())[1]).toBe('DONE Resolved; a person is working on its incident.')
  })

  test('does not change an incident that a person has published', async () => {
    const { ctx, deliver, incidents } = await withIntegration()
    await deliver(fires)
    await publishIncident(ctx, { id: (await incidents())[0]?.id })
    await deliver(resolved)
    expect(await incidents()).toMatchObject([{ visibility: 'PUBLIC', status: 'INVESTIGATING' }])
  })

  test('is not suggested again after its incident was dismissed, until it is resolved', async () => {
    const { ctx, deliver, incidents, notes } = await withIntegration()
    await deliver(fires)
    await dismissIncident(ctx, (await incidents())[0]?.id ?? '')
    await deliver(fires)
    expect(await incidents()).toEqual([])
    await deliver(resolved, fires)
    expect(await incidents()).toHaveLength(1)
    expect((await notes()).slice(1, 3)).toEqual([
      'DONE Its incident was dismissed.',
      'DONE Resolved; its incident was dismissed.',
    ])
  })

  test('shares an incident with alerts that begin within a minute, until the last of them ends', async () => {
    const { deliver, incidents } = await withIntegration([{ mode: 'DRAFT' }])
    const of = (key: string, state: string) => ({ ...fires, key, state })
    await deliver(of('a', 'firing'), of('b', 'firing'))
    minutes = 2
    await deliver(of('c', 'firing'), of('a', 'resolved'))
    expect((await incidents()).map(({ visibility, status }) => `${visibility} ${status}`)).toEqual([
      'DRAFT INVESTIGATING',
      'DRAFT INVESTIGATING',
    ])
    await deliver(of('b', 'resolved'))
    expect((await incidents()).map(({ status }) => status)).toEqual(['RESOLVED', 'INVESTIGATING'])
  })

  test('is ignored if no rule matches, and refused if it is unreadable; both are kept', async () => {
    const { deliver, incidents, notes } = await withIntegration([{ labels: [{ name: 'team', value: 'shop' }] }])
    await deliver(fires, {})
    expect(await incidents()).toEqual([])
    expect(await notes()).toEqual(['IGNORED No rule matches it.', 'IGNORED This has neither a title nor a key.'])
  })

  test('ends only itself, however alike its key and that of another alert begin', async () => {
    const { deliver, notes } = await withIntegration([{}])
    const of = (end: string, state: string) => ({ ...fires, state, key: `${'k'.repeat(1000)}${end}` })
    await deliver(of('1', 'firing'), of('2', 'firing'))
    await deliver(of('1', 'resolved'))
    await deliver(of('2', 'resolved'))
    expect(await notes()).toEqual([
      'DONE Suggested an incident.',
      'DONE Joined the incident of other alerts.',
      'DONE Resolved; 1 other alert of its incident still firing.',
      'DONE Resolved its incident.',
    ])
  })

  test('is ended by its sender although a test of the sender came in between', async () => {
    const { deliver, notes, incidents } = await withIntegration([{ mode: 'PUBLISH' }], 'GRAFANA')
    const group = (labels: object, groupKey: string, status: string) => ({
      ...{ receiver: 'page', status, groupKey, commonLabels: labels },
      alerts: [{ status, labels, startsAt: noon.toISOString() }],
    })
    const real = (status: string) => group({ alertname: 'Slow' }, '{}:{alertname="Slow"}', status)
    await deliver(real('firing'))
    await deliver(group({ alertname: 'TestAlert', instance: 'Grafana' }, 'page-57c6d9296de2ad39-1790000000', 'firing'))
    await deliver(real('resolved'))
    expect(await notes()).toEqual([
      'DONE Opened an incident.',
      'IGNORED This is a test from Grafana, which changes nothing.',
      'DONE Resolved its incident.',
    ])
    expect(await incidents()).toMatchObject([{ title: 'Slow', status: 'RESOLVED' }])
  })

  test('affects no service after the service of its rule was deleted', async () => {
    const { deliver, incidents, serviceId } = await withIntegration([{}])
    await prisma.service.delete({ where: { id: serviceId } })
    await deliver(fires)
    expect(await incidents()).toMatchObject([{ services: [] }])
  })
})

describe('a group of alerts', () => {
  const names = ['Shop', 'Search', 'Mail']
  const member = (service: string, severity = 'warning', status = 'firing') => ({
    ...{ status, labels: { service, severity }, annotations: { summary: `${service} is slow` } },
    startsAt: noon.toISOString(),
  })
  const group = (alerts: readonly { readonly status: string }[], more: object = {}) => ({
    ...{ version: '4', groupKey: 'g', commonLabels: { alertname: 'Slow' }, alerts },
    status: alerts.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
    ...more,
  })

  async function withServices(mode: (service: string) => string = () => 'PUBLISH') {
    const made = await withIntegration([], 'ALERTMANAGER')
    const services = await made.services(...names)
    const rules = names.map((name, index) => ({
      ...{ labels: [{ name: 'service', value: name }], serviceId: services[index], mode: mode(name) },
    }))
    await updateIntegration(made.ctx, { id: made.id, rules })
    const affected = async () =>
      (await made.incidents()).map(({ impact, status, visibility, services: found }) => ({
        ...{ impact, status, visibility },
        services: names.flatMap((name, index) => {
          const service = found.find(({ serviceId }) => serviceId === services[index])
          return service === undefined ? [] : [`${name} ${service.status}`]
        }),
      }))
    return { ...made, affected }
  }

  test('affects the services of all its firing alerts, adds services as it grows, and has the worst impact', async () => {
    const { deliver, affected, incidents, notes, events } = await withServices()
    await deliver(group([member('Shop'), member('Mail', 'critical', 'resolved')]))
    expect(await affected()).toEqual([
      { impact: 'MINOR', status: 'INVESTIGATING', visibility: 'PUBLIC', services: ['Shop DEGRADED_PERFORMANCE'] },
    ])
    await deliver(group([member('Shop'), member('Search', 'critical'), member('Other', 'critical')]))
    const grown = {
      ...{ impact: 'CRITICAL', status: 'INVESTIGATING', visibility: 'PUBLIC' },
      services: ['Shop DEGRADED_PERFORMANCE', 'Search MAJOR_OUTAGE'],
    }
    expect(await affected()).toEqual([grown])
    // The group shrinks and improves, which lowers neither statuses nor the impact.
    await deliver(group([member('Shop', 'info')]))
    expect(await affected()).toEqual([grown])
    await deliver(group([member('Shop', 'error')]))
    expect(await affected()).toEqual([{ ...grown, services: ['Shop PARTIAL_OUTAGE', 'Search MAJOR_OUTAGE'] }])
    expect((await incidents())[0]?.updates.map(({ message }) => message.split('\n')[0])).toEqual([
      'Shop is slow',
      'Also affected: Search.',
      'The problem has become worse.',
    ])
    expect((await events()).map(({ kind }) => kind).filter((kind) => /INCIDENT/.test(kind))).toEqual([
      'INCIDENT_CREATED',
      'INCIDENT_UPDATE_POSTED',
      'INCIDENT_UPDATE_POSTED',
    ])
    await deliver(group([member('Shop', 'error', 'resolved')]))
    expect(await affected()).toMatchObject([{ status: 'RESOLVED' }])
    expect(await notes()).toEqual([
      'DONE Opened an incident.',
      'DONE Added to its incident.',
      'DONE Already known.',
      'DONE Added to its incident.',
      'DONE Resolved its incident.',
    ])
  })

  test('does not change its incident once a person has changed it', async () => {
    const { ctx, deliver, affected, incidents, notes } = await withServices()
    await deliver(group([member('Shop')]))
    const [incident] = await incidents()
    await postIncidentUpdate(ctx, { incidentId: incident?.id, status: 'IDENTIFIED', message: 'We know.' })
    await deliver(group([member('Shop', 'critical'), member('Mail')]))
    expect(await affected()).toMatchObject([{ impact: 'MINOR', services: ['Shop DEGRADED_PERFORMANCE'] }])
    expect((await notes())[1]).toBe('DONE Already known; a person is working on its incident.')
  })

  test('has one incident per mode, which ends with its alerts, so that a suggestion is never published', async () => {
    const { deliver, affected } = await withServices((name) => (name === 'Mail' ? 'SUGGEST' : 'PUBLISH'))
    await deliver(group([member('Mail', 'critical'), member('Shop')]))
    const shop = {
      impact: 'MINOR',
      status: 'INVESTIGATING',
      visibility: 'PUBLIC',
      services: ['Shop DEGRADED_PERFORMANCE'],
    }
    const mail = {
      impact: 'CRITICAL',
      status: 'INVESTIGATING',
      visibility: 'SUGGESTED',
      services: ['Mail MAJOR_OUTAGE'],
    }
    expect(await affected()).toEqual(expect.arrayContaining([shop, mail]))
    const ends = [member('Mail', 'critical', 'resolved'), member('Shop')]
    // Alertmanager left out some alerts, which may still be firing.
    await deliver(group(ends, { truncatedAlerts: 3 }))
    expect(await affected()).toEqual(expect.arrayContaining([shop, mail]))
    await deliver(group(ends))
    expect(await affected()).toEqual(
      expect.arrayContaining([shop, { ...mail, status: 'RESOLVED', services: ['Mail OPERATIONAL'] }]),
    )
  })

  test('counts the alerts that were left out', async () => {
    const { deliver, incidents } = await withServices()
    await deliver(group([member('Shop'), member('Search')], { truncatedAlerts: 12 }))
    expect((await incidents())[0]?.updates[0]?.message).toBe(
      'Slow\n\nShop is slow\n\nSearch is slow\n\n12 more alerts are not listed.\n\nReported by Prom.',
    )
  })
})

describe('an integration’s URL', () => {
  test('works until it is replaced or deleted, and its secret is in no body', async () => {
    const { ctx, id, secret, send } = await withIntegration()
    await send({ ...fires, secret })
    const [body] = await prisma.incomingBody.findMany({ where: { integrationId: id } })
    expect(body && readBody(seal, body)).toContain('"secret":"•••"')
    expect(JSON.stringify(await prisma.incomingBody.findMany({ where: { integrationId: id } }))).not.toContain(
      'Checkout',
    )
    const { secret: next } = await rotateIntegration(ctx, id)
    await expect(send(fires)).rejects.toThrow(NotFound)
    await send(fires, next ?? '')
    await deleteIntegration(ctx, id)
    await expect(send(fires, next ?? '')).rejects.toThrow(NotFound)
    for (const strange of ['', '\0', 'x'.repeat(5000), `${next}'`])
      await expect(send(fires, strange)).rejects.toThrow(NotFound)
  })

  test('refuses messages that are not signed with the given secret', async () => {
    const { ctx, id, send, notes } = await withIntegration(null, 'SENTRY')
    await updateIntegration(ctx, { id, signingSecret: 'a secret of Sentry' })
    await expect(send({ secret: 'of ours' })).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' })
    await updateIntegration(ctx, { id, signingSecret: null })
    await send({})
    expect(await notes()).toEqual(['REFUSED Its signature is missing or invalid.', 'PENDING '])
    const [refused] = await prisma.incomingBody.findMany({ where: { integrationId: id, status: 'REFUSED' } })
    expect(refused && readBody(seal, refused)).toBe('{"secret":"of ours"}')
  })

  test('keeps the newest hundred bodies with a wrong signature, 20 a minute, and 16 KiB of each', async () => {
    const { ctx, id, send } = await withIntegration(null, 'SENTRY')
    await updateIntegration(ctx, { id, signingSecret: 'a secret of Sentry' })
    const text = 'x'.repeat(50_000)
    for (minutes = 0; minutes < 7; minutes += 1)
      for (let each = 0; each < 22; each += 1)
        await expect(send({ number: `${minutes} ${each}`, text })).rejects.toThrow('signature')
    const kept = await prisma.incomingBody.findMany({ where: { integrationId: id }, orderBy: { position: 'asc' } })
    expect(kept).toHaveLength(100)
    const [first, last] = [kept[0], kept.at(-1)].map((row) => row && readBody(seal, row))
    expect(first).toMatch(/^\{"number":"2 0"/)
    expect(last).toMatch(/^\{"number":"6 19"/)
    expect(last).toHaveLength(16 * 1024)
  })

  test('receives so many bytes a day for an integration and for its organization, and counts them in steps', async () => {
    const { ctx, id, secret, send } = await withIntegration()
    const { organizationId } = await prisma.integration.findUniqueOrThrow({ where: { id } })
    const day = utcDay(now())
    const used = async (subject: string) =>
      (await prisma.usageCounter.findUnique({ where: { subject_day: { subject, day } } }))?.count
    const use = (subject: string, count: number) =>
      prisma.usageCounter.update({ where: { subject_day: { subject, day } }, data: { count } })
    const [own, whole] = [`incoming bytes ${id}`, `incoming bytes ${organizationId}`]
    for (let each = 0; each < 3; each += 1) await send({ text: 'x'.repeat(200_000) })
    expect([await used(own), await used(whole)]).toEqual([2 ** 20, 2 ** 20])
    for (let each = 0; each < 3; each += 1) await send({ text: 'x'.repeat(200_000) })
    expect([await used(own), await used(whole)]).toEqual([2 ** 21, 2 ** 21])

    await use(own, BYTES_PER_DAY.integration - 1000)
    const fresh = { ...ctx, receiveLimits: createReceiveLimits() }
    const sent = () => receive(fresh, secret, { body: Buffer.alloc(2000, 'x'), header: () => undefined })
    await expect(sent()).rejects.toThrow('This integration can receive 64 MiB in a UTC day.')
    await use(own, 0)
    await use(whole, BYTES_PER_DAY.organization)
    await expect(sent()).rejects.toThrow('This organization’s integrations can receive 128 MiB')
    expect(await prisma.incomingBody.count({ where: { integrationId: id } })).toBe(6)
    minutes += 24 * 60
    await send({})
    expect(await prisma.incomingBody.count({ where: { integrationId: id } })).toBe(7)
  })

  test('keeps at most 32 MiB that wait, and 16 MiB that were read', async () => {
    const { id, send, work } = await withIntegration()
    const large = { text: 'x'.repeat(250_000) }
    const stored = async (status: 'PENDING' | 'IGNORED') => {
      const bodies = await prisma.incomingBody.findMany({ where: { integrationId: id, status } })
      return bodies.reduce((sum, { body }) => sum + body.length, 0)
    }
    const fill = async () => {
      for (let each = 0; each < 150; each += 1) await send(large)
    }
    await expect(fill()).rejects.toThrow('Too many requests of this integration are waiting.')
    expect(Math.abs((await stored('PENDING')) - 32 * 2 ** 20)).toBeLessThan(2 ** 19)
    while ((await stored('PENDING')) > 0) await work()
    for (let each = 0; each < 5; each += 1) await send(large)
    const kept = await prisma.incomingBody.findMany({ where: { integrationId: id, status: { not: 'PENDING' } } })
    const bytes = kept.reduce((sum, { body }) => sum + body.length, 0)
    expect(bytes).toBeLessThanOrEqual(16 * 2 ** 20)
    expect(bytes).toBeGreaterThan(15 * 2 ** 20)
  })

  test('lets other integrations have their turn after ten batches, and goes on later', async () => {
    const { id, send, work, notes } = await withIntegration()
    for (let each = 0; each < 25; each += 1) await send({ text: 'x'.repeat(250_000) })
    const waiting = async () => (await notes()).filter((note) => note.startsWith('PENDING')).length
    await work()
    expect(await waiting()).toBe(5)
    expect((await prisma.integration.findUniqueOrThrow({ where: { id } })).dueAt).toEqual(now())
    await work()
    expect(await waiting()).toBe(0)
  })

  test('counts what each service has received by itself', async () => {
    const { ctx, id, secret, send } = await withIntegration(null, 'SENTRY')
    await updateIntegration(ctx, { id, signingSecret: 'a secret of Sentry' })
    for (let each = 0; each < 22; each += 1) await expect(send({})).rejects.toThrow('signature')
    const other = { ...ctx, receiveLimits: createReceiveLimits() }
    const sent = receive(other, secret, { body: Buffer.from('{}'), header: () => undefined })
    await expect(sent).rejects.toThrow('signature')
    expect(await prisma.incomingBody.count({ where: { integrationId: id } })).toBe(21)
  })

  test('answers before the message is read', async () => {
    const { send, work, incidents, notes } = await withIntegration()
    await send(fires)
    expect([await notes(), await incidents()]).toEqual([['PENDING '], []])
    await work()
    expect(await incidents()).toHaveLength(1)
  })

  test('accepts PagerDuty’s events by routing key, for this kind only', async () => {
    const { ctx, secret, work, incidents } = await withIntegration(null, 'PAGERDUTY_EVENTS')
    const other = await withIntegration()
    const event = {
      event_action: 'trigger',
      dedup_key: 'd',
      payload: { summary: 'DB down', source: 'db', severity: 'error' },
    }
    await receiveEvent(ctx, secret, { ...event, routing_key: secret })
    await expect(receiveEvent(ctx, other.secret, event)).rejects.toThrow(NotFound)
    await work()
    expect(await incidents()).toMatchObject([{ title: 'DB down', impact: 'MAJOR' }])
  })

  test('is invisible to other organizations, and limited', async () => {
    const mine = await withIntegration()
    const { ctx } = await withIntegration()
    for (const strange of [mine.id, '\0', 'itg_none'])
      for (const attempt of [deleteIntegration, rotateIntegration])
        await expect(attempt(ctx, strange)).rejects.toThrow(NotFound)
    await expect(updateIntegration(ctx, { id: mine.id, name: 'Mine' })).rejects.toThrow(NotFound)
    const rules = [{ serviceId: mine.serviceId }]
    await expect(createIntegration(ctx, { name: 'A', kind: 'GENERIC', rules })).rejects.toThrow(NotFound)
    const many = Array.from({ length: 21 }, () => ({}))
    await expect(createIntegration(ctx, { name: 'A', kind: 'GENERIC', rules: many })).rejects.toThrow()
  })

  test('remembers a number of alerts, the newest', async () => {
    const { id } = await withIntegration()
    await pool.query(
      `INSERT INTO "IncomingGroup" ("integrationId", "keyHash", "isFiring", routing, "firedAt")
       SELECT $1, each, true, '{}', now() + each * interval '1 s' FROM generate_series(1, $2::int) AS each`,
      [id, MAX_GROUPS + 3],
    )
    expect(await deleteOldBodies(system)).toBe(false)
    const left = await prisma.incomingGroup.findMany({ where: { integrationId: id }, select: { keyHash: true } })
    expect(left.length).toBe(MAX_GROUPS)
    expect(left.map(({ keyHash }) => Number(keyHash)).filter((nth) => nth <= 3)).toEqual([])
  })

  test('keeps bodies for seven days', async () => {
    const { id, deliver } = await withIntegration()
    await deliver(fires)
    minutes = (7 * DAY) / MINUTE + 1
    await deleteOldBodies(system)
    expect(await prisma.incomingBody.count({ where: { integrationId: id } })).toBe(0)
  })
})

test('1,000 alerts of one sender make one incident, and none is lost when a worker dies in the middle', async () => {
  const { id, send, incidents, notes } = await withIntegration([{ mode: 'PUBLISH' }])
  for (let sent = 0; sent < 1000; sent += 20)
    await Promise.all(Array.from({ length: 20 }, (_, index) => send({ ...fires, key: `k${(sent + index) % 40}` })))
  // The worker dies after it has claimed, in the middle of a batch, whose transaction rolls back.
  let left = 130
  const dying = createIncomingWorker({
    ctx: system,
    seal: {
      ...seal,
      open(...given) {
        left -= 1
        if (left < 0) throw new Error('Killed.')
        return seal.open(...given)
      },
    },
    outbound: noRequests,
  })
  await dying.poll()
  await dying.idle()
  const statuses = async () =>
    (await prisma.incomingBody.groupBy({ by: ['status'], where: { integrationId: id }, _count: true })).map(
      ({ status, _count }) => [status, _count],
    )
  expect(await statuses()).toEqual(
    expect.arrayContaining([
      ['PENDING', 900],
      ['DONE', 100],
    ]),
  )
  // Two workers take over after its lease.
  minutes = 2
  const workers = [newWorker(), newWorker()]
  // A worker applies ten batches before it lets others have their turn.
  for (let turn = 0; turn < 2; turn += 1) {
    await Promise.all(workers.map((worker) => worker.poll()))
    await Promise.all(workers.map((worker) => worker.idle()))
  }
  expect(await statuses()).toEqual([['DONE', 1000]])
  expect(await incidents()).toHaveLength(1)
  expect((await notes()).filter((note) => note === 'DONE Opened an incident.')).toHaveLength(1)
  expect(await prisma.incomingGroup.count({ where: { integrationId: id } })).toBe(40)
  expect((await prisma.integration.findUniqueOrThrow({ where: { id } })).dueAt).toBeNull()
})

describe('Amazon SNS', () => {
  const lasts = { from: new Date(noon.getTime() - DAY), to: new Date(noon.getTime() + 90 * DAY), hasRsaKey: true }
  const authority = createAuthority()
  const { cert, key } = authority.issue(['sns.amazonaws.com'], lasts)
  const base = {
    ...{ MessageId: 'm', TopicArn: 'arn:aws:sns:eu-west-1:1:ops', Timestamp: '2026-11-20T12:00:00.000Z' },
    SignatureVersion: '2',
  }
  let certificates = 0
  /** A new URL each time, because certificates are cached. */
  const newCertificateUrl = () => `https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-${++certificates}.pem`
  const confirmation = {
    ...{ ...base, Type: 'SubscriptionConfirmation', Token: 't', Message: 'You have chosen to subscribe.' },
    SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
  }
  const notification = (state: string) => ({
    ...{ ...base, Type: 'Notification', Subject: 'An alarm' },
    Message: JSON.stringify({ AlarmName: 'High load', NewStateValue: state, NewStateReason: 'Above 90.' }),
  })

  /** Signs a message as Amazon does: its fields in the order of their names, with names and values on lines of their own. */
  function signed(message: Record<string, string>, signer = key): Record<string, string> {
    const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
    const text = names.flatMap((name) => (name in message ? [name, message[name]] : [])).join('\n')
    const algorithm = message['SignatureVersion'] === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
    const Signature = createSign(algorithm).update(`${text}\n`).sign(signer, 'base64')
    return { SigningCertURL: newCertificateUrl(), ...message, Signature }
  }

  /** A fake Amazon that serves this certificate and records the requested URLs. A status of null means no response. */
  function amazon(pem = cert, statusOf: number | ((url: string) => number | null) = 200) {
    const asked: string[] = []
    const request: Outbound['request'] = async ({ url }) => {
      asked.push(url)
      const status = typeof statusOf === 'number' ? statusOf : statusOf(url)
      const phases = { dns: null, connect: null, tls: null, firstByte: null, total: 5000 }
      if (status === null)
        return {
          ...{ kind: 'failed', reason: 'timeout', fault: 'theirs', message: 'No answer within 5 s' },
          ...{ phases, address: null, certificate: null },
        }
      const body = Buffer.from(url.endsWith('.pem') ? pem : '<ConfirmSubscriptionResponse/>')
      return { ...({} as Answer), kind: 'answer', status, body, complete: true, url }
    }
    return { asked, request }
  }

  test('gets its subscription confirmed, and its alarms open incidents', async () => {
    const { send, incidents, notes } = await withIntegration(null, 'SNS')
    const outbound = amazon()
    const worker = createIncomingWorker({ ctx: system, seal, outbound })
    const subscribes = signed(confirmation)
    for (const body of [
      subscribes,
      signed(notification('ALARM')),
      signed({ ...notification('OK'), SignatureVersion: '1' }),
    ])
      await send(body)
    const { Subject, ...bare } = notification('OK')
    await send(signed(bare))
    await worker.poll()
    await worker.idle()
    expect(outbound.asked).toContain(confirmation.SubscribeURL)
    expect(outbound.asked).toContain(subscribes['SigningCertURL'])
    expect(await notes()).toEqual([
      'IGNORED The subscription is confirmed.',
      'DONE Suggested an incident.',
      'DONE Resolved its incident.',
      'DONE Nothing was open.',
    ])
    expect(await incidents()).toMatchObject([{ title: 'High load', impact: 'CRITICAL', status: 'RESOLVED' }])
  })

  test('is retried when it does not answer: no alarm is lost, and the order within a topic stays', async () => {
    const { id, send, incidents, notes } = await withIntegration(null, 'SNS')
    const answers: { now: number | null } = { now: null }
    const outbound = amazon(cert, () => answers.now)
    const worker = createIncomingWorker({ ctx: system, seal, outbound, random: () => 0.5 })
    const run = async () => {
      await worker.poll()
      await worker.idle()
    }
    await send(signed(notification('ALARM')))
    await send(signed(notification('OK')))
    await run()
    expect(outbound.asked).toHaveLength(1)
    expect(await notes()).toEqual([
      'PENDING The certificate of Amazon SNS could not be fetched: No answer within 5 s. It will be tried again.',
      'PENDING Waiting for an earlier message.',
    ])
    const due = async () => (await prisma.integration.findUniqueOrThrow({ where: { id } })).dueAt
    expect(await due()).toEqual(new Date(now().getTime() + 10_000))
    minutes = 1
    answers.now = 503
    await send(signed(notification('ALARM')))
    await run()
    expect(outbound.asked).toHaveLength(2)
    expect((await notes())[0]).toContain('it answered with status 503.')
    answers.now = 200
    minutes = 2
    await run()
    expect(await notes()).toEqual([
      'DONE Suggested an incident.',
      'DONE Resolved its incident.',
      'DONE Reopened its incident.',
    ])
    expect(await incidents()).toMatchObject([{ title: 'High load', status: 'INVESTIGATING' }])
    expect(await due()).toBeNull()
  })

  test('is retried for a day when it does not confirm a subscription, without delaying alarms', async () => {
    const { send, notes } = await withIntegration(null, 'SNS')
    const outbound = amazon(cert, (url) => (url.endsWith('.pem') ? 200 : 500))
    const worker = createIncomingWorker({ ctx: system, seal, outbound, random: () => 0.5 })
    await send(signed(confirmation))
    await send(signed(notification('ALARM')))
    const failing = 'The subscription could not be confirmed: it answered with status 500.'
    const tried = [0, 5, 60, 120, 180, 240, 300, 360, 420]
    for (const [minute, first] of [
      ...tried.map((at) => [at, `PENDING ${failing} It will be tried again.`] as const),
      [DAY / MINUTE, `REFUSED ${failing}`] as const,
    ]) {
      minutes = minute
      await worker.poll()
      await worker.idle()
      expect(await notes()).toEqual([first, 'DONE Suggested an incident.'])
    }
  })

  test('is trusted only with its own valid certificate', async () => {
    const readAs = async (message: object, outbound = amazon(), at = noon) => {
      const read = await readSns(outbound, JSON.stringify(message), at)
      return { ...read, asked: outbound.asked.includes(confirmation.SubscribeURL) }
    }
    const good = signed(confirmation)
    const refused = (reason: string) => ({ kind: 'REFUSED', reason, asked: false })
    const invalid = refused('Its signature is invalid.')
    const strange = refused('Its certificate is not from Amazon SNS.')
    const other = authority.issue(['sns.amazonaws.com'], lasts)
    expect(await readAs({ ...good, Token: 'another' })).toEqual(invalid)
    expect(await readAs({ ...good, SignatureVersion: '1' })).toEqual(invalid)
    expect(await readAs({ ...good, SignatureVersion: '3' })).toEqual(invalid)
    expect(await readAs({ ...good, Signature: '' })).toEqual(invalid)
    expect(await readAs(signed(confirmation, other.key))).toEqual(invalid)
    const late = new Date(noon.getTime() + 91 * DAY)
    expect(await readAs(signed(confirmation), amazon(), late)).toEqual(strange)
    expect(await readAs(good, amazon(), late), 'although it is cached').toEqual(strange)
    // A redirect can lead anywhere.
    expect(await readAs(signed(confirmation), amazon(cert, 302))).toEqual(strange)
    expect(await readAs(signed(confirmation), amazon('none'))).toEqual(strange)
    for (const SubscribeURL of [
      'http://127.0.0.1/',
      'https://sns.eu-west-1.amazonaws.com.evil.example/',
      'file:///etc/passwd',
    ]) {
      const outbound = amazon()
      const read = await readAs(signed({ ...confirmation, SubscribeURL }), outbound)
      expect([read.kind, outbound.asked]).toEqual(['REFUSED', [expect.stringMatching(/\.pem$/)]])
    }
    expect(await readAs(signed({ ...confirmation, Type: 'UnsubscribeConfirmation' }))).toMatchObject({
      kind: 'DONE',
      asked: false,
    })
  })

  test('is asked for certificates only at its own URLs', async () => {
    for (const SigningCertURL of [
      'http://sns.eu-west-1.amazonaws.com/a.pem',
      'https://sns.eu-west-1.amazonaws.com.evil.example/a.pem',
      'https://evil.example/sns.eu-west-1.amazonaws.com/a.pem',
      'https://sns.eu-west-1.amazonaws.com:8443/a.pem',
      'https://user@sns.eu-west-1.amazonaws.com/a.pem',
      'https://s3.amazonaws.com/a.pem',
      'https://sns.eu-west-1.amazonaws.com/a.txt',
      'https://127.0.0.1/a.pem',
      '',
      5,
    ])
      expect(await readSns(noRequests, JSON.stringify({ ...signed(confirmation), SigningCertURL }), noon)).toEqual({
        kind: 'REFUSED',
        reason: 'Its certificate is not from Amazon SNS.',
      })
    for (const body of ['', '5', '{}', '{"Type":"Notification"}', JSON.stringify({ ...confirmation, Token: 5 })])
      expect((await readSns(noRequests, body, noon)).kind).toBe('REFUSED')
  })
})
