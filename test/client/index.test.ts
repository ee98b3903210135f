import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, ORGANIZATION_EVENTS, PAGE_EVENTS, POSITION, RequestError } from '../../src/client/index.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { borrowDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'

const dns = await startDnsServer()
const { database, release } = await borrowDatabase()
atTheEnd(release)
const app = await testApp({ dns, database })

/** Forwards requests, and closes all connections on demand. */
const open = new Set<ServerResponse>()
let isDown = false
let streams = 0
let proxy: Server
let url: string
beforeAll(async () => {
  proxy = createServer(forward)
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
afterAll(() => {
  proxy.closeAllConnections()
  proxy.close()
})

function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (isDown) return void outgoing.writeHead(502).end('bad gateway')
  open.add(outgoing)
  const asked = request(app.baseUrl + incoming.url, { method: incoming.method, headers: incoming.headers })
  asked.on('response', (response) => {
    if (response.headers['content-type']?.startsWith('text/event-stream')) streams += 1
    outgoing.writeHead(response.statusCode ?? 500, response.headers)
    response.pipe(outgoing)
  })
  asked.on('error', () => outgoing.destroy())
  outgoing.on('close', () => asked.destroy())
  incoming.pipe(asked)
}

function cut(): void {
  for (const response of open) response.destroy()
  open.clear()
}

const createService = (key: string, name: string) => mutate(app.baseUrl, key, 'createService', 'Service', { name })

describe('the client library', () => {
  test('only selects what the schema has', async () => {
    const schema = buildSchema(await readFile('schema.graphql', 'utf8'))
    for (const query of [PAGE_EVENTS, ORGANIZATION_EVENTS, POSITION]) expect(validate(schema, parse(query))).toEqual([])
  })

  test('yields each event once, also when the connection is lost while events occur', async () => {
    const { slug, key } = await newOrganization(app.baseUrl)
    const ending = new AbortController()
    const losses: string[] = []
    const onReconnect = (error: Error) => {
      losses.push(error.message)
      isDown = false
    }
    const events = createClient({ url }).statusPageEvents(slug, { signal: ending.signal, onReconnect })
    const names: (string | undefined)[] = []
    const first = events.next()
    await expect.poll(() => streams).toBe(1)
    await createService(key, 'one')
    names.push((await first).value?.service?.name)
    isDown = true
    cut()
    await createService(key, 'two')
    await createService(key, 'three')
    for (let count = 0; count < 2; count++) names.push((await events.next()).value?.service?.name)
    expect(names).toEqual(['one', 'two', 'three'])
    expect(losses.length).toBeGreaterThan(0)
    const last = events.next()
    ending.abort()
    expect(await last).toEqual({ value: undefined, done: true })
  })

  test('misses nothing of an organization without events when the connection is lost before the first one', async () => {
    const { slug, key } = await newOrganization(app.baseUrl)
    const { prisma } = database
    const { id } = await prisma.organization.findUniqueOrThrow({ where: { slug } })
    await prisma.event.deleteMany({ where: { organizationId: id } })
    await prisma.organization.update({ where: { id }, data: { lastSeq: 0 } })
    const ending = new AbortController()
    const onReconnect = () => {
      isDown = false
    }
    const events = createClient({ url, key }).organizationEvents({ signal: ending.signal, onReconnect })
    const before = streams
    const first = events.next()
    await expect.poll(() => streams).toBe(before + 1)
    isDown = true
    cut()
    await createService(key, 'one')
    expect((await first).value).toMatchObject({ event: { kind: 'SERVICE_CREATED', subjectName: 'one' } })
    ending.abort()
  })

  test('aborts a request that is not answered in time', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const request = createClient({ url: address, timeoutMs: 20 }).request('{ __typename }')
    await expect(request).rejects.toMatchObject({ code: 'UNREACHABLE', isTemporary: true })
    await expect(request).rejects.toThrow('did not answer within 0.02 s')
    silent.closeAllConnections()
    silent.close()
  })

  test('continues after a given cursor', async () => {
    const { slug, key } = await newOrganization(app.baseUrl)
    const client = createClient({ url, key })
    type Page = { statusPage: { cursor: string } }
    const { statusPage } = await client.request<Page>(`{ statusPage(slug: "${slug}") { cursor } }`)
    await createService(key, 'earlier')
    const ending = new AbortController()
    const events = client.statusPageEvents(slug, { after: statusPage.cursor, signal: ending.signal })
    expect((await events.next()).value).toMatchObject({ kind: 'SERVICE_CREATED', service: { name: 'earlier' } })
    const own = client.organizationEvents({ after: statusPage.cursor, signal: ending.signal })
    expect((await own.next()).value).toMatchObject({ event: { kind: 'SERVICE_CREATED', subjectName: 'earlier' } })
    ending.abort()
  })

  test('ends with an error that retrying cannot fix', async () => {
    const unknown = createClient({ url }).statusPageEvents('no-such-page').next()
    await expect(unknown).rejects.toMatchObject({ name: 'RequestError', code: 'NOT_FOUND' })
    const wrongKey = createClient({ url, key: 'ac_wrong' })
    await expect(wrongKey.organizationEvents().next()).rejects.toMatchObject({ isTemporary: false })
    await expect(wrongKey.request('{ organization { name } }')).rejects.toBeInstanceOf(RequestError)
  })

  test('reports an address that is not that of a service', async () => {
    const unreachable = createClient({ url: 'http://127.0.0.1:9' }).request('{ __typename }')
    await expect(unreachable).rejects.toMatchObject({ code: 'UNREACHABLE', isTemporary: true })
    isDown = true
    await expect(createClient({ url }).request('{ __typename }')).rejects.toThrow('HTTP 502')
    isDown = false
  })
})
