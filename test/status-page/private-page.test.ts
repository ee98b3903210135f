// @slow
import { isObjectType } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import { lastCompleteMonth } from '../../src/status-page/monthly-report.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization, mutate, uploadFile } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { openEventStream, post, websocketClient } from '../support/graphql-client.ts'
import { startMailServer } from '../support/mail-server.ts'
import { serveUnder } from '../support/own-domain.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const database = await testDatabase()
const dns = await startDnsServer(scriptedLists())
const mail = await startMailServer()
atTheEnd(() => mail.close())
const settings = {
  SECRET_KEY: 'k'.repeat(32),
  TRUST_PROXY: '127.0.0.1',
  SMTP_URL: mail.url,
  MAIL_FROM: 'status@allclear.example',
}
/** The instances' clock: it stands still while `stopped` is set, and is `ahead` otherwise, in milliseconds. */
const clock = { stopped: null as Date | null, ahead: 0 }
const now = () => clock.stopped ?? new Date(Date.now() + clock.ahead)
/** Starts an instance. Custom domains are served only by one whose own name is known. */
async function start(): Promise<string> {
  const port = String(await freePort())
  const own = { ...settings, PORT: port, BASE_URL: `http://127.0.0.1:${port}` }
  return (await testApp({ database, dns, now, settings: own })).baseUrl
}
const url = await start()
const otherUrl = await start()
const soon = (hours: number) => new Date(Date.now() + hours * 3_600_000)
const mine = await filledOrganization(url, { startsAt: soon(1), endsAt: soon(2) })
const { slug, key, ids } = mine
const host = `${slug}.status.example`
await serveUnder(testContext(database.prisma), mine.id, host)
// It publishes its reports, including that of last month.
const month = lastCompleteMonth('UTC', new Date())
await mutate(url, key, 'updatePageReports', 'StatusPage', { pageId: ids.StatusPage, published: true })
await database.prisma.organization.update({ where: { id: mine.id }, data: { createdAt: new Date(`${month}-01`) } })

const { id: updateId } = await database.prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId: ids.Incident } })
const file = await uploadFile(url, key, { incidentId: ids.Incident, name: 'a.txt', update_id: updateId })

/** Texts that strangers must not see: the name of the organization, titles, and other content of the page. */
const secrets = /Acme|API\b|Slow answers|New disks|We are looking|Europe|REST|Short interruptions|Partial outage/

type Access = { kind: string; password?: string; mailDomains?: string[]; ranges?: string[] }
const accesses: Access[] = [
  { kind: 'PASSWORD', password: 'correct horse' },
  { kind: 'MEMBERS' },
  { kind: 'MAIL_DOMAIN', mailDomains: ['acme.example'] },
  { kind: 'ADDRESSES', ranges: ['192.0.2.0/24', '2001:db8:1::/48'] },
]
const setAccess = (access: Access) =>
  mutate(url, key, 'updatePageAccess', 'PageAccess', { pageId: ids.StatusPage, access }, 'kind')
const newToken = () =>
  mutate<{ id: string; secret: string }>(
    url,
    key,
    'createPageToken',
    'CreatePageTokenPayload',
    { pageId: ids.StatusPage, name: 'Wall display' },
    'id secret',
  )

/** Every path of a status page in the API description. */
const described = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> }
const doors = Object.entries(described.paths)
  .filter(([path]) => /^\/status\/\{slug\}/.test(path) && !/\/access/.test(path))
  .flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })))
const pathOf = (path: string, root = `/status/${slug}`) =>
  path
    .replace('/status/{slug}', root)
    .replace(/\/services\/\{id\}/, `/services/${ids.Service}`)
    .replace(/\/incidents\/\{id\}/, `/incidents/${ids.Incident}`)
    .replace(/\/maintenance\/\{id\}/, `/maintenance/${ids.Maintenance}`)
    .replace('/files/{id}', `/files/${file.id}`)
    .replace(/\/reports\/\{(?:id|month)\}/, `/reports/${month}`)
    .replace('{language}', 'de')
    .replace(/\{[^}]*\}/, 'x') || '/'

const browser = { accept: 'text/html' }
const stranger = { 'x-forwarded-for': '198.51.100.7' }
const sameOrigin = { 'sec-fetch-site': 'same-origin' }
const ask = (path: string, headers: Record<string, string> = {}, method = 'get') =>
  fetch(url + path, { method: method.toUpperCase(), headers: { ...stranger, ...headers }, redirect: 'manual' })

const form = (path: string, fields: Record<string, string>, { at = url, headers = {} } = {}) =>
  fetch(at + path, {
    method: 'POST',
    headers: { ...stranger, ...sameOrigin, ...headers },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';', 1)[0] ?? ''

async function openByPassword(at = url): Promise<string> {
  const answer = await form(`/status/${slug}/access`, { password: 'correct horse' }, { at })
  expect(answer.status).toBe(303)
  return cookieOf(answer)
}

async function openByMail(): Promise<string> {
  const before = mail.mails.length
  const asked = await form(`/status/${slug}/access`, { email: `reader${before}@acme.example` })
  expect(asked.status).toBe(200)
  const arrived = (await mail.arrived(before + 1)).at(-1)
  expect(`${arrived?.subject} ${arrived?.text}`).not.toMatch(secrets)
  const link = /\/status\/\S+\/access\/[\w-]{43}/.exec(arrived?.text ?? '')?.[0] ?? ''
  const shown = await ask(link, browser)
  expect(shown.status).toBe(200)
  const answer = await form(link, {})
  expect(answer.status).toBe(303)
  const again = await form(link, {})
  expect(again.status).toBe(410)
  return cookieOf(answer)
}

/** Headers with which a browser may read the page; null: only a session helps. */
async function credentialOf({ kind }: Access): Promise<Record<string, string> | null> {
  if (kind === 'PASSWORD') return { cookie: await openByPassword() }
  if (kind === 'MAIL_DOMAIN') return { cookie: await openByMail() }
  return kind === 'ADDRESSES' ? { 'x-forwarded-for': '2001:db8:1:2::3' } : null
}

/** The types that pages show, and how a stranger can reach each. */
const nodeTypes = [
  'StatusPage',
  'ServiceGroup',
  'Service',
  'Incident',
  'IncidentUpdate',
  'Maintenance',
  'MaintenanceUpdate',
] as const
const codesOf = async (query: string, headers: Record<string, string> = {}, key?: string) => {
  const { data, errors } = await post(url, { query, key }, { ...stranger, ...headers })
  return { text: JSON.stringify(data ?? null), codes: (errors ?? []).map(({ extensions }) => extensions?.['code']) }
}
/**
 * Follows the page by websocket until the service closes the connection; resolves with the close code. Resolves once
 * events arrive: a subscription that starts without access is refused, and its connection stays open.
 */
async function followPage(at: string, params?: Record<string, unknown>): Promise<{ closed: Promise<number> }> {
  const client = websocketClient(at, params, false)
  const closed = new Promise<number>((resolve) => {
    client.on('closed', (event) => resolve((event as { code: number }).code))
  })
  const query = `subscription { statusPageEvents(slug: "${slug}", after: "0") { cursor } }`
  await new Promise<void>((resolve, reject) => {
    client.subscribe({ query }, { next: () => resolve(), error: reject, complete: () => {} })
  })
  return { closed }
}
const pageQuery = `{ statusPage(slug: "${slug}") { name services { name } } }`

describe('an unpublished incident', () => {
  const words = 'Unpublished words'
  const hidden = { title: words, status: 'INVESTIGATING', impact: 'CRITICAL', message: words, visibility: 'DRAFT' }
  const services = [{ serviceId: ids.Service, status: 'MAJOR_OUTAGE' }]
  const create = () =>
    mutate<{ id: string; updates: { nodes: { id: string }[] } }>(
      url,
      key,
      'createIncident',
      'Incident',
      { ...hidden, services },
      'id updates { nodes { id } }',
    )
  /** Returns the content of every public address for a stranger, without times and positions in the log. */
  const seen = async () => {
    const all = new Map<string, string>()
    for (const { path, method } of doors) {
      if (method !== 'get' || path.includes('{language}')) continue
      const answer = await ask(pathOf(path), browser)
      const isText = !/image\/png/.test(answer.headers.get('content-type') ?? '')
      const body = isText
        ? (await answer.text()).replace(/data-(cursor|version|parts|since)="[^"]*"|\?at=\w+/g, '')
        : ''
      all.set(path, `${answer.status} ${body.replace(/\d{4}-\d\d-\d\d[T ][\d:.]+|\d\d:\d\d(:\d\d)?/g, 'T')}`)
    }
    return all
  }

  test('changes nothing at any address, is not found by its id, and does not affect figures', async () => {
    await setAccess({ kind: 'PUBLIC' })
    // An open incident that was declared before lowers the figures with each second, so both are read at one time.
    const [then, later] = [new Date(), soon(0.2)]
    clock.stopped = later
    const before = await seen()
    clock.stopped = then
    const draft = await create()
    const more = { incidentId: draft.id, status: 'IDENTIFIED', message: words, services }
    await mutate(url, key, 'postIncidentUpdate', 'IncidentUpdate', more)
    clock.stopped = later
    expect(before.size).toBeGreaterThan(15)
    const after = [...(await seen())]
    Object.assign(clock, { stopped: null, ahead: later.getTime() - then.getTime() })
    expect(after.filter(([, text]) => text.includes(words))).toEqual([])
    expect(after.filter(([path, text]) => text !== before.get(path)).map(([path]) => path)).toEqual([])
    const update = draft.updates.nodes[0]?.id
    const nodes = `{ nodes(ids: ["${draft.id}", "${update}"]) { id } }`
    expect((await codesOf(nodes)).text).toBe('{"nodes":[null,null]}')
    expect((await codesOf(nodes, {}, key)).text).toContain(draft.id)
    expect((await ask(`/status/${slug}/incidents/${draft.id}`, browser)).status).toBe(404)
    const shown = `{ statusPage(slug: "${slug}") { status { description } incidents { id } pastIncidents(filter: { text: "words" }) { nodes { id } } } }`
    expect((await codesOf(shown)).text).not.toContain(draft.id)
    expect((await codesOf(shown, {}, key)).text).not.toContain(draft.id)

    const doors = [
      ['publishIncident', 'Incident', { id: draft.id, notifySubscribers: false }],
      ['publishIncident', 'Incident', { id: draft.id }],
    ] as const
    for (const [mutation, type, input] of doors) await mutate(url, key, mutation, type, input)
    expect((await ask(`/status/${slug}/incidents/${draft.id}`, browser)).status).toBe(200)
    expect((await codesOf(nodes)).text).toContain(draft.id)
    expect(await (await ask(`/status/${slug}/history.atom`)).text()).toContain(words)
    // Those who followed it before it was published receive no events of that time.
    const kinds = await database.prisma.event.findMany({ where: { subjectId: draft.id }, select: { kind: true } })
    expect(kinds.map(({ kind }) => kind)).toEqual(['INCIDENT_DRAFTED', 'INCIDENT_DRAFT_UPDATED', 'INCIDENT_CREATED'])
    await database.prisma.incident.deleteMany({ where: { id: draft.id } })
  })
})

describe.each(accesses)('a page for $kind', (access) => {
  let token: { id: string; secret: string }
  let credential: Record<string, string> | null
  beforeAll(async () => {
    await setAccess({ kind: 'PUBLIC' })
    // Cached as public content, at every address and on both instances.
    for (const { path, method } of doors) if (method === 'get') await (await ask(pathOf(path), browser)).text()
    expect((await codesOf(pageQuery)).text).toContain('Acme')
    await setAccess(access)
    token = await newToken()
    credential = await credentialOf(access)
  })

  test.each(doors)('$method $path is closed to strangers', async ({ path, method }) => {
    for (const at of [pathOf(path), `${pathOf(path)}?since=x`, `${pathOf(path)}?token=acp_wrong`]) {
      const page = await ask(at, browser, method)
      const text = await page.text()
      expect(page.status).toBe(401)
      expect(text).toMatch(/This page is private|Diese Seite ist privat/)
      expect(text).not.toMatch(secrets)
      expect(page.headers.get('cache-control')).toBe('private, no-store')
      expect(page.headers.get('x-robots-tag')).toContain('noindex')
      const document = await ask(at, { accept: '*/*' }, method)
      expect(document.status).toBe(401)
      expect(await document.json()).toEqual({
        error: { code: 'PAGE_IS_PRIVATE', message: expect.not.stringMatching(secrets) },
      })
    }
    const elsewhere = await fetch(otherUrl + pathOf(path), { method: method.toUpperCase(), headers: stranger })
    expect(elsewhere.status).toBe(401)
  })

  test.each(doors)('$method $path of its own domain is closed to strangers', async ({ path, method }) => {
    const { request } = await import('node:http')
    const status = await new Promise((resolve, reject) => {
      const sent = request(url + pathOf(path, ''), { method: method.toUpperCase(), headers: { host, ...stranger } })
      sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject)
      sent.end()
    })
    expect(status).toBe(401)
  })

  test.each(doors.filter(({ method }) => method === 'get'))('$path is open with access only', async ({ path }) => {
    const at = pathOf(path)
    const rights: { at: string; headers: Record<string, string> }[] = [
      { at: `${at}?token=${token.secret}`, headers: {} },
      { at, headers: { authorization: `Bearer ${token.secret}` } },
      { at, headers: { authorization: `Bearer ${key}` } },
      ...(credential ? [{ at, headers: credential }] : []),
    ]
    for (const right of rights) {
      const answer = await ask(right.at, { ...browser, ...right.headers })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
      expect(answer.headers.get('x-robots-tag')).toContain('noindex')
      expect(answer.headers.get('referrer-policy')).toMatch(right.at.includes('token') ? 'no-referrer' : 'same-origin')
      expect(await answer.text()).not.toContain(token.secret)
    }
  })

  test('GraphQL refuses strangers on every transport', async () => {
    const refused = { text: 'null', codes: ['UNAUTHENTICATED'] }
    expect(await codesOf(pageQuery)).toMatchObject({ codes: ['UNAUTHENTICATED'] })
    expect((await codesOf(pageQuery)).text).not.toMatch(secrets)
    expect(await codesOf(`{ statusPage(slug: "${slug}") { __typename } }`)).toMatchObject({ codes: refused.codes })
    for (const type of nodeTypes) {
      const asked = await codesOf(`{ node(id: "${ids[type]}") { __typename id } nodes(ids: ["${ids[type]}"]) { id } }`)
      expect(asked.text).not.toContain(ids[type])
      expect(new Set(asked.codes)).toEqual(new Set(['UNAUTHENTICATED']))
    }
    const input = `{ slug: "${slug}", address: { email: "a@b.example" } }`
    expect(
      await codesOf(
        `mutation { subscribe(input: ${input}) { ... on SubscribePayload { message } ... on Error { code } } }`,
      ),
    ).toMatchObject({ codes: refused.codes })
  })

  const subscriptions = [
    `subscription { statusPageEvents(slug: "${slug}", after: "0") { cursor } }`,
    `subscription { statusPageChanges(slug: "${slug}", after: "0") { cursor patch { html } } }`,
    `subscription { statusPageChanges(slug: "none", host: "${host}", after: "0") { cursor patch { html } } }`,
    `subscription { incidentEvents(id: "${ids.Incident}", after: "0") { cursor } }`,
  ]
  test.each(subscriptions)('%s is closed to strangers, by websocket and events', async (query) => {
    const stream = await openEventStream(url, { query })
    const text = await stream.text()
    expect(text).toMatch(/UNAUTHENTICATED|NOT_FOUND/)
    expect(text).not.toContain('cursor')
    const client = websocketClient(url)
    const results: unknown[] = []
    try {
      for await (const result of client.iterate({ query })) results.push(result)
    } catch (errors) {
      results.push({ errors })
    }
    expect(results).toMatchObject([{ errors: [{ extensions: { code: expect.stringMatching(/UNAUTH|NOT_FOUND/) } }] }])
    await client.dispose()
  })

  test('GraphQL answers readers with access', async () => {
    expect((await codesOf(pageQuery, {}, token.secret)).text).toContain('Acme')
    expect((await codesOf(pageQuery, {}, key)).text).toContain('Acme')
    if (credential) expect((await codesOf(pageQuery, { ...credential, ...sameOrigin })).text).toContain('Acme')
    // No answer is cached for the next reader.
    expect((await codesOf(pageQuery)).codes).toEqual(['UNAUTHENTICATED'])
    if (access.kind === 'ADDRESSES') {
      const crossSite = { ...credential, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
      expect((await codesOf(pageQuery, crossSite)).codes).toEqual(['UNAUTHENTICATED'])
    }
    const answer = await fetch(`${url}/graphql?query=${encodeURIComponent(pageQuery)}`, {
      headers: { ...stranger, ...credential, authorization: `Bearer ${token.secret}` },
    })
    expect(answer.headers.get('cache-control') ?? '').not.toMatch(/public|s-maxage/)
    expect(await answer.text()).toContain('Acme')
  })

  test('closes open connections when the access changes, and those of a token when it is revoked', async () => {
    const events = `subscription { statusPageEvents(slug: "${slug}") { cursor } }`
    for (const at of [url, otherUrl]) {
      const own = await newToken()
      const { closed } = await followPage(at, { authorization: `Bearer ${own.secret}` })
      const stream = await openEventStream(at, { query: events, key: own.secret })
      const ended = stream.text().catch(() => 'cut')
      await mutate(url, key, 'revokePageToken', 'PageToken', { id: own.id })
      expect(await closed).toBe(4403)
      expect(await ended).not.toContain('cursor')
      expect((await ask(`/status/${slug}?token=${own.secret}`)).status).toBe(401)
    }
    if (credential === null || !('cookie' in credential)) return
    expect((await ask(`/status/${slug}`, credential)).status).toBe(200)
    await setAccess(
      access.kind === 'PASSWORD'
        ? { kind: 'PASSWORD', password: 'another horse' }
        : { kind: 'MAIL_DOMAIN', mailDomains: ['acme.example', 'other.example'] },
    )
    for (const at of [url, otherUrl])
      expect((await fetch(`${at}/status/${slug}`, { headers: { ...credential, ...stranger } })).status).toBe(401)
  })
})

test('visitors of a public page are disconnected when it becomes private', async () => {
  for (const at of [url, otherUrl]) {
    await setAccess({ kind: 'PUBLIC' })
    const query = `subscription { statusPageEvents(slug: "${slug}") { cursor } }`
    const { closed } = await followPage(at)
    const stream = await openEventStream(at, { query })
    const ended = stream.text().catch(() => 'cut')
    await setAccess({ kind: 'MEMBERS' })
    expect(await closed).toBe(4403)
    expect(await ended).not.toContain('next')
  }
})

test('every type that pages show is guarded, on any path to it', async () => {
  await setAccess({ kind: 'MEMBERS' })
  // Objects of the page that reach a caller without access some other way, such as by an event.
  const source = await database.prisma.service.findUniqueOrThrow({ where: { id: ids.Service } })
  for (const name of nodeTypes) {
    const type = schema.getType(name)
    if (!isObjectType(type)) throw new Error(`${name} is no type.`)
    for (const field of Object.values(type.getFields())) {
      const ctx = testContext(database.prisma, { actor: { kind: 'visitor' } })
      const resolve = field.resolve as (...all: unknown[]) => Promise<unknown>
      await expect(
        Promise.resolve(resolve({ id: source.id, organizationId: mine.id }, {}, ctx, {})),
        `${name}.${field.name}`,
      ).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    }
  }
})

describe('the access form', () => {
  const path = `/status/${slug}/access`
  beforeAll(() => setAccess({ kind: 'PASSWORD', password: 'correct horse' }))

  test.each([
    ['https://evil.example/', `/status/${slug}`],
    ['//evil.example', `/status/${slug}`],
    ['/\\evil.example', `/status/${slug}`],
    [`/status/${slug}/../../console`, `/status/${slug}`],
    ['/status/other', `/status/${slug}`],
    [`/status/${slug}-other`, `/status/${slug}`],
    [`/status/${slug}/history?month=2026-11`, `/status/${slug}/history?month=2026-11`],
  ])('redirects from %s to %s', async (to, location) => {
    const answer = await form(path, { password: 'correct horse', to })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, location])
    expect(answer.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/)
  })

  test('has the colour of its owner, and nothing else of the page', async () => {
    const text = await (await ask(`/status/${slug}`, browser)).text()
    expect(text).toMatch(/<link rel="stylesheet" href="\/assets\/theme\.0b6e5a\.css"\/>/)
    expect(text).not.toMatch(secrets)
    expect(text).not.toContain('<img')
  })

  test('is refused from other sites', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ]) {
      const answer = await form(path, { password: 'correct horse' }, { headers })
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
    }
  })

  test('a cookie is valid for one page, and its expiry cannot be changed', async () => {
    const cookie = await openByPassword()
    const [name = '', value = ''] = cookie.split('=')
    const [until = '', mac = ''] = value.split('.')
    for (const forged of [
      `${Number(until) + 1}.${mac}`,
      `${until}.${mac.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
      until,
      '',
    ]) {
      expect((await ask(`/status/${slug}`, { cookie: `${name}=${forged}` })).status).toBe(401)
    }
    expect((await ask(`/status/${slug}`, { cookie })).status).toBe(200)
  })

  test('limits wrong passwords per network, across all instances', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.99' }
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt++) {
      const at = attempt % 2 === 0 ? url : otherUrl
      statuses.push((await form(path, { password: `wrong ${attempt}` }, { at, headers })).status)
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    expect((await form(path, { password: 'correct horse' }, { headers })).status).toBe(429)
    // Another network is not locked.
    expect((await form(path, { password: 'correct horse' })).status).toBe(303)
  })

  test('sends no email to other domains, with the same answer', async () => {
    await setAccess({ kind: 'MAIL_DOMAIN', mailDomains: ['acme.example'] })
    const before = mail.mails.length
    const answers = []
    for (const email of ['b@other.example', 'b@sub.acme.example', 'c@acme.example.evil.example', 'd@acme.example']) {
      answers.push(await (await form(path, { email })).text())
    }
    expect(new Set(answers).size).toBe(1)
    await mail.arrived(before + 1)
    expect(mail.mails.slice(before).map(({ envelopeTo }) => envelopeTo)).toEqual(['d@acme.example'])
  })
})

test('a key without the scope, or of another organization, changes nothing', async () => {
  const other = await filledOrganization(url, { startsAt: soon(1), endsAt: soon(2) })
  const query = `mutation { updatePageAccess(input: { pageId: "${ids.StatusPage}", access: { kind: PUBLIC } }) { ... on Error { code } } }`
  expect((await codesOf(query, {}, other.key)).text).toContain('NOT_FOUND')
  expect((await codesOf(query)).codes).toEqual(['UNAUTHENTICATED'])
  expect((await codesOf(pageQuery, {}, other.key)).codes).toEqual(['UNAUTHENTICATED'])
  const { secret } = await mutate<{ secret: string }>(
    url,
    other.key,
    'createPageToken',
    'CreatePageTokenPayload',
    { pageId: other.ids.StatusPage, name: 'Theirs' },
    'secret',
  )
  expect((await codesOf(pageQuery, {}, secret)).codes).toEqual(['UNAUTHENTICATED'])
  expect((await ask(`/status/${slug}?token=${secret}`)).status).toBe(401)
})

test('an unknown path of the custom domain is closed like the page, and reveals nothing elsewhere', async () => {
  const { request } = await import('node:http')
  const { text } = await import('node:stream/consumers')
  const onDomain = (path: string) =>
    new Promise<{ status: number | undefined; html: string }>((resolve, reject) => {
      const headers = { host, ...browser, ...stranger }
      const sent = request(url + path, { headers })
      sent.on('response', async (answer) => resolve({ status: answer.statusCode, html: await text(answer) }))
      sent.on('error', reject).end()
    })
  const elsewhere = ['/docs/no-such-guide', '/assets/none.css', '/access/none', '/subscriptions/none']
  await setAccess({ kind: 'MEMBERS' })
  for (const path of ['/nothing-here', ...elsewhere]) {
    const { status, html } = await onDomain(path)
    expect(status, path).toBeGreaterThanOrEqual(300)
    expect(html).not.toMatch(secrets)
  }
  expect((await onDomain('/nothing-here')).status).toBe(401)
  await setAccess({ kind: 'PUBLIC' })
})
