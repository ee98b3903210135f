import { createSign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { NotFound } from '../../src/core/errors.ts'
import { DAY, MINUTE } from '../../src/core/time.ts'
import type { IntegrationContext } from '../../src/integration/integration.ts'
import {
  createIntegration,
  deleteIntegration,
  rotateIntegration,
  updateIntegration,
} from '../../src/integration/integration.ts'
import { receive, receiveEvent } from '../../src/integration/receive.ts'
import { readBody } from '../../src/integration/received.ts'
import { readSns } from '../../src/integration/sns.ts'
import { createIncomingWorker, deleteOldBodies } from '../../src/integration/worker.ts'
import type { Answer, Outbound } from '../../src/network/outbound.ts'
import { dismissIncident, publishIncident } from '../../src/status/incident-publication.ts'
import { postIncidentUpdate } from '../../src/status/incident-updates.ts'
import { seal, site } from '../notification/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { createAuthority } from '../support/certificate.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
let minutes = 0
const now = () => new Date(noon.getTime() + minutes * MINUTE)
const system = testContext(prisma, { now })
const noRequests = { request: () => Promise.reject(new Error('No request is expected.')) }
const newWorker = () => createIncomingWorker({ ctx: system, seal, outbound: noRequests })

/** A tenant with a service, and an integration of any JSON with these rules. */
async function withIntegration(rules: readonly object[] | null = null, kind = 'GENERIC') {
  minutes = 0
  const acme = await tenant('TEAM')
  const [serviceId = ''] = await acme.services('Shop')
  const ctx: IntegrationContext = { ...acme.ctx, now, seal, site }
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
    async says(...bodies: object[]) {
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
  test('is suggested with its services, once, and resolved when nobody has touched it', async () => {
    const { says, incidents, notes, serviceId, events } = await withIntegration([{}])
    await says(fires, fires)
    expect(await incidents()).toMatchObject([
      {
        ...{ title: 'Checkout is slow', visibility: 'SUGGESTED', impact: 'CRITICAL', automatic: false },
        services: [{ serviceId, status: 'MAJOR_OUTAGE' }],
        updates: [{ message: 'Checkout is slow\n\nReported by Prom.' }],
      },
    ])
    minutes = 5
    await says(resolved, resolved)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED', updates: [{}, { status: 'RESOLVED' }] }])
    expect(await notes()).toEqual([
      'DONE Suggested an incident.',
      'DONE It is known.',
      'DONE Resolved its incident.',
      'DONE Nothing was open.',
    ])
    expect((await events()).map(({ kind }) => kind).filter((kind) => /INCIDENT/.test(kind))).toEqual([
      'INCIDENT_DRAFTED',
      'INCIDENT_DRAFT_UPDATED',
    ])
  })

  test('opens its incident again within half an hour, a new one later', async () => {
    const { says, incidents } = await withIntegration([{ mode: 'PUBLISH' }])
    await says(fires, resolved)
    minutes = 29
    await says(fires)
    expect(await incidents()).toMatchObject([{ visibility: 'PUBLIC', status: 'INVESTIGATING' }])
    await says(resolved)
    minutes = 60
    await says(fires)
    expect(await incidents()).toMatchObject([{ status: 'RESOLVED' }, { status: 'INVESTIGATING' }])
  })

  test('leaves an incident alone that somebody has touched', async () => {
    const { ctx, says, incidents, notes } = await withIntegration([{ mode: 'PUBLISH' }])
    await says(fires)
    const [incident] = await incidents()
    await postIncidentUpdate(ctx, { incidentId: incident?.id, status: 'IDENTIFIED', message: 'We know.' })
    await says(resolved)
    expect((await incidents())[0]?.status).toBe('IDENTIFIED')
    await says(fires)
    expect(await incidents()).toHaveLength(2)
    expect((await notes())[1]).toBe('DONE Resolved; somebody works on its incident.')
  })

  test('that somebody published stays that person’s', async () => {
    const { ctx, says, incidents } = await withIntegration()
    await says(fires)
    await publishIncident(ctx, { id: (await incidents())[0]?.id })
    await says(resolved)
    expect(await incidents()).toMatchObject([{ visibility: 'PUBLIC', status: 'INVESTIGATING' }])
  })

  test('that somebody dismissed is not suggested again before it is resolved', async () => {
    const { ctx, says, incidents, notes } = await withIntegration()
    await says(fires)
    await dismissIncident(ctx, (await incidents())[0]?.id ?? '')
    await says(fires)
    expect(await incidents()).toEqual([])
    await says(resolved, fires)
    expect(await incidents()).toHaveLength(1)
    expect((await notes()).slice(1, 3)).toEqual([
      'DONE It was dismissed.',
      'DONE Resolved; its incident was dismissed.',
    ])
  })

  test('shares an incident with others that begin within a minute, which ends with the last of them', async () => {
    const { says, incidents } = await withIntegration([{ mode: 'DRAFT' }])
    const of = (key: string, state: string) => ({ ...fires, key, state })
    await says(of('a', 'firing'), of('b', 'firing'))
    minutes = 2
    await says(of('c', 'firing'), of('a', 'resolved'))
    expect((await incidents()).map(({ visibility, status }) => `${visibility} ${status}`)).toEqual([
      'DRAFT INVESTIGATING',
      'DRAFT INVESTIGATING',
    ])
    await says(of('b', 'resolved'))
    expect((await incidents()).map(({ status }) => status)).toEqual(['RESOLVED', 'INVESTIGATING'])
  })

  test('that no rule matches is ignored, and what is unreadable is refused; both are kept', async () => {
    const { says, incidents, notes } = await withIntegration([{ labels: [{ name: 'team', value: 'shop' }] }])
    await says(fires, {})
    expect(await incidents()).toEqual([])
    expect(await notes()).toEqual(['IGNORED No rule matches it.', 'IGNORED It has neither a title nor a key.'])
  })

  test('of a rule whose service is deleted affects none', async () => {
    const { says, incidents, serviceId } = await withIntegration([{}])
    await prisma.service.delete({ where: { id: serviceId } })
    await says(fires)
    expect(await incidents()).toMatchObject([{ services: [] }])
  })
})

describe('an address', () => {
  test('works until it is replaced or deleted; its secret is in no body', async () => {
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

  test('refuses what is not signed with the secret that was given', async () => {
    const { ctx, id, send } = await withIntegration(null, 'SENTRY')
    await updateIntegration(ctx, { id, signingSecret: 'a secret of Sentry' })
    await expect(send({})).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' })
    await updateIntegration(ctx, { id, signingSecret: null })
    await send({})
  })

  test('takes PagerDuty’s events by its routing key, of that kind only', async () => {
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

  test('is another organization’s to nobody, and bounded', async () => {
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

  test('keeps bodies for seven days', async () => {
    const { id, says } = await withIntegration()
    await says(fires)
    minutes = (7 * DAY) / MINUTE + 1
    await deleteOldBodies(system)
    expect(await prisma.incomingBody.count({ where: { integrationId: id } })).toBe(0)
  })
})

test('1,000 alerts of one sender make one incident, and none is lost, with a worker that dies in the middle', async () => {
  const { id, send, incidents, notes } = await withIntegration([{ mode: 'PUBLISH' }])
  const begun = performance.now()
  for (let sent = 0; sent < 1000; sent += 20)
    await Promise.all(Array.from({ length: 20 }, (_, index) => send({ ...fires, key: `k${(sent + index) % 40}` })))
  // Ten seconds on a machine that does nothing else.
  expect(performance.now() - begun).toBeLessThan(30_000)
  // It dies after it has claimed, and in the middle of a batch, whose transaction is rolled back.
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
  // Two take over when its lease is over.
  minutes = 2
  const workers = [newWorker(), newWorker()]
  await Promise.all(workers.map((worker) => worker.poll()))
  await Promise.all(workers.map((worker) => worker.idle()))
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
  /** A new address each time: certificates are remembered. */
  const newCertificateUrl = () => `https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-${++certificates}.pem`
  const confirmation = {
    ...{ ...base, Type: 'SubscriptionConfirmation', Token: 't', Message: 'You have chosen to subscribe.' },
    SubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
  }
  const notification = (state: string) => ({
    ...{ ...base, Type: 'Notification', Subject: 'An alarm' },
    Message: JSON.stringify({ AlarmName: 'High load', NewStateValue: state, NewStateReason: 'Above 90.' }),
  })

  /** Signs a message as Amazon describes: its members in the order of their names, a line each for name and value. */
  function signed(message: Record<string, string>, signer = key): Record<string, string> {
    const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
    const text = names.flatMap((name) => (name in message ? [name, message[name]] : [])).join('\n')
    const algorithm = message['SignatureVersion'] === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
    const Signature = createSign(algorithm).update(`${text}\n`).sign(signer, 'base64')
    return { SigningCertURL: newCertificateUrl(), ...message, Signature }
  }

  /** Amazon, which gives this certificate, and remembers what it was asked for. */
  function amazon(pem = cert, status = 200) {
    const asked: string[] = []
    const request: Outbound['request'] = async ({ url }) => {
      asked.push(url)
      const body = Buffer.from(url.endsWith('.pem') ? pem : '<ConfirmSubscriptionResponse/>')
      return { ...({} as Answer), kind: 'answer', status, body, complete: true, url }
    }
    return { asked, request }
  }

  test('has its subscription confirmed, and its alarms become incidents', async () => {
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

  test('is believed only with its own valid certificate', async () => {
    const readAs = async (message: object, outbound = amazon(), at = noon) => {
      const read = await readSns(outbound, JSON.stringify(message), at)
      return { ...read, asked: outbound.asked.includes(confirmation.SubscribeURL) }
    }
    const good = signed(confirmation)
    const refused = (reason: string) => ({ kind: 'REFUSED', reason, asked: false })
    const invalid = refused('Its signature is invalid.')
    const strange = refused('Its certificate is not one of Amazon SNS.')
    const other = authority.issue(['sns.amazonaws.com'], lasts)
    expect(await readAs({ ...good, Token: 'another' })).toEqual(invalid)
    expect(await readAs({ ...good, SignatureVersion: '1' })).toEqual(invalid)
    expect(await readAs({ ...good, SignatureVersion: '3' })).toEqual(invalid)
    expect(await readAs({ ...good, Signature: '' })).toEqual(invalid)
    expect(await readAs(signed(confirmation, other.key))).toEqual(invalid)
    const late = new Date(noon.getTime() + 91 * DAY)
    expect(await readAs(signed(confirmation), amazon(), late)).toEqual(strange)
    expect(await readAs(good, amazon(), late), 'though it is remembered').toEqual(strange)
    // A redirect leads anywhere.
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

  test('is asked for certificates at its own addresses only', async () => {
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
        reason: 'Its certificate is not one of Amazon SNS.',
      })
    for (const body of ['', '5', '{}', '{"Type":"Notification"}', JSON.stringify({ ...confirmation, Token: 5 })])
      expect((await readSns(noRequests, body, noon)).kind).toBe('REFUSED')
  })
})
