// @slow
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startApp } from '../../src/app/start.ts'
import { StartError } from '../../src/core/errors.ts'
import { testApp, testConfig } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { serverUrl } from '../support/database.ts'
import { createGate, startDnsServer } from '../support/dns-server.ts'
import { websocketClient } from '../support/graphql-client.ts'
import { connected, sendRaw } from '../support/raw-http.ts'
import { silent } from '../support/scratch.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { testData } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({ dns })
const json = (response: Response): Promise<unknown> => response.json()

describe('health', () => {
  test('is public and not cached', async () => {
    const well = {
      ...{ database: 'ok', probing: 'ok', delivering: 'ok' },
      ...{ mail: 'off', resolver: 'ok', lateness: 'ok' },
    }
    for (const [path, body] of [
      ['/healthz', { status: 'ok' }],
      ['/readyz', { status: 'ready', checks: well }],
      ['/readyz?for=writes', { status: 'ready', checks: well }],
    ] as const) {
      const response = await fetch(`${url}${path}`)
      expect([response.status, await json(response), response.headers.get('cache-control')]).toEqual([
        200,
        body,
        'no-store',
      ])
    }
  })

  test('is served over HTTP/1.0 without a Host, as load balancers request it; HTTP/1.1 without a Host is a 400', async () => {
    for (const path of ['/healthz', '/readyz', '/graphql?query={__typename}', '/']) {
      expect(await sendRaw(url, `GET ${path} HTTP/1.0\r\n\r\n`), path).toMatch(/^HTTP\/1.1 200 /)
      expect(await sendRaw(url, `GET ${path} HTTP/1.1\r\n\r\n`), path).toMatch(/^HTTP\/1.1 400 /)
    }
  })
})

test('an idle connection stays open longer than those of proxies', async () => {
  expect((await fetch(`${url}/healthz`)).headers.get('keep-alive')).toBe('timeout=75')
})

test('without TRUST_PROXY a forged X-Forwarded-For is ignored', async () => {
  const spend = (client: string) =>
    fetch(`${url}/api/blacklist-monitor/ip?target=203.0.113.1`, { headers: { 'x-forwarded-for': client } })
  const answers = await Promise.all(Array.from({ length: 110 }, (_, index) => spend(`192.0.2.${index}`)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
})

describe('an unknown path', () => {
  test('is a 404 in JSON for scripts and as a page for browsers', async () => {
    const script = await fetch(`${url}/nothing`)
    expect([script.status, await json(script)]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }])
    const browser = await fetch(`${url}/nothing`, { headers: { accept: 'text/html,*/*' } })
    expect([browser.status, browser.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')])
    const api = await fetch(`${url}/api/nothing`, { headers: { accept: 'text/html,*/*' } })
    expect([api.status, await json(api)]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }])
  })

  test.each([
    '/graphql/nothing',
    '/graphql/health',
    '/graphqlx',
    '//graphql',
    '/docs/../src/core/config.ts',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '/%',
    `/${'a'.repeat(4000)}`,
    '/__proto__',
    '/api/blacklist-monitor/constructor',
  ])('%s is a 404', async (path) => {
    expect(await sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 404 /,
    )
  })
})

test('an address or a header that is too long is refused', async () => {
  const status = async (head: string) => (await sendRaw(url, `${head}\r\nConnection: close\r\n\r\n`)).slice(0, 12)
  for (const page of ['-', ' ', '.-', '_'].map((piece) =>
    encodeURIComponent(piece.repeat(15_000 / piece.length)).slice(0, 14_000),
  )) {
    expect(await status(`GET /status?page=a${page} HTTP/1.1\r\nHost: x`)).toBe('HTTP/1.1 414')
  }
  expect(await status(`GET / HTTP/1.1\r\nHost: x\r\nAccept-Language: ${'a,'.repeat(1000)}`)).toBe('HTTP/1.1 431')
  expect(await status(`GET / HTTP/1.1\r\nHost: x\r\nCookie: ${'a=1;'.repeat(1000)}`)).toBe('HTTP/1.1 200')
})

describe('an address with escapes that are no text', () => {
  const none = ['%00', 'a%2F%00b', '%ff', '%c0%80', '%e0%80%af', '%ed%a0%80', '%f4%90%80%80', '%e2%82']
  const ask = (path: string, more = '') =>
    sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}Connection: close\r\n\r\n`)

  test.each(none)('%s is refused in the caller’s protocol', async (escapes) => {
    for (const path of [`/${escapes}`, `/status/${escapes}`, `/?q=${escapes}`, `/docs/search?q=1&a=${escapes}`]) {
      expect(await ask(path)).toMatch(/^HTTP\/1.1 400 .*text\/plain/s)
    }
    for (const path of [`/api/v1/heartbeats/${escapes}`, `/status/a/api/v2/${escapes}.json`])
      expect(await ask(path)).toMatch(/^HTTP\/1.1 400 .*\{"error":\{"code":"INVALID_INPUT"/s)
    for (const path of [`/graphql?query=${escapes}`, `/graphql/sha256:${escapes}`])
      expect(await ask(path)).toMatch(/^HTTP\/1.1 400 .*\{"errors":\[\{"message":/s)
    const upgrade = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    expect(await ask(`/graphql?a=${escapes}`, upgrade)).toMatch(/^HTTP\/1.1 400 /)
  })

  test.each(['/?q=100%', '/?q=%zz', '/?q=%C3%A4%F0%9F%98%80', '/?q=%2500', '/?q=%ef%bf%bf'])(
    '%s is not one',
    async (path) => {
      expect(await ask(path)).toMatch(/^HTTP\/1.1 200 /)
    },
  )

  test('in a cookie does not lock its owner out', async () => {
    expect(await ask('/', `Cookie: other=%ff; allclear_x=%00; a=b\r\n`)).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('malformed requests', () => {
  const alive = async () => expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const paths = [
    '/',
    '/graphql',
    '/graphql?query={__typename}',
    '/api/blacklist-monitor/ip?target=203.0.113.7',
    '/openapi.json',
    '/docs',
    '/docs/monitors',
    '/docs/reference',
  ]

  test.each(['evil.example', 'a b', '[', '@', 'x:99999', 'x:y', '..', '\u0080', 'x\tx', '', 'x/../..', '%00'])(
    'the Host %j is harmless and not echoed',
    async (host) => {
      for (const path of paths) {
        const answer = await sendRaw(
          url,
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
        )
        expect(answer, path).toMatch(/^HTTP\/1.1 [2-4]\d\d /)
        expect(answer).not.toContain('evil.example')
      }
      await alive()
    },
  )

  const doors = ['/healthz', '/', '/graphql?query={__typename}', '/openapi.json']
  const websocket = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'

  test.each([
    ['twice, with two names', 'Host: a.example\r\nHost: b.example\r\n'],
    ['twice, with one name', 'Host: a.example\r\nHost: a.example\r\n'],
    ['twice, apart and in other letters', 'Host: a.example\r\nAccept: */*\r\nhOST: b.example\r\n'],
    ['as a list', 'Host: a.example,b.example\r\n'],
    ['as a list with a space', 'Host: a.example, b.example\r\n'],
    ['with nothing in it', 'Host:\r\n'],
    ['with a user', 'Host: user@a.example\r\n'],
    ['with a path', 'Host: a.example/path\r\n'],
    ['with a query', 'Host: a.example?x\r\n'],
    ['with an invalid port', 'Host: a.example:99999\r\n'],
  ])('a Host given %s is a 400 on every path', async (_name, host) => {
    for (const path of doors) {
      expect(await sendRaw(url, `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`), path).toMatch(
        /^HTTP\/1.1 400 .*The Host header/s,
      )
    }
    expect(await sendRaw(url, `GET /graphql HTTP/1.1\r\n${host}Connection: Upgrade\r\n${websocket}\r\n`)).toMatch(
      /^HTTP\/1.1 400 /,
    )
  })

  test.each(['a.example', 'A.EXAMPLE:4000', 'a_b.example', '192.0.2.1:80', '[2001:db8::1]:4000'])(
    'the Host %s is answered',
    async (host) => {
      for (const path of doors) {
        expect(await sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), path).toMatch(
          /^HTTP\/1.1 200 /,
        )
      }
    },
  )

  test('a target in absolute form is answered like its path, and is a 400 for another host', async () => {
    const ask = (target: string, host: string) =>
      sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    for (const path of doors) {
      expect(await ask(`http://a.example${path}`, 'a.example'), path).toMatch(/^HTTP\/1.1 200 /)
      expect(await ask(`http://A.example:80${path}`, 'a.example'), path).toMatch(/^HTTP\/1.1 200 /)
      expect(await ask(`http://a.example${path}`, 'b.example'), path).toMatch(/^HTTP\/1.1 400 /)
      expect(await ask(`http://a.example:81${path}`, 'a.example'), path).toMatch(/^HTTP\/1.1 400 /)
      expect(await ask(`http://user@a.example${path}`, 'a.example'), path).toMatch(/^HTTP\/1.1 400 /)
      expect(await ask(`ftp://a.example${path}`, 'a.example'), path).toMatch(/^HTTP\/1.1 400 /)
    }
    expect(await ask('http://a.example', 'a.example')).toMatch(/^HTTP\/1.1 200 .*text\/html/s)
  })

  test.each([
    'GET / HTTP/1.1\r\n\r\n',
    'GET http://evil.example/graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'TRACE /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /graphql?query=%E0%A4%A HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
    'POST /api/blacklist-monitor/bulk HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: -1\r\nConnection: close\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: ${'x'.repeat(20_000)}\r\nConnection: close\r\n\r\n`,
    'GET /api/blacklist-monitor/ip?target=%0d%0aSet-Cookie:a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'GET /check?target=%0d%0aSet-Cookie:a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    '\u0016\u0003\u0001',
  ])('%j is harmless', async (request) => {
    const answer = await sendRaw(url, request)
    expect(answer).not.toMatch(/^HTTP\/1.1 5/)
    expect(answer).not.toMatch(/^set-cookie/im)
    await alive()
  })

  test('a connection reset mid-request does not end the process', async () => {
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
    const requests = [
      `GET /graphql HTTP/1.1\r\nHost: x\r\n${upgrade}`,
      `GET /nothing HTTP/1.1\r\nHost: x\r\n${upgrade}`,
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"query"',
      'POST /api/blacklist-monitor/bulk HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"targets"',
      'GET /check/198.51.100.1 HTTP/1.1\r\nHost: x\r\n\r\n',
    ]
    for (const request of [...requests, ...requests, ...requests]) {
      const socket = await connected(url)
      socket.write(request)
      socket.resetAndDestroy()
      await new Promise((resolve) => socket.once('close', resolve))
    }
    await alive()
  })

  test('an upgrade to another protocol is ignored', async () => {
    const offer =
      'Host: x\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n'
    expect(await sendRaw(url, `GET /healthz HTTP/1.1\r\n${offer}`)).toMatch(/^HTTP\/1.1 200 .*{"status":"ok"}/s)
    expect(
      await sendRaw(url, `GET /graphql?query={__typename} HTTP/1.1\r\nAccept: application/json\r\n${offer}`),
    ).toMatch(/^HTTP\/1.1 200 .*"Query"/s)
  })

  test.each([
    ['at once', (head: string, body: string) => [head + body]],
    ['byte by byte', (head: string, body: string) => [...head, ...body]],
    ['in two pieces', (head: string, body: string) => [head, body]],
  ])('an offer of HTTP/2 with a body, as Java sends it, loses neither body nor connection: %s', async (_, pieces) => {
    const body = JSON.stringify({ query: `query Named { __typename } # ${'x'.repeat(500)}` })
    const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n'
    const type = 'Host: x\r\nContent-Type: application/json\r\n'
    for (const [length, sent] of [
      [`Content-Length: ${body.length}`, body],
      ['Transfer-Encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ] as const) {
      const socket = await connected(url)
      let received = ''
      socket.setEncoding('latin1').on('data', (part: string) => {
        received += part
      })
      for (const piece of pieces(`POST /graphql HTTP/1.1\r\n${type}${offer}${length}\r\n\r\n`, sent)) {
        socket.write(piece)
        if (piece.length > 1) await new Promise((resolve) => setImmediate(resolve))
      }
      socket.write(next)
      await once(socket, 'close')
      expect(received).toMatch(/^HTTP\/1.1 200 .*{"data":{"__typename":"Query"}}.*HTTP\/1.1 200 .*{"status":"ok"}/s)
    }
  })

  test('a rejected upgrade closes the connection even when the client does not', async () => {
    const websocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    const socket = await connected(url, true)
    socket.on('error', () => undefined)
    // Writing only fails after the other side has closed the connection too.
    const poke = () => socket.write('x', (error) => error ?? setTimeout(poke, 10))
    socket.once('end', poke)
    socket.resume().write(`GET /nothing HTTP/1.1\r\nHost: x\r\n${websocket}`)
    await new Promise((resolve) => socket.once('close', resolve))
  })

  test('a WebSocket outside /graphql is a 404', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/nothing`)
    const [error] = await once(socket, 'error')
    expect(String(error)).toContain('404')
  })
})

describe('stopping', () => {
  /** Starts a service whose blacklists wait for `gate`; the test closes it. */
  async function ownApp(settings: NodeJS.ProcessEnv = {}) {
    const gate = createGate()
    const healthy = scriptedLists()
    const ownDns = await startDnsServer(async (query) => {
      if (query.name.startsWith('9.113.0.203.')) await gate.opened
      return healthy(query)
    })
    const data = await testData()
    const config = testConfig(ownDns, data.dataDir, { ...data.settings, ...settings })
    const app = await startApp({ config, log: silent })
    atTheEnd(async () => {
      await app.close()
      await ownDns.close()
      await data.remove()
    })
    return { app, gate, dns: ownDns, data, config }
  }

  test('finishes running checks, refuses new requests, asks WebSockets to reconnect, and closes idle connections', async () => {
    const { app, gate, dns: ownDns } = await ownApp()
    const client = websocketClient(app.baseUrl, undefined, false)
    const websocketClosed = new Promise<unknown>((resolve) => client.on('closed', resolve))
    await new Promise((resolve) => client.on('connected', resolve))
    const unused = await connected(app.baseUrl)
    await fetch(`${app.baseUrl}/healthz`)
    const before = ownDns.queries.length
    const check = fetch(`${app.baseUrl}/api/blacklist-monitor/ip?target=203.0.113.9`)
    await ownDns.seen(before + 6)

    const closed = app.close()
    expect(await websocketClosed).toMatchObject({ code: 1001 })
    unused.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
    const [answer] = await once(unused, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 503 .*connection: close/is)
    await expect(connected(app.baseUrl)).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    gate.open()
    const response = await check
    expect([response.status, await json(response)]).toMatchObject([200, { target: '203.0.113.9', failed_count: 0 }])
    await closed
    await client.dispose()
  })

  test('and restarting keeps the daily quota', async () => {
    const { app, config } = await ownApp()
    const spend = (base: string) => fetch(`${base}/api/blacklist-monitor/ip?target=203.0.113.1`)
    const before = await Promise.all(Array.from({ length: 60 }, () => spend(app.baseUrl)))
    expect(before.every(({ status }) => status === 200)).toBe(true)
    await app.close()
    const again = await startApp({ config, log: silent })
    const after = await Promise.all(Array.from({ length: 60 }, () => spend(again.baseUrl)))
    await again.close()
    expect(after.filter(({ status }) => status === 200)).toHaveLength(40)
  })

  test.runIf(serverUrl)(
    'an unavailable database makes the service unready, and its errors are not revealed',
    async () => {
      const { app, data } = await ownApp()
      await data.remove()
      expect((await fetch(`${app.baseUrl}/readyz?for=writes`)).status).toBe(503)
      expect((await fetch(`${app.baseUrl}/readyz`)).status).toBe(200)
      expect((await fetch(`${app.baseUrl}/healthz`)).status).toBe(200)
      const broken = await fetch(`${app.baseUrl}/api/blacklist-monitor/ip?target=203.0.113.1`)
      expect([broken.status, broken.headers.get('cache-control')]).toEqual([503, 'no-store'])
      const client = websocketClient(app.baseUrl, { apiKey: 'ac_any' })
      const answered = client.iterate({ query: '{ blacklists { name } }' }).next()
      await expect(answered).rejects.toMatchObject({
        code: 1013,
        reason: 'The service cannot reach its database at the moment. Try again in a few seconds.',
      })
      expect(await broken.text()).toMatch(/^{"error":{"code":"UNAVAILABLE","message":"[^"]*"}}$/)
    },
  )
})

test('a port in use is refused with a message that names it, and leaves nothing open', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const data = await testData()
  const config = testConfig(dns, data.dataDir, { ...data.settings, PORT: String(port) })
  await expect(startApp({ config, log: silent })).rejects.toThrow(StartError)
  await expect(startApp({ config, log: silent })).rejects.toThrow(`port ${port} of 127.0.0.1`)
  taken.close()
  const app = await startApp({ config, log: silent })
  expect(app.baseUrl).toBe(`http://localhost:${port}`)
  await app.close()
  await data.remove()
})
