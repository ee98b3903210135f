// @slow
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createApiKey, revokeApiKey } from '../../../src/account/api-key/api-key.ts'
import { startApp } from '../../../src/app/start.ts'
import type { Actor } from '../../../src/core/context.ts'
import { encodeCursor } from '../../../src/event-log/event.ts'
import { deleteIncident, updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { createService } from '../../../src/status/service/service.ts'
import { testConfig } from '../../support/app.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { mutate, succeed } from '../../support/filled-organization.ts'
import { freePort } from '../../support/free-port.ts'
import type { Result } from '../../support/graphql-client.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { type LiveTransport, lastingTransports, type Subscription } from '../../support/live-client.ts'
import { startLiveService } from '../../support/live-service.ts'
import { newTenant } from '../../support/log-writers.ts'
import { silent } from '../../support/scratch.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { testData } from '../../support/service-data.ts'

const database = await testDatabase()
const { prisma: db } = database
const service = await startLiveService(database)
const { url } = service
afterAll(() => service.close())

const left: Subscription[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const subscription of left.splice(0)) await subscription.leave()
})

interface Happened {
  readonly cursor: string
  readonly kind: string
  readonly subjectId: string | null
  readonly [field: string]: unknown
}

const PAGE_EVENTS = `subscription ($slug: String!, $after: String) {
  statusPageEvents(slug: $slug, after: $after) {
    cursor kind at subjectId
    incident { id title status updates { nodes { message } } }
    service { name status }
    page { status { indicator } }
  }
}`

/** A tenant, its page's slug, and the context of one of its keys. */
async function tenant() {
  const id = await newTenant(db)
  const actor: Actor = { kind: 'apiKey', keyId: 'key_none', organizationId: id, scope: 'ADMIN', checkPlan: 'FREE' }
  return { id, slug: id.slice(4), ctx: testContext(db, { actor }) }
}

async function subscribe(
  { subscribe }: LiveTransport,
  query: string,
  variables: Record<string, unknown>,
  key?: string,
): Promise<Subscription> {
  const subscription = await subscribe(url, { query, variables, key })
  left.push(subscription)
  return subscription
}

/** Returns the next event of a subscription, which has to be without errors. */
async function next(subscription: Subscription): Promise<Happened> {
  const result = await subscription.next()
  expect(result?.errors).toBeUndefined()
  return Object.values(result?.data ?? {})[0] as unknown as Happened
}

const incident = (title: string) =>
  ({ title, status: 'INVESTIGATING', impact: 'MAJOR', message: `What is known of ${title}.` }) as const

describe.each(lastingTransports)('over $name', (transport) => {
  test('sends the events of a page as they occur, with their subjects', async () => {
    const { slug, ctx } = await tenant()
    const events = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(0) })
    const api = await createService(ctx, { name: 'API', status: 'OPERATIONAL' })
    expect(await next(events)).toEqual({
      cursor: encodeCursor(1),
      kind: 'SERVICE_CREATED',
      at: noon.toISOString(),
      subjectId: api.id,
      incident: null,
      service: { name: 'API', status: 'OPERATIONAL' },
      page: { status: { indicator: 'NONE' } },
    })
    expect(await next(events)).toMatchObject({ kind: 'SERVICE_STATUS_CHANGED', subjectId: api.id })
    const services = [{ serviceId: api.id, status: 'MAJOR_OUTAGE' }]
    const outage = await createIncident(ctx, { ...incident('Outage'), services })
    expect(await next(events)).toMatchObject({
      kind: 'INCIDENT_CREATED',
      subjectId: outage.id,
      incident: { id: outage.id, title: 'Outage', updates: { nodes: [{ message: 'What is known of Outage.' }] } },
      page: { status: { indicator: 'CRITICAL' } },
    })
    await postIncidentUpdate(ctx, { incidentId: outage.id, status: 'RESOLVED', message: 'Over.' })
    const reported = await next(events)
    expect(reported).toMatchObject({ kind: 'INCIDENT_UPDATE_POSTED', incident: { status: 'RESOLVED' } })
    expect(reported['incident']).toHaveProperty('updates.nodes.0.message', 'Over.')
  })

  test('loads each event’s subject at delivery; deleted ones are null', async () => {
    const { slug, ctx } = await tenant()
    const one = await createIncident(ctx, incident('One'))
    await deleteIncident(ctx, one.id)
    const events = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(0) })
    expect(await next(events)).toMatchObject({ kind: 'INCIDENT_CREATED', subjectId: one.id, incident: null })
    expect(await next(events)).toMatchObject({ kind: 'INCIDENT_DELETED', subjectId: one.id, incident: null })
    const two = await createIncident(ctx, incident('Two'))
    expect(await next(events)).toMatchObject({ incident: { title: 'Two' } })
    await updateIncident(ctx, { id: two.id, title: 'Three' })
    expect(await next(events)).toMatchObject({ incident: { title: 'Three' } })
  })

  test('does not reveal private fields', async () => {
    const { slug, ctx } = await tenant()
    const events = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(0) })
    await createApiKey(ctx, { name: 'secret', scope: 'READ' })
    await createService(ctx, { name: 'API' })
    expect(await next(events)).toMatchObject({ cursor: encodeCursor(2), kind: 'SERVICE_CREATED' })
  })

  test('resumes from any cursor without gaps or duplicates', async () => {
    const { slug, ctx } = await tenant()
    for (let count = 0; count < 6; count++) await createService(ctx, { name: `${count}` })
    for (let after = 0; after <= 6; after++) {
      const events = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(after) })
      for (let seq = after + 1; seq <= 6; seq++) expect((await next(events)).cursor).toBe(encodeCursor(seq))
    }
    await createService(ctx, { name: 'last' })
    for (const events of left) expect((await next(events)).cursor).toBe(encodeCursor(7))
  })

  test('misses no event when subscribing during writes', async () => {
    const { slug, ctx } = await tenant()
    const writing = (async () => {
      for (let count = 0; count < 10; count++) await createService(ctx, { name: `${count}` })
    })()
    const following = Array.from({ length: 20 }, async (_, index) => {
      const after = index % 5
      const events = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(0) })
      for (let seq = 1; seq <= after; seq++) await next(events)
      const again = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(after) })
      const cursors: string[] = []
      for (let seq = after + 1; seq <= 10; seq++) cursors.push((await next(again)).cursor)
      return cursors.join() === Array.from({ length: 10 - after }, (_, seq) => encodeCursor(after + seq + 1)).join()
    })
    expect(await Promise.all(following)).toEqual(following.map(() => true))
    await writing
  })

  test('sends only the incident’s own events', async () => {
    const { ctx } = await tenant()
    const [mine, other] = [await createIncident(ctx, incident('Mine')), await createIncident(ctx, incident('Other'))]
    const query = `subscription { incidentEvents(id: "${mine.id}", after: "${encodeCursor(2)}") { kind incident { title } } }`
    const events = await subscribe(transport, query, {})
    await updateIncident(ctx, { id: other.id, title: 'Another' })
    await updateIncident(ctx, { id: mine.id, title: 'Ours' })
    expect(await next(events)).toEqual({ kind: 'INCIDENT_UPDATED', incident: { title: 'Ours' } })
    // By now the log is past the wanted events, also for a subscriber with an older position.
    const late = await subscribe(transport, query.replace('after: "2"', 'after: "3"'), {})
    expect(await next(late)).toMatchObject({ incident: { title: 'Ours' } })
  })

  test.each([
    ['a slug', 'subscription { statusPageEvents(slug: "nobody") { cursor } }'],
    ['an id', 'subscription { incidentEvents(id: "inc_000000000000000000000000") { cursor } }'],
    ['the id of another type', 'subscription { incidentEvents(id: "org_000000000000000000000000") { cursor } }'],
  ])('%s that does not exist is NOT_FOUND', async (_, query) => {
    const events = await subscribe(transport, query, {})
    expect(codesOf(await events.next())).toEqual(['NOT_FOUND'])
    expect(await events.next()).toBeNull()
  })

  test.each([
    ['newer than the log', encodeCursor(1000)],
    ['of no log at all', 'What?'],
  ])('a cursor %s sends RELOAD and then continues', async (_, after) => {
    const { slug, ctx } = await tenant()
    await createService(ctx, { name: 'API' })
    const beside = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(1) })
    const events = await subscribe(transport, PAGE_EVENTS, { slug, after })
    expect(await next(events)).toEqual({
      cursor: encodeCursor(1),
      kind: 'RELOAD',
      at: noon.toISOString(),
      subjectId: null,
      incident: null,
      service: null,
      page: null,
    })
    await createService(ctx, { name: 'Web' })
    for (const each of [events, beside]) expect(await next(each)).toMatchObject({ kind: 'SERVICE_CREATED' })
  })

  test('a cursor older than the log sends RELOAD', async () => {
    const { id, slug, ctx } = await tenant()
    for (const name of ['a', 'b', 'c']) await createService(ctx, { name })
    await db.event.deleteMany({ where: { organizationId: id, seq: { lte: 2 } } })
    const events = await subscribe(transport, PAGE_EVENTS, { slug, after: encodeCursor(1) })
    expect(await next(events)).toMatchObject({ cursor: encodeCursor(3), kind: 'RELOAD' })
  })

  test('sends private data only to its owner', async () => {
    const { slug, ctx } = await tenant()
    const { secret: key } = await createApiKey(ctx, { name: 'own', scope: 'READ' })
    const { secret: otherKey } = await createApiKey((await tenant()).ctx, { name: 'other', scope: 'ADMIN' })
    const query = `subscription ($slug: String!, $after: String) {
      statusPageEvents(slug: $slug, after: $after) { incident { title version } }
    }`
    const variables = { slug, after: encodeCursor(1) }
    const visitors = [await subscribe(transport, query, variables), await subscribe(transport, query, variables)]
    const owner = await subscribe(transport, query, variables, key)
    const stranger = await subscribe(transport, query, variables, otherKey)
    await createIncident(ctx, incident('Outage'))
    const reported = (version: number | null) => ({
      data: { statusPageEvents: { incident: { title: 'Outage', version } } },
    })
    expect(await owner.next()).toEqual(reported(1))
    for (const each of [stranger, ...visitors]) {
      const result = await each.next()
      expect(result?.data).toEqual(reported(null).data)
      expect(codesOf(result)).toEqual([each === stranger ? 'FORBIDDEN' : 'UNAUTHENTICATED'])
    }
  })

  test('sends nothing of other pages', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const events = await subscribe(transport, PAGE_EVENTS, { slug: one.slug, after: encodeCursor(0) })
    const others = await subscribe(transport, PAGE_EVENTS, { slug: other.slug, after: encodeCursor(0) })
    await createService(other.ctx, { name: 'Theirs' })
    await createService(one.ctx, { name: 'Ours' })
    expect(await next(events)).toMatchObject({ service: { name: 'Ours' } })
    expect(await next(others)).toMatchObject({ service: { name: 'Theirs' } })
  })

  test('ends the subscriptions of a revoked key at once, and no others', async () => {
    const { slug, ctx } = await tenant()
    const { secret: key, apiKey } = await createApiKey(ctx, { name: 'short', scope: 'READ' })
    const { secret: otherKey } = await createApiKey(ctx, { name: 'long', scope: 'READ' })
    const variables = { slug, after: encodeCursor(2) }
    const events = await subscribe(transport, PAGE_EVENTS, variables, key)
    const others = await subscribe(transport, PAGE_EVENTS, variables, otherKey)
    await createService(ctx, { name: 'API' })
    await next(events)
    await next(others)
    await revokeApiKey(ctx, apiKey.id)
    if (transport.name === 'websocket')
      await expect(events.next()).rejects.toMatchObject({ code: 4403, reason: 'This API key has been revoked.' })
    else expect(await events.next()).toBeNull()
    await createService(ctx, { name: 'Web' })
    expect(await next(others)).toMatchObject({ service: { name: 'Web' } })
  })

  test('stops reading for clients that have left', async () => {
    const { id, slug, ctx } = await tenant()
    const { secret: key } = await createApiKey(ctx, { name: 'own', scope: 'READ' })
    const variables = { slug, after: encodeCursor(1) }
    const quiet = [undefined, undefined, key].map((each) => subscribe(transport, PAGE_EVENTS, variables, each))
    const subscriptions = await Promise.all(quiet)
    await createService(ctx, { name: 'API' })
    for (const subscription of subscriptions) await next(subscription)
    const statements = vi.spyOn(pg.Client.prototype, 'query')
    const readings = () => statements.mock.calls.filter(([sql]) => isReading(sql)).length
    await appendMany(id, 1)
    for (const subscription of subscriptions) await next(subscription)
    expect(readings()).toBeGreaterThan(0)
    for (const subscription of subscriptions) await subscription.leave()
    await vi.waitFor(async () => {
      statements.mockClear()
      await appendMany(id, 1)
      await post(url, { query: '{ __typename }' })
      expect(readings()).toBe(0)
    })
  })

  test('resumes after a restart', async () => {
    const dns = await startDnsServer(scriptedLists())
    const { dataDir, settings, remove } = await testData()
    const port = await freePort()
    const start = () => startApp({ log: silent, config: testConfig(dns, dataDir, { ...settings, PORT: String(port) }) })
    const base = `http://127.0.0.1:${port}`
    const first = await start()
    const { key, slug } = await newOrganization(base)
    const { cursor } = await succeed<{ cursor: string }>(base, undefined, `{ statusPage(slug: "${slug}") { cursor } }`)
    const events = await transport.subscribe(base, { query: PAGE_EVENTS, variables: { slug, after: cursor } })
    await mutate(base, key, 'createService', 'Service', { name: 'seen' })
    const seen = await next(events)
    await events.leave()
    await mutate(base, key, 'createService', 'Service', { name: 'missed' })
    const cut = await transport.subscribe(base, { query: PAGE_EVENTS, variables: { slug } })
    const ending = cut.next().then(
      () => 'ended',
      () => 'cut',
    )
    await first.close()
    expect(await ending).toBe('cut')
    const second = await start()
    const again = await transport.subscribe(base, { query: PAGE_EVENTS, variables: { slug, after: seen.cursor } })
    await mutate(base, key, 'createService', 'Service', { name: 'next' })
    expect(await next(again)).toMatchObject({ service: { name: 'missed' } })
    expect(await next(again)).toMatchObject({ service: { name: 'next' } })
    await again.leave()
    await second.close()
    await remove()
  })
})

describe('shared execution', () => {
  test('executes each event once for all visitors with the same operation, from any cursor', async () => {
    const { slug, ctx } = await tenant()
    const subscriptions: Subscription[] = []
    for (let count = 0; count < 60; count++) {
      const transport = lastingTransports[count % 2] ?? lastingTransports[0]
      subscriptions.push(
        await subscribe(transport, PAGE_EVENTS, { slug, ...(count % 3 > 0 && { after: encodeCursor(0) }) }),
      )
    }
    // All have joined once each has received the first event.
    await createService(ctx, { name: '0' })
    for (const subscription of subscriptions) await next(subscription)

    const stringify = vi.spyOn(JSON, 'stringify')
    const statements = vi.spyOn(pg.Client.prototype, 'query')
    for (const name of ['1', '2', '3', '4']) {
      await createService(ctx, { name })
      for (const subscription of subscriptions) expect(await next(subscription)).toMatchObject({ service: { name } })
    }
    const written = stringify.mock.calls.filter(([value]) => (value as Result | null)?.data?.['statusPageEvents'])
    expect(written).toHaveLength(4)
    const loads = statements.mock.calls.filter(([sql]) => /SELECT.*"Service".*WHERE.*"id" (=|IN)/s.test(textOf(sql)))
    expect(loads.length).toBeLessThanOrEqual(8)
  })

  test('separates different documents, operations and variables', async () => {
    const { slug, ctx } = await tenant()
    const [websocket] = lastingTransports
    const queries = [
      'subscription A($slug: String!) { statusPageEvents(slug: $slug, after: "0") { kind } }',
      'subscription A($slug: String!) { statusPageEvents(slug: $slug, after: "0") { k: kind } }',
      'subscription A($slug: String!) { s: statusPageEvents(slug: $slug, after: "0") { kind } }',
      'subscription A($slug: String!) { statusPageEvents(slug: $slug, after: "0") { ...F } } fragment F on StatusPageEvent { subjectId }',
      'subscription A($slug: String!) { ...F } fragment F on Subscription { statusPageEvents(slug: $slug, after: "0") { kind cursor } }',
      'subscription A($slug: String!, $no: Boolean = false) { statusPageEvents(slug: $slug, after: "0") { kind at @include(if: $no) } }',
    ]
    const subscriptions = await Promise.all(queries.map((query) => subscribe(websocket, query, { slug })))
    const including = await subscribe(websocket, queries[5] ?? '', { slug, no: true })
    const created = await createService(ctx, { name: 'API' })
    const reported = await Promise.all([...subscriptions, including].map(async (each) => (await each.next())?.data))
    const kind = 'SERVICE_CREATED'
    expect(reported).toEqual([
      { statusPageEvents: { kind } },
      { statusPageEvents: { k: kind } },
      { s: { kind } },
      { statusPageEvents: { subjectId: created.id } },
      { statusPageEvents: { kind, cursor: encodeCursor(1) } },
      { statusPageEvents: { kind } },
      { statusPageEvents: { kind, at: noon.toISOString() } },
    ])
  })

  test('sends results under each operation’s own id, whatever it is', async () => {
    const { slug, ctx } = await tenant()
    const { send, messages, received } = await rawSocket()
    const ids = ['1', 'two "quoted" \\ and\nbroken', '€\u2028', 'x'.repeat(1000)]
    const payload = { query: PAGE_EVENTS, variables: { slug, after: encodeCursor(0) } }
    for (const id of ids) send({ id, type: 'subscribe', payload })
    await createService(ctx, { name: 'API' })
    await received(1 + ids.length)
    expect(new Set(messages.slice(1).map(({ id }) => id))).toEqual(new Set(ids))
    send({ id: '1', type: 'complete' })
    send({ id: 'ping', type: 'subscribe', payload: { query: '{ __typename }' } })
    await received(1 + ids.length + 2)
    await createService(ctx, { name: 'Web' })
    await received(1 + ids.length + 2 + ids.length - 1)
    expect(messages.slice(-3).map(({ id }) => id)).not.toContain('1')
  })

  test('rejects invalid variables and expensive operations', async () => {
    for (const transport of lastingTransports) {
      const wrong = await subscribe(transport, PAGE_EVENTS, { slug: 7 })
      expect((await wrong.next())?.errors?.[0]?.message).toMatch(/slug/)
      const page = 'page { pastIncidents(first: 100) { nodes { updates(first: 100) { nodes { message } } } } }'
      const fields = Array.from({ length: 10 }, (_, index) => `t${index}: ${page}`).join(' ')
      const large = await subscribe(transport, `subscription { statusPageEvents(slug: "x") { ${fields} } }`, {})
      expect(codesOf(await large.next())).toEqual(['OPERATION_TOO_LARGE'])
    }
  })
})

/** Appends many events at once, as if from many writers, and announces them without their rows. */
async function appendMany(organizationId: string, count: number): Promise<void> {
  const { lastSeq } = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const events = Array.from({ length: count }, (_, index) => ({
    organizationId,
    seq: lastSeq + index + 1,
    kind: 'PAGE_UPDATED' as const,
    at: noon,
    actorKind: 'SYSTEM' as const,
    subjectId: organizationId,
    subjectName: 'Acme',
  }))
  await db.event.createMany({ data: events })
  await db.organization.update({ where: { id: organizationId }, data: { lastSeq: lastSeq + count } })
  await database.pool.query('SELECT pg_notify($1, $2)', ['event_log', organizationId])
}

describe('a client that does not read', () => {
  /** Of 12 kB each: more in total than a connection and the checked memory can hold. */
  const EVENTS = 2500
  /** How many are written at once: less than a reading client may lag behind. */
  const BURST = 50
  const query = `subscription ($slug: String!, $after: String) {
    statusPageEvents(slug: $slug, after: $after) { cursor ${Array.from({ length: 250 }, (_, index) => `s${index}: subjectId`).join(' ')} }
  }`

  test('is disconnected, over websocket with 1013, and can resume; others miss nothing', async () => {
    const { id, slug } = await tenant()
    const variables = { slug, after: encodeCursor(0) }
    const stalled = await rawSocket()
    stalled.send({ id: 's', type: 'subscribe', payload: { query, variables } })
    const stream = await openPlainStream(query, variables)
    const reading = await Promise.all(lastingTransports.map((transport) => subscribe(transport, query, variables)))
    await appendMany(id, 1)
    await stalled.received(2)
    for (const each of reading) await next(each)

    stalled.socket.pause()
    stream.pause()
    const closing = vi.spyOn(WebSocket.prototype, 'close')
    onTestFinished(() => void closing.mockRestore())
    const before = memoryInUse()
    for (let done = 1; done <= EVENTS; done += BURST) {
      await appendMany(id, BURST)
      const reported = reading.map(async (each) => {
        for (let seq = done + 1; seq <= done + BURST; seq++) expect((await next(each)).cursor).toBe(encodeCursor(seq))
      })
      await Promise.all(reported)
      // After the close, it has half a minute to read the reason.
      if (closing.mock.calls.some(([code]) => code === 1013)) stalled.socket.resume()
    }
    expect(memoryInUse() - before).toBeLessThan(20 * 1024 * 1024)

    stream.resume()
    await once(stream, 'close')
    const { code, reason } = await stalled.closed
    expect({ code, reason }).toEqual({
      code: 1013,
      reason: 'Reading too slowly. Subscribe again after the last cursor.',
    })
    const got = stalled.messages.slice(1).map(({ payload }) => (payload as Result).data?.['statusPageEvents'])
    const cursors = got.map((event) => (event as unknown as Happened).cursor)
    expect(cursors).toEqual(cursors.map((_, index) => encodeCursor(index + 1)))
    expect(cursors.length).toBeLessThan(EVENTS)
    const again = await subscribe(lastingTransports[0], query, { slug, after: cursors.at(-1) })
    expect((await next(again)).cursor).toBe(encodeCursor(cursors.length + 1))
  })

  /** Returns the reachable memory in bytes, without uncollected garbage. */
  function memoryInUse(): number {
    // Buffers found by the first collection still count until they are swept, at the latest before the next one.
    globalThis.gc?.()
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }

  /** A stream of server-sent events on a raw connection. */
  async function openPlainStream(query: string, variables: object): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const body = JSON.stringify({ query, variables })
    socket.on('error', () => undefined)
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await once(socket, 'data')
    return socket
  }
})

describe('connections', () => {
  test('are limited by the capacity of the process', async () => {
    const small = await startLiveService(database, {}, 2)
    const open = () => new WebSocket(small.url.replace('http', 'ws').concat('/graphql'), ['graphql-transport-ws'])
    const sockets = [open(), open()]
    await Promise.all(sockets.map((socket) => once(socket, 'open')))
    const [refusal] = await once(open(), 'error')
    expect(refusal.message).toMatch('503')
    for (const socket of sockets) socket.terminate()
    await small.close()
  })

  test('of server-sent events are limited per client, for every kind of stream, until they close', async () => {
    const { id, ctx, slug } = await tenant()
    const { secret: key } = await createApiKey(ctx, { name: 'streams', scope: 'READ' })
    await appendMany(id, 1)
    const small = await startLiveService(database, {}, undefined, 2)
    const open = async (query: string, authorization: string) => {
      const leaving = new AbortController()
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream', authorization }
      const body = JSON.stringify({ query, variables: { id, slug, after: encodeCursor(0) } })
      const sent = { method: 'POST', headers, body, signal: leaving.signal }
      const { body: stream } = await fetch(`${small.url}/graphql`, sent)
      const reader = stream?.getReader()
      let text = ''
      // The event that has happened, or an error.
      while (!text.includes('\ndata: ')) text += Buffer.from((await reader?.read())?.value ?? '').toString()
      return { isRefused: text.includes('UNAVAILABLE'), leave: () => leaving.abort() }
    }
    const anonymous = () => open(PAGE_EVENTS, '')
    const ownEvents =
      'subscription ($id: ID!, $after: String) { organizationEvents(organizationId: $id, after: $after) { cursor } }'
    const own = () => open(ownEvents, `Bearer ${key}`)
    const first = await anonymous()
    expect([first.isRefused, (await own()).isRefused]).toEqual([false, false])
    expect([(await anonymous()).isRefused, (await own()).isRefused]).toEqual([true, true])
    first.leave()
    await expect.poll(async () => (await anonymous()).isRefused).toBe(false)
    await small.close()
  })

  test('are limited per address', async () => {
    const sockets: WebSocket[] = []
    const refusal = await new Promise<Error>((resolve) => {
      for (let count = 0; count < 1001; count++) {
        const socket = new WebSocket(url.replace('http', 'ws').concat('/graphql'), ['graphql-transport-ws'])
        socket.on('error', resolve)
        sockets.push(socket)
      }
    })
    expect(refusal.message).toMatch('503')
    const [first] = sockets
    first?.terminate()
    await vi.waitFor(async () => {
      const { socket } = await rawSocket()
      expect(socket.readyState).toBe(WebSocket.OPEN)
    })
    for (const socket of sockets) socket.terminate()
  })
})

const sockets: WebSocket[] = []
afterAll(() => {
  for (const socket of sockets) socket.terminate()
})

/** A raw websocket that is acknowledged. */
async function rawSocket() {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, ['graphql-transport-ws'])
  sockets.push(socket)
  const messages: { type: string; id?: string; payload?: unknown }[] = []
  const readers = new Set<() => void>()
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)))
    for (const read of readers) read()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  await once(socket, 'open')
  const send = (message: unknown) => socket.send(JSON.stringify(message))
  const received = (count: number) =>
    new Promise<void>((resolve) => {
      const read = () => messages.length >= count && resolve()
      readers.add(read)
      read()
    })
  send({ type: 'connection_init' })
  await received(1)
  return { socket, messages, closed, send, received }
}

const codesOf = (result: Result | null) => (result?.errors ?? []).map(({ extensions }) => extensions?.['code'])

/** The SQL of a call to `query` of `pg`. */
function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : ((statement as { text?: string } | undefined)?.text ?? '')
}

/** Whether a statement reads the events after a position. */
function isReading(statement: unknown): boolean {
  return /SELECT .*FROM "Event" .*seq >/s.test(textOf(statement))
}
