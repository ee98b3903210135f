import { once } from 'node:events'
import { request } from 'node:https'
import pg from 'pg'
import pino from 'pino'
import { describe, expect, inject, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { demoteOutages } from '../../src/app/log.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { caddyMissing, startDeployedCaddy } from '../support/caddy.ts'
import { serverDatabase, serverUrl } from '../support/database.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

describe.skipIf(serverUrl === undefined)('while the database is unavailable', async () => {
  if (serverUrl === undefined) return
  const own = await serverDatabase(serverUrl, inject('databaseTemplate'))
  atTheEnd(own.remove)
  const proxy = await startDatabaseProxy(own.url)
  atTheEnd(proxy.close)
  const lines: { readonly msg: string; readonly level: number; readonly failures?: number }[] = []
  const log = pino({ level: 'info', hooks: demoteOutages }, { write: (line) => lines.push(JSON.parse(line)) })
  const dns = await startDnsServer(scriptedLists())
  const settings = { DATABASE_URL: proxy.url, STRIPE_WEBHOOK_SECRET: 'whsec_test1234' }
  const { baseUrl } = await testApp({ dns, settings, log })
  const { key, slug } = await newOrganization(baseUrl)
  await mutate(baseUrl, key, 'createService', 'Service', { name: 'Website', status: 'OPERATIONAL' })
  const page = `${baseUrl}/status/${slug}`
  const known = await (await fetch(page)).text()
  expect(known).toContain('Website')
  expect(known).not.toContain('as of <time')
  const summary = await (await fetch(`${page}/api/v2/summary.json`)).json()
  const states = await (await fetch(`${baseUrl}/readyz`)).json()
  await proxy.refuse()
  await vi.waitUntil(() => fetch(page).then(({ headers }) => headers.has('warning')))

  test('GraphQL responds 503 UNAVAILABLE with Retry-After', async () => {
    for (const authorization of ['', `Bearer ${key}`]) {
      const response = await fetch(`${baseUrl}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        body: JSON.stringify({ query: `{ statusPage(slug: "${slug}") { cursor } }` }),
      })
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('5')
      expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
    }
  })

  test('a websocket with a key is closed with 1013', async () => {
    const socket = new WebSocket(`${baseUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }))
    const [code] = await once(socket, 'close')
    expect(code).toBe(1013)
  })

  test.each([
    ['GET', '/api/blacklist-monitor/ip?target=192.0.2.1'],
    ['GET', '/api/v1/billing/status'],
    ['POST', '/api/v1/heartbeats/00000000000000000000000000000000'],
    ['GET', '/status/nobody-yet/api/v2/summary.json'],
  ])('%s %s responds 503 UNAVAILABLE with Retry-After', async (method, path) => {
    const response = await fetch(baseUrl + path, { method, headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await response.json()).toEqual({ error: { code: 'UNAVAILABLE', message: expect.any(String) } })
  })

  test('a page is shown in its last known state, with its time', async () => {
    const response = await fetch(page, { headers: { accept: 'text/html' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=4')
    expect(response.headers.get('warning')).toContain('110')
    expect(response.headers.has('etag')).toBe(false)
    const html = await response.text()
    expect(html).toContain('Website')
    expect(html).toMatch(/<main id="main"[^>]*><p class="as-of" role="status">As of <time/)
  })

  test('a document is served in its last known state, unchanged', async () => {
    const response = await fetch(`${page}/api/v2/summary.json`)
    expect(response.headers.get('warning')).toContain('110')
    expect(await response.json()).toEqual(summary)
  })

  test('an uncached page gets an error page with 503', async () => {
    const response = await fetch(`${baseUrl}/status/nobody-yet`, { headers: { accept: 'text/html' } })
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await response.text()).toContain('temporarily unavailable')
  })

  test('the process is alive but not ready, without details about the database', async () => {
    expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200)
    const ready = async () => {
      const response = await fetch(`${baseUrl}/readyz?for=writes`)
      return [response.status, await response.json()]
    }
    const checks = { database: 'unreachable', probing: 'failing', delivering: 'failing' }
    await expect.poll(ready).toEqual([503, { status: 'not ready', checks }])
  })

  test('the process still serves pages from memory, which load balancers go by', async () => {
    const response = await fetch(`${baseUrl}/readyz`)
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { status: 'ready', checks: { database: 'unreachable' } },
    ])
  })

  test.skipIf(caddyMissing !== null)('Caddy, as deploy/ configures it, keeps sending visitors to it', async () => {
    const caddy = await startDeployedCaddy(baseUrl)
    atTheEnd(caddy.stop)
    const sent = request({
      port: caddy.port,
      path: `/status/${slug}`,
      servername: 'localhost',
      rejectUnauthorized: false,
    }).end()
    const [{ statusCode, headers }] = await once(sent, 'response')
    expect([statusCode, headers.warning]).toEqual([200, expect.stringContaining('110')])
    sent.destroy()
  })

  test('a healthy process reports each part as ok', () => {
    const own = { database: 'ok', probing: 'ok', delivering: 'ok' }
    expect(states).toEqual({ status: 'ready', checks: { ...own, mail: 'off', resolver: 'ok', lateness: 'ok' } })
  })

  test('the log reports the outage once, and its end with the number of failed statements', async () => {
    await Promise.all(Array.from({ length: 140 }, () => fetch(`${baseUrl}/status/nobody`)))
    await proxy.resume()
    const isOver = ({ msg }: { readonly msg: string }) => msg.startsWith('database: available again')
    await vi.waitUntil(() => lines.some(isOver), 15_000)
    const reported = lines.filter(({ level }) => level >= 40)
    expect(reported).toMatchObject([
      {
        level: 50,
        msg: 'database: unreachable; retrying every second',
        reason: expect.stringContaining('ECONNREFUSED'),
      },
      { level: 40 },
    ])
    expect(reported[1]?.failures).toBeGreaterThan(140)
    await vi.waitUntil(() => fetch(`${baseUrl}/readyz?for=writes`).then(({ ok }) => ok), 15_000)
  })
})

describe.skipIf(serverUrl === undefined)('while a table is locked', async () => {
  if (serverUrl === undefined) return
  const own = await serverDatabase(serverUrl, inject('databaseTemplate'))
  atTheEnd(own.remove)
  const dns = await startDnsServer(scriptedLists())
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) })
  const { baseUrl } = await testApp({ dns, settings: { DATABASE_URL: own.url }, log })
  const locker = new pg.Client({ connectionString: own.url })
  await locker.connect()
  atTheEnd(() => locker.end())
  const ready = async () => {
    const response = await fetch(`${baseUrl}/readyz?for=writes`)
    return { ...((await response.json()) as { checks: Record<string, string> }), status: response.status }
  }
  const well = { database: 'ok', probing: 'ok', delivering: 'ok' }

  test.each([
    ['Watch', { ...well, probing: 'locked' }],
    ['Delivery', { ...well, delivering: 'locked' }],
  ])('%s, the process is not ready and names the waiting work', async (table, checks) => {
    await expect.poll(ready).toMatchObject({ status: 200 })
    await locker.query('BEGIN')
    await locker.query(`LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`)
    await expect.poll(ready, { interval: 100 }).toMatchObject({ status: 503, checks })
    // The first answer may be from the second before, when another table was locked.
    const logged = () => ready().then(() => lines)
    await expect.poll(logged).toContain(`database: statements are waiting for a locked table: "${table}"`)
    await locker.query('ROLLBACK')
    await expect.poll(ready).toMatchObject({ status: 200, checks: well })
  })

  test('stays ready while nothing waits for the table, and while statements wait for rows', async () => {
    const writer = new pg.Client({ connectionString: own.url })
    await writer.connect()
    try {
      await locker.query('BEGIN')
      await locker.query('LOCK TABLE "PaymentEvent" IN ACCESS EXCLUSIVE MODE')
      await locker.query(`UPDATE "Region" SET "lastSeenAt" = "lastSeenAt"`)
      // The loop's own statement waits for that row longer than a turn that counts as busy, which does not indicate a
      // lock.
      const waits = async () => {
        const { rows } = await writer.query(`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query_start < now() - interval '0.6 seconds'`)
        return rows.length
      }
      await expect.poll(waits).toBeGreaterThan(0)
      expect(await ready()).toMatchObject({ checks: { probing: expect.stringMatching(/^(ok|stopped|failing)$/) } })
      await locker.query('ROLLBACK')
    } finally {
      await writer.end()
    }
  })
})
