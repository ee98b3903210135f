// @slow
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../../../src/core/id.ts'
import { DAY, MINUTE } from '../../../../src/core/time.ts'
import { watchId } from '../../../../src/monitoring/monitor/watches.ts'
import { testConsole } from '../../../support/console.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { database, organization } = await testConsole()
const { signIn } = await organization('watchers')
const { signIn: signInElsewhere } = await organization('strangers')
const { prisma } = database

/** A website that echoes requests. */
const website = createServer((request, response) => {
  response.end(`hello, your token is ${request.headers['x-token'] ?? 'missing'}`)
})
let url = ''
beforeAll(async () => void (await prisma.organization.updateMany({ data: { tier: 'TEAM' } })))
beforeAll(() => new Promise<void>((resolve) => website.listen(0, '127.0.0.1', () => resolve())))
beforeAll(() => {
  url = `http://127.0.0.1:${(website.address() as AddressInfo).port}/`
})
afterAll(() => void website.close())

const blank = { kind: 'HTTP', name: 'Front page', 'http.method': 'GET', intervalSeconds: '60', serviceId: '' }
const stored = (id: string) => prisma.monitor.findUniqueOrThrow({ where: { id } })
const idIn = (location: string | null) => /mon_\w+/.exec(location ?? '')?.[0] ?? ''

async function create(more: Record<string, string> = {}) {
  const editor = await signIn('EDITOR')
  const { location, html } = await editor.post('monitors/new', { ...blank, 'http.url': url, ...more })
  expect(location, html).toContain('/console/watchers/monitors/mon_')
  return { editor, id: idIn(location) }
}

describe('a new monitor', () => {
  test('is prefilled with the target of a report', async () => {
    const editor = await signIn('EDITOR')
    const { location } = await editor.get('/console?watch=203.0.113.7')
    expect(location).toBe('/console/watchers/monitors/new?kind=BLACKLIST&target=203.0.113.7')
    const { html } = await editor.get('monitors/new?kind=BLACKLIST&target=%22%3E203.0.113.7')
    expect(html).toContain('value="&quot;&gt;203.0.113.7"')
    expect(html).toMatch(/name="intervalSeconds"[^>]*value="\d+"/)
  })

  test('begins with its kind, and shows exactly the fields of that kind', async () => {
    const editor = await signIn('EDITOR')
    expect((await editor.get('monitors/new')).html).toContain('monitors/new?kind=BLACKLIST')
    const { html } = await editor.get('monitors/new?kind=PING')
    expect(html).toContain('name="ping.host"')
    expect(html).not.toMatch(/name="(http|tcp|dns|blacklist|heartbeat)\./)
  })

  test('has rare fields in sections, which are open if something in them is set or wrong', async () => {
    const editor = await signIn('EDITOR')
    const open = (html: string) => [...html.matchAll(/<details open[^>]*><summary>([^<]*)/g)].map(([, title]) => title)
    const all = (html: string) => [...html.matchAll(/<summary>([^<]*)/g)].map(([, title]) => title)
    const fresh = (await editor.get('monitors/new?kind=HTTP')).html
    expect(all(fresh)).toEqual(expect.arrayContaining(['Request', 'Response', 'Signing in', 'TLS', 'More options']))
    expect(open(fresh)).toEqual([])
    const typed = { ...blank, 'http.url': url, 'http.method': 'POST', 'http.certificateDays': '400', inverted: '' }
    expect(open((await editor.post('monitors/new', typed)).html)).toEqual(['Request', 'TLS'])
    const { location } = await editor.post('monitors/new', { ...blank, 'http.url': url, 'http.expectedStatus': '204' })
    expect(open((await editor.get(`monitors/${idIn(location)}/edit`)).html)).toEqual(['Response'])
  })

  test('is saved with its input', async () => {
    const headers = { 'http.headers.name': 'X-Token', 'http.headers.value': 's3cret' }
    const flags = { 'http.verifyCertificate.shown': 'true', 'http.keyword.absent.shown': 'true' }
    const { id } = await create({
      ...headers,
      ...flags,
      'http.keyword.text': 'hello',
      'http.expectedStatus': '200, 3xx',
    })
    const { name, kind, options } = await stored(id)
    expect({ name, kind, options }).toMatchObject({
      name: 'Front page',
      kind: 'HTTP',
      options: {
        url,
        expectedStatus: ['200', '3xx'],
        keyword: { text: 'hello', absent: false },
        verifyCertificate: false,
        headers: [{ name: 'X-Token' }],
      },
    })
  })

  test.each([
    ['TCP', { 'tcp.host': 'db.example.com', 'tcp.port': '5432', 'tcp.send': 'PING\\r\\n' }, { port: 5432, tls: false }],
    [
      'DNS',
      { 'dns.name': 'example.com', 'dns.recordType': 'MX', 'dns.expected': '10 a.example.\r\n20 b.example.\r\n' },
      { recordType: 'MX', expected: ['10 a.example.', '20 b.example.'] },
    ],
    ['PING', { 'ping.host': 'example.com', 'ping.count': '2' }, { count: 2 }],
    [
      'HEARTBEAT',
      {
        'heartbeat.graceSeconds': '90',
        'heartbeat.schedule': '@daily',
        'heartbeat.timeZone': 'Asia/Tokyo',
        intervalSeconds: '3600',
      },
      { graceSeconds: 90, schedule: '@daily', timeZone: 'Asia/Tokyo' },
    ],
    [
      'BLACKLIST',
      { 'blacklist.target': '192.0.2.7', 'blacklist.acknowledged': 'spamhaus-zen', intervalSeconds: '3600' },
      { target: '192.0.2.7', acknowledged: ['spamhaus-zen'] },
    ],
  ])('can be of kind %s', async (kind, fields, options) => {
    const editor = await signIn('EDITOR')
    const { location, html } = await editor.post('monitors/new', { ...blank, ...fields, kind, name: kind })
    expect(location, html).not.toBeNull()
    expect(await stored(idIn(location))).toMatchObject({ kind, options })
  })

  test('may be a group of others, which its page shows', async () => {
    const { editor, id: memberId } = await create({ name: 'Member <1>' })
    const { html: form } = await editor.get('monitors/new?kind=GROUP')
    expect(form).toContain(`name="group.monitorIds" value="${memberId}"`)
    expect(form).not.toMatch(/name="(intervalSeconds|timeoutMs|test)"/)
    const typed = { ...blank, kind: 'GROUP', name: 'Pool', 'group.require': 'AT_LEAST', 'group.count': '1' }
    const refused = await editor.post('monitors/new', { ...typed, 'group.monitorIds': memberId, 'group.count': '2' })
    expect(refused.html).toContain('id="group.count-problem">Must be at most 1.</p>')
    const { location, html } = await editor.post('monitors/new', { ...typed, 'group.monitorIds': memberId })
    expect(location, html).not.toBeNull()
    expect(await stored(idIn(location))).toMatchObject({
      kind: 'GROUP',
      options: { monitorIds: [memberId], require: 'AT_LEAST', count: 1 },
    })
    const { html: page } = await editor.get(`monitors/${idIn(location)}`)
    expect(page).toContain('Group, up when any monitor is up')
    expect(page).toContain(`monitors/${memberId}">Member &lt;1&gt;</a>`)
    expect(page).not.toContain('Last results')
    const edit = await editor.get(`monitors/${idIn(location)}/edit`)
    expect(edit.html).toContain(`name="group.monitorIds" value="${memberId}" checked`)
    const { id: other } = await create({ name: 'Member 2' })
    const all = { ...blank, kind: 'GROUP', name: 'Pool', 'group.require': 'ALL', version: '1' }
    const changed = { ...all, 'group.count': '', 'group.monitorIds': [memberId, other] }
    const saved = await editor.post(`monitors/${idIn(location)}/edit`, changed)
    expect(saved.location, saved.html).not.toBeNull()
    const { options } = await stored(idIn(location))
    expect(options).toEqual({ monitorIds: expect.arrayContaining([memberId, other]), require: 'ALL' })
    expect((await editor.get(`monitors/${idIn(location)}`)).html).toContain('up when all monitors are up')
    const none = await editor.post(`monitors/${idIn(location)}/edit`, { ...all, version: '2', 'group.count': '' })
    expect([none.status, none.html.includes('id="group.monitorIds-problem"')]).toEqual([422, true])
  })

  test('is refused beside its fields, with its input', async () => {
    const editor = await signIn('EDITOR')
    const typed = { ...blank, 'http.url': 'ftp://example.com', 'http.expectedStatus': 'okay', intervalSeconds: '1' }
    const { status, html } = await editor.post('monitors/new', typed)
    expect(status).toBe(422)
    expect(html).toContain('id="http.url-problem">Must be an http:// or https:// URL.</p>')
    expect(html).toContain('value="ftp://example.com"')
    const again = await editor.post('monitors/new', { ...typed, 'http.url': url })
    expect(again.html).toContain('id="http.expectedStatus-problem">Must be like 200, 2xx or 200-299.</p>')
  })

  test('is refused to a viewer, who sees no button for it', async () => {
    const viewer = await signIn('VIEWER')
    const { status, html } = await viewer.post('monitors/new', { ...blank, 'http.url': url })
    expect(status).toBe(422)
    expect(html).toContain('This requires the role EDITOR')
    expect((await viewer.get('monitors')).html).not.toContain('Add a monitor')
  })
})

describe('the test of an editor', () => {
  test('shows the actual result beside the input, and saves nothing', async () => {
    const editor = await signIn('EDITOR')
    const before = await prisma.monitor.count()
    const typed = { ...blank, 'http.url': url, 'http.headers.name': 'X-Token', 'http.headers.value': 's3cret' }
    const good = await editor.post('monitors/new', { ...typed, test: 'true', 'http.keyword.text': 'token is s3cret' })
    expect(good.status).toBe(200)
    expect(good.html).toMatch(/data-state="UP".*HTTP 200 in \d+ ms/)
    expect(good.html).toContain('value="s3cret"')
    const bad = await editor.post('monitors/new', { ...typed, test: 'true', 'http.keyword.text': 'goodbye' })
    expect(bad.html).toMatch(/data-state="DOWN".*goodbye/)
    expect(await prisma.monitor.count()).toBe(before)
  })

  test('uses the stored secrets of the edited monitor', async () => {
    const { editor, id } = await create({ 'http.headers.name': 'X-Token', 'http.headers.value': 's3cret' })
    const kept = { ...blank, 'http.url': url, 'http.headers.name': 'X-Token', 'http.headers.value': '' }
    const fields = { ...kept, test: 'true', version: '1', 'http.keyword.text': 'token is s3cret' }
    const { html } = await editor.post(`monitors/${id}/edit`, fields)
    expect(html).toMatch(/data-state="UP"/)
    expect(html).not.toContain('value="s3cret"')
  })
})

describe('an edit', () => {
  test('keeps secrets that are left empty, and never shows them', async () => {
    const secrets = { 'http.headers.name': 'X-Token', 'http.headers.value': 's3cret', 'http.body': 'hidden' }
    const { editor, id } = await create({ ...secrets, 'http.method': 'POST' })
    const { html } = await editor.get(`monitors/${id}/edit`)
    expect(html).not.toMatch(/s3cret|hidden<\/textarea>/)
    expect(html).toContain('Stored, and kept when empty')
    const before = await stored(id)
    const same = { ...blank, 'http.url': url, 'http.method': 'POST', 'http.headers.name': 'X-Token' }
    const fields = { ...same, 'http.headers.value': '', 'http.body': '', name: 'Renamed', version: '1' }
    expect((await editor.post(`monitors/${id}/edit`, fields)).status).toBe(303)
    expect(await stored(id)).toMatchObject({ name: 'Renamed', options: before.options })
    const removal = { ...fields, version: '2', 'http.body.removed': 'true', 'http.headers.name': '' }
    expect((await editor.post(`monitors/${id}/edit`, removal)).status).toBe(303)
    expect((await stored(id)).options).toMatchObject({ headers: [] })
    expect((await stored(id)).options).not.toHaveProperty('body')
  })

  test('after another person’s edit shows both versions', async () => {
    const { editor, id } = await create()
    await editor.post(`monitors/${id}/edit`, { ...blank, 'http.url': url, name: 'Theirs', version: '1' })
    const late = { ...blank, 'http.url': url, name: 'Mine', version: '1' }
    const { status, html } = await editor.post(`monitors/${id}/edit`, late)
    expect(status).toBe(422)
    expect(html).toContain('Now: Theirs</span>')
    expect(html.match(/Now: /g)).toHaveLength(1)
    expect(html).toContain('value="Mine"')
    expect(html).toContain('name="version" value="2"')
    expect((await editor.post(`monitors/${id}/edit`, { ...late, version: '2' })).status).toBe(303)
    expect((await stored(id)).name).toBe('Mine')
  })

  test('of another organization’s monitor is answered like one that does not exist', async () => {
    const { id } = await create()
    const stranger = await signInElsewhere('OWNER')
    const none = await stranger.get(`monitors/${newId('Monitor')}`)
    for (const path of [`monitors/${id}`, `monitors/${id}/edit`, `monitors/delete?ids=${id}`, 'monitors/mon_x']) {
      const { status, html } = await stranger.get(path)
      expect([path, status, html]).toEqual([path, 404, none.html])
    }
    for (const name of ['pause', 'resume', 'rotate', 'edit']) {
      expect((await stranger.post(`monitors/${id}/${name}`, { ...blank, version: '1' })).status).toBe(404)
    }
    expect((await stranger.post('monitors/bulk', { ids: id, do: 'pause' })).status).toBe(404)
    expect((await stranger.post('monitors/delete', { ids: id })).status).toBe(404)
    expect((await stored(id)).pausedBy).toBeNull()
  })
})

describe('the page of a monitor', () => {
  test('shows state, uptime, outages, regions and the last results', async () => {
    const { editor, id } = await create({ name: 'Shop' })
    const now = Date.now()
    await prisma.monitorInterval.updateMany({
      where: { monitorId: id },
      data: { startedAt: new Date(now - 2 * DAY), endedAt: new Date(now - DAY), state: 'UP' },
    })
    const down = { monitorId: id, startedAt: new Date(now - DAY), endedAt: new Date(now - DAY + 10 * MINUTE) }
    await prisma.monitorInterval.create({ data: { ...down, state: 'DOWN', cause: 'HTTP 503 instead of 2xx' } })
    await prisma.monitorInterval.create({
      data: { monitorId: id, startedAt: new Date(now - DAY + 10 * MINUTE), state: 'UP' },
    })
    await prisma.watch.createMany({
      data: ['eu', 'us'].map((region) => ({
        ...{ id: watchId(id, region), monitorId: id, region, state: 'UP' as const, stateSince: new Date(now) },
        ...{ lastKnownAt: new Date(now), lastProbedAt: new Date(now), lastMessage: `All well in ${region}` },
      })),
    })
    await prisma.probeResult.create({
      data: {
        monitorId: id,
        at: new Date(now),
        region: 'eu',
        outcome: 'UP',
        latencyMs: 42,
        message: 'HTTP 200 in 42 ms',
      },
    })
    const { html } = await editor.get(`monitors/${id}`)
    for (const text of ['Shop', 'HTTP 503 instead of 2xx', '10 min', 'All well in us', 'HTTP 200 in 42 ms', '7 days']) {
      expect(html).toContain(text)
    }
    const statements = await fewestStatements(async () => void (await editor.get(`monitors/${id}`)))
    expect(statements).toBeLessThanOrEqual(10)
  })

  test('pauses and resumes', async () => {
    const { editor, id } = await create()
    const { location } = await editor.post(`monitors/${id}/pause`, {})
    expect(location).toBe(`/console/watchers/monitors/${id}`)
    expect((await editor.get(`monitors/${id}`)).html).toContain(`monitors/${id}/resume`)
    await editor.post(`monitors/${id}/resume`, {})
    expect((await stored(id)).pausedBy).toBeNull()
  })

  test('shows the URL of a heartbeat to those who may change it, and replaces it', async () => {
    const editor = await signIn('EDITOR')
    const { location } = await editor.post('monitors/new', { ...blank, kind: 'HEARTBEAT', intervalSeconds: '3600' })
    const id = idIn(location)
    const urlIn = (html: string) => /heartbeats\/(\w{32})/.exec(html)?.[1]
    const first = urlIn((await editor.get(`monitors/${id}`)).html)
    expect(first).toBeDefined()
    expect(urlIn((await (await signIn('VIEWER')).get(`monitors/${id}`)).html)).toBeUndefined()
    await editor.post(`monitors/${id}/rotate`, {})
    const second = urlIn((await editor.get(`monitors/${id}`)).html)
    expect(second).toBeDefined()
    expect(second).not.toBe(first)
  })
})

describe('the list', () => {
  test('describes what to do first', async () => {
    const { signIn: enter } = await organization('beginners')
    const { html } = await (await enter('EDITOR')).get('monitors')
    expect(html).toContain('Nothing is monitored yet.')
    expect(html).toContain('/console/beginners/monitors/new')
  })

  test('filters by text, kind and state, and has pages with few statements', async () => {
    const { signIn: enter, organization: many } = await organization('many')
    const editor = await enter('EDITOR')
    const at = (index: number) => new Date(Date.now() - DAY + index * MINUTE)
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      ...{ id: newId('Monitor'), organizationId: many.id, name: `Machine ${index}`, createdAt: at(index) },
      ...{
        kind: index % 2 ? ('PING' as const) : ('TCP' as const),
        options: { host: `h${index}.example.com`, port: 1 },
      },
      ...{ intervalSeconds: 3600, timeoutMs: 1000, failureThreshold: 2, recoveryThreshold: 1 },
      ...{ state: index % 10 ? ('UP' as const) : ('DOWN' as const), stateSince: at(index), pausedBy: 'OWNER' as const },
    }))
    await prisma.monitor.createMany({ data: rows })
    const { html } = await editor.get('monitors')
    expect(html.match(/<li id="mon_/g)).toHaveLength(50)
    expect(Buffer.byteLength(html)).toBeLessThan(100_000)
    const next = /href="([^"]*after=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await editor.get(next)
    expect(second.html).toContain('>Machine 50<')
    expect(second.html).toContain('rel="prev"')
    expect(await fewestStatements(async () => void (await editor.get(next)))).toBeLessThanOrEqual(10)
    const found = await editor.get('monitors?text=h998.example&kind=TCP&state=UP')
    expect(found.html.match(/<li id="mon_/g)).toHaveLength(1)
    expect((await editor.get('monitors?text=h998.example&kind=PING')).html).toContain('No monitor matches.')
    expect((await editor.get('monitors?after=nonsense')).status).toBe(422)
    const silent = rows.slice(0, 3).map(({ id }) => id)
    await prisma.monitor.updateMany({ where: { id: { in: silent } }, data: { unknownSince: new Date() } })
    expect((await editor.get('monitors?state=UNKNOWN')).html.match(/<li id="mon_/g)).toHaveLength(3)
    expect((await editor.get('monitors?state=UNKNOWN&text=machine')).html.match(/<li id="mon_/g)).toHaveLength(3)
    expect((await editor.get('monitors?state=DOWN')).html).not.toContain('No data</span>')
    expect((await editor.get('monitors?state=DOWN')).html).not.toContain('>Machine 0<')
  })

  test('pauses, resumes and deletes the selected ones', async () => {
    const [one, other] = [await create({ name: 'First of two' }), await create({ name: 'Second of two' })]
    const { editor } = one
    const ids = [one.id, other.id]
    const paused = await editor.post('monitors/bulk?kind=HTTP', { ids, do: 'pause' })
    expect([paused.status, paused.location]).toEqual([303, '/console/watchers/monitors?kind=HTTP'])
    expect((await stored(other.id)).pausedBy).toBe('OWNER')
    await editor.post('monitors/bulk', { ids, do: 'resume' })
    expect((await stored(other.id)).pausedBy).toBeNull()
    const { location } = await editor.post('monitors/bulk', { ids, do: 'delete' })
    const { html } = await editor.get(location ?? '')
    expect(html).toContain('First of two')
    expect(html).toContain('Second of two')
    expect(await prisma.monitor.count({ where: { id: { in: ids } } })).toBe(2)
    expect((await editor.post('monitors/delete', { ids })).location).toBe('/console/watchers/monitors')
    expect(await prisma.monitor.count({ where: { id: { in: ids } } })).toBe(0)
  })

  test('reports an empty selection, and why some stayed unchanged', async () => {
    const { editor, id } = await create()
    const none = await editor.post('monitors/bulk', { do: 'pause' })
    expect([none.status, none.html.includes('choose at least one')]).toEqual([422, true])
    const some = await editor.post('monitors/bulk', { ids: [id, newId('Monitor')], do: 'pause' })
    expect(some.html).toContain('1 of 2 were not changed.')
    expect((await stored(id)).pausedBy).toBe('OWNER')
    const viewer = await (await signIn('VIEWER')).post('monitors/bulk', { ids: id, do: 'resume' })
    expect(viewer.html).toContain('This requires the role EDITOR')
  })
})
