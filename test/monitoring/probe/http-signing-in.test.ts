import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { http } from '../../../src/monitoring/probe/http.ts'
import type { ProbeTools } from '../../../src/monitoring/probe/probe.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import { createAuthority } from '../../support/certificate.ts'
import { startHttpProxy } from '../../support/forward-proxy.ts'
import { closed, open } from '../../support/private-targets.ts'
import { runWith, startTools } from './run.ts'

const authority = createAuthority()
const client = authority.issue(['client.example.com'])

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<string> {
  const server = createHttpServer((request, response) => void answer(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

describe('a client certificate', () => {
  /** Starts a server that requires a client certificate and returns its subject. */
  async function ask(given: object) {
    const { cert, key } = authority.issue(['127.0.0.1'])
    const server = createServer({ cert, key, ca: authority.ca, requestCert: true, rejectUnauthorized: false })
    server.on('request', ({ socket, url }: IncomingMessage, response) => {
      const { subject } = (socket as TLSSocket).getPeerCertificate()
      const elsewhere = `https://localhost:${(server.address() as AddressInfo).port}/`
      response.writeHead(url === '/away' ? 302 : 200, { location: elsewhere }).end(`I know ${subject?.CN ?? 'nobody'}`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const { tools } = await startTools(zone({}))
    const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ca: authority.ca })
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const options = http.options.parse({ url, keyword: { text: 'I know client.example.com' }, ...given })
    return http.run({ ...options, url: `${url}${'path' in given ? given.path : '/'}` }, runWith({ ...tools, outbound }))
  }

  test('is sent to a server that requests it', async () => {
    const clientCertificate = { certificate: client.cert, key: client.key }
    expect(await ask({ clientCertificate })).toMatchObject({ outcome: 'UP' })
    expect(await ask({})).toMatchObject({ outcome: 'DOWN', message: expect.stringContaining('does not contain') })
  })

  test.each([
    [{ certificate: 'nonsense', key: client.key }, 'clientCertificate.certificate'],
    [{ certificate: client.cert, key: 'nonsense' }, 'clientCertificate.key'],
    [{ certificate: client.cert, key: authority.issue(['other.example']).key }, 'clientCertificate.key'],
  ])('that is unusable is refused', (clientCertificate, path) => {
    const { error } = http.options.safeParse({ url: 'https://example.com', clientCertificate })
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })

  test('is refused for a target without TLS', () => {
    const clientCertificate = { certificate: client.cert, key: client.key }
    expect(http.options.safeParse({ url: 'http://example.com', clientCertificate }).success).toBe(false)
  })
})

describe('an OAuth 2 client', () => {
  /** Starts a service that requires the newest token, and a token endpoint that counts the tokens it issues. */
  async function start(
    more: { readonly status?: number; readonly answer?: object; readonly lifeSeconds?: number } = {},
  ) {
    const given: { readonly form: URLSearchParams; readonly authorization: string | undefined }[] = []
    const state = { valid: '', given }
    const origin = await serve(async (request, response) => {
      if (request.url === '/token') {
        given.push({ form: await bodyOf(request), authorization: request.headers.authorization })
        state.valid = `token-${given.length}`
        const answer = more.answer ?? { access_token: state.valid, expires_in: more.lifeSeconds ?? 3600 }
        response.writeHead(more.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
        return
      }
      response.writeHead(request.headers.authorization === `Bearer ${state.valid}` ? 200 : 401).end()
    })
    const { tools } = await startTools(zone({}))
    const oauth = { tokenUrl: `${origin}/token`, clientId: 'me & you', clientSecret: 's3cret', scope: 'read' }
    const probe = (change: object = {}, own: Partial<ProbeTools> = {}, owner = 'org_1') =>
      http.run(
        http.options.parse({ url: origin, oauth: { ...oauth, ...change } }),
        runWith({ ...tools, ...own }, { owner }),
      )
    return { state, probe }
  }

  test('requests a token once, and again when it expires or is refused', async () => {
    const { state, probe } = await start()
    expect(await probe()).toMatchObject({ outcome: 'UP' })
    expect(await probe()).toMatchObject({ outcome: 'UP' })
    expect(state.given.length).toBe(1)
    expect(Object.fromEntries(state.given[0]?.form ?? [])).toEqual({ grant_type: 'client_credentials', scope: 'read' })
    expect(state.given[0]?.authorization).toBe(`Basic ${Buffer.from('me%20%26%20you:s3cret').toString('base64')}`)
    state.valid = 'revoked'
    expect(await probe()).toMatchObject({ outcome: 'UP' })
    expect(state.given.length).toBe(2)
    const later = new Date(Date.now() + 3_600_000)
    expect(await probe({}, { now: () => later })).toMatchObject({ outcome: 'UP' })
    expect(state.given.length).toBe(3)
  })

  test('warns of the certificate of the token server, with its name, also while a stored token is used', async () => {
    const days = 24 * 60 * 60 * 1000
    const { cert, key } = authority.issue(['localhost'], {
      from: new Date(Date.now() - 80 * days),
      to: new Date(Date.now() + 3.5 * days),
    })
    const server = createServer({ cert, key }, (_, response) => void response.end('{"access_token":"a"}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const origin = await serve((_, response) => void response.end())
    const { tools } = await startTools(zone({ localhost: ['127.0.0.1'] }))
    const outbound = createOutbound({ dns: tools.dns, allowPrivate: true, ca: authority.ca })
    const tokenUrl = `https://localhost:${(server.address() as AddressInfo).port}/token`
    const probe = (given: object = {}) => {
      const options = http.options.parse({
        url: origin,
        oauth: { tokenUrl, clientId: 'a', clientSecret: 'b' },
        ...given,
      })
      return http.run(options, runWith({ ...tools, outbound }))
    }
    const expected = { outcome: 'DEGRADED', message: 'TLS certificate of localhost expires in 3 days' }
    expect(await probe()).toMatchObject(expected)
    expect(await probe()).toMatchObject(expected)
    expect(await probe({ certificateDays: 0 })).toMatchObject({ outcome: 'UP' })
  })

  test('sends credentials in the body if configured', async () => {
    const { state, probe } = await start()
    expect(await probe({ authentication: 'POST', audience: 'api' })).toMatchObject({ outcome: 'UP' })
    expect(state.given[0]?.authorization).toBeUndefined()
    expect(Object.fromEntries(state.given[0]?.form ?? [])).toMatchObject({
      client_id: 'me & you',
      client_secret: 's3cret',
    })
  })

  test('does not use the token of another organization or another secret', async () => {
    const { state, probe } = await start()
    await probe()
    await probe({}, {}, 'org_2')
    await probe({ clientSecret: 'other' })
    expect(state.given.length).toBe(3)
  })

  test.each([
    [{ status: 401, answer: { error: 'invalid_client' } }, 'No token: HTTP 401 (invalid_client) from the token URL'],
    [{ status: 500, answer: {} }, 'No token: HTTP 500 from the token URL'],
    [{ answer: { access_token: 'a b' } }, 'No token: the answer has no access_token'],
    [{ answer: [] }, 'No token: the answer has no access_token'],
  ])('that gets no token is DOWN, and the message has the reason: %j', async (given, message) => {
    const { probe } = await start(given)
    expect(await probe()).toMatchObject({ outcome: 'DOWN', message })
  })

  test.each([
    ['https://sso.example.com/token', []],
    ['https://api.example.com:8443/token', []],
    ['https://sso.example.com:8443/token', ['oauth.tokenUrl']],
    ['http://sso.example.com/token', ['oauth.tokenUrl']],
    ['https://127.0.0.1/token', ['oauth.tokenUrl']],
  ])('with the token URL %s is refused at %j', (tokenUrl, paths) => {
    const url = 'https://api.example.com:8443/'
    const options = http.options.parse({ url, oauth: { tokenUrl, clientId: 'a', clientSecret: 'b' } })
    expect(http.refusals?.(options, closed).map(({ path }) => path.join('.'))).toEqual(paths)
  })
})

describe('a proxy', () => {
  const probe = async (given: object, allowPrivate = true) => {
    const { tools } = await startTools(zone({}), allowPrivate)
    return http.run(http.options.parse(given), runWith(tools))
  }

  test('connects the monitor to the website and to its token server', async () => {
    const origin = await serve((request, response) => {
      if (request.url === '/token') response.end(JSON.stringify({ access_token: 'token' }))
      else response.writeHead(request.headers.authorization === 'Bearer token' ? 200 : 401).end()
    })
    const { url, asked } = await startHttpProxy({ credentials: 'ana:secret' })
    const oauth = { tokenUrl: `${origin}/token`, clientId: 'proxied', clientSecret: 's3cret' }
    const proxy = { url, username: 'ana', password: 'secret' }
    expect(await probe({ url: origin, proxy, oauth })).toMatchObject({ outcome: 'UP' })
    expect(asked).toEqual([`POST ${origin}/token ana:secret`, `GET ${origin}/ ana:secret`])
  })

  test('that refuses the request or is gone makes the result UNKNOWN, unless it cannot reach the website', async () => {
    const origin = await serve((_request, response) => void response.end())
    const { url } = await startHttpProxy({ credentials: 'ana:secret' })
    expect(await probe({ url: origin, proxy: { url } })).toMatchObject({ outcome: 'UNKNOWN', suspect: null })
    const gone = { url: 'https://www.example.com', proxy: { url: 'http://127.0.0.1:3' }, inverted: true }
    expect(await probe(gone)).toMatchObject({ outcome: 'UNKNOWN', suspect: null })
    const failing = await startHttpProxy({ status: 502 })
    expect(await probe({ url: 'https://www.example.com', proxy: { url: failing.url } })).toMatchObject({
      outcome: 'DOWN',
      message: 'The proxy could not connect to the host (HTTP 502)',
    })
  })

  test.each([
    [{ url: 'http://proxy.example' }, 'http://proxy.example', null],
    [{ url: ' HTTPS://Proxy.example:8443/ ' }, 'https://proxy.example:8443', null],
    [{ url: 'socks5://[2001:db8::1]:1080' }, 'socks5://[2001:db8::1]:1080', null],
    [{ url: 'socks5h://proxy.example' }, 'socks5://proxy.example', null],
    [{ url: 'http://proxy.example', username: 'a', password: 'b' }, 'http://proxy.example', null],
    [{ url: 'socks4://proxy.example' }, null, 'url'],
    [{ url: 'proxy.example:3128' }, null, 'url'],
    [{ url: 'http://' }, null, 'url'],
    [{ url: 'http://ana:secret@proxy.example' }, null, 'url'],
    [{ url: 'http://proxy.example/path' }, null, 'url'],
    [{ url: 'http://proxy.example:25' }, null, 'url'],
    [{ url: 'http://proxy.example', password: 'b' }, null, 'username'],
    [{ url: 'http://proxy.example', username: 'a:b' }, null, 'username'],
    [{ url: 'http://proxy.example', username: 'a', password: 'b'.repeat(256) }, null, 'password'],
  ])('%j is read as %j', (proxy, url, wrong) => {
    const read = http.options.safeParse({ url: 'https://example.com', proxy })
    expect(read.data?.proxy?.url ?? null).toBe(url)
    expect(read.error?.issues[0]?.path ?? null).toEqual(wrong === null ? null : ['proxy', wrong])
  })

  test('must be public, like the website', () => {
    const given = http.options.parse({ url: 'https://example.com', proxy: { url: 'http://127.0.0.1:3128' } })
    expect(http.refusals?.(given, closed)).toMatchObject([{ path: ['proxy', 'url'] }])
    expect(http.refusals?.(given, open)).toEqual([])
    expect(http.recipient?.(given)).toBe('https://example.com through http://127.0.0.1:3128')
    expect(http.relays?.(given)).toMatchObject([{ host: '127.0.0.1', port: 3128 }])
  })
})
