// @slow
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { http } from '../../../src/monitoring/probe/http.ts'
import type { HttpOptions } from '../../../src/monitoring/probe/http-options.ts'
import { checkJson, closeJsonThread } from '../../../src/monitoring/probe/json-thread.ts'
import type { ProbeTools } from '../../../src/monitoring/probe/probe.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { zone } from '../../network/outbound/setup.ts'
import type { Certified } from '../../support/certificate.ts'
import { createAuthority, selfSigned } from '../../support/certificate.ts'
import { rcodes } from '../../support/dns-server.ts'
import { freePort } from '../../support/free-port.ts'
import { startScript, startTcpServer } from '../../support/tcp-server.ts'
import { runWith, startTools } from './run.ts'

const DAY = 86_400_000
const authority = createAuthority()
const host = 'www.example.com'

const options = (given: object): HttpOptions => http.options.parse({ url: 'http://127.0.0.1/', ...given })

async function run(given: object, timeoutMs = 5000, change: (tools: ProbeTools) => Partial<ProbeTools> = () => ({})) {
  const { tools } = await startTools(zone({ [host]: ['127.0.0.1'] }))
  return http.run(options(given), runWith({ ...tools, ...change(tools) }, { timeoutMs }))
}

/** Returns the result of probing a server that responds this way. */
async function probe(answer: string, given: object = {}, timeoutMs = 5000) {
  const { port } = await startScript(answer)
  return run({ url: `http://127.0.0.1:${port}/`, ...given }, timeoutMs)
}

/** Does the same over TLS, by name, with a trusted certificate authority. */
async function probeTls(certified: Certified, given: object = {}, now = () => new Date()) {
  const { port } = await startScript(reply('ok'), certified)
  const trusting = ({ dns }: ProbeTools) => ({
    now,
    outbound: createOutbound({ dns, allowPrivate: true, ca: authority.ca }),
  })
  return run({ url: `https://${host}:${port}/`, ...given }, 5000, trusting)
}

function reply(body: string, status = '200 OK', more = ''): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`
}

describe('options', () => {
  test('have defaults', () => {
    expect(options({ url: ' HTTPS://Example.com:443/a b#c ' })).toEqual({
      url: 'https://example.com/a%20b',
      method: 'GET',
      headers: [],
      expectedStatus: ['2xx'],
      maxRedirects: 5,
      maxBodyBytes: 1024 * 1024,
      verifyCertificate: true,
      inverted: false,
      expectedHeaders: [],
    })
  })

  test('do not change when they are parsed again', () => {
    const read = options({
      url: 'http://0x7f.1:8080/?a=b',
      method: 'POST',
      headers: [{ name: 'X-Api-Key', value: 's3cret' }],
      body: '{}',
      expectedStatus: ['200', '3xx', '400-404'],
      keyword: { text: 'ok' },
      json: { path: '$.a', equals: 1 },
      ipVersion: 6,
      degradedAboveMs: 500,
    })
    expect(read.url).toBe('http://127.0.0.1:8080/?a=b')
    expect(http.options.parse(read)).toEqual(read)
  })

  test.each([
    [{ url: 'example.com' }, 'url'],
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'http:example.com' }, 'url'],
    [{ url: 'http://user:word@example.com/' }, 'url'],
    [{ url: 'http://example.com:25/' }, 'url'],
    [{ url: 'http://a..b/' }, 'url'],
    [{ url: `http://example.com/${'x'.repeat(2048)}` }, 'url'],
    [{ method: 'CONNECT' }, 'method'],
    [{ headers: [{ name: 'Host', value: 'inside' }] }, 'headers.0.name'],
    [{ headers: [{ name: 'content-length', value: '1' }] }, 'headers.0.name'],
    [{ headers: [{ name: 'Transfer-Encoding', value: 'chunked' }] }, 'headers.0.name'],
    [{ headers: [{ name: 'a b', value: '1' }] }, 'headers.0.name'],
    [{ headers: [{ name: 'a:', value: '1' }] }, 'headers.0.name'],
    [{ headers: [{ name: 'a', value: 'b\r\nHost: inside' }] }, 'headers.0.value'],
    [{ headers: [{ name: 'a', value: '€' }] }, 'headers.0.value'],
    [{ headers: new Array(21).fill({ name: 'a', value: 'b' }) }, 'headers'],
    [{ body: 'x' }, 'body'],
    [{ method: 'POST', body: 'ä'.repeat(32 * 1024 + 1) }, 'body'],
    [{ expectedStatus: [] }, 'expectedStatus'],
    [{ expectedStatus: ['200', '2x'] }, 'expectedStatus.1'],
    [{ expectedStatus: ['600'] }, 'expectedStatus.0'],
    [{ maxRedirects: 11 }, 'maxRedirects'],
    [{ keyword: { text: '' } }, 'keyword.text'],
    [{ method: 'HEAD', keyword: { text: 'ok' } }, 'keyword'],
    [{ method: 'HEAD', json: { path: '$.a' } }, 'json'],
    [{ json: { path: '$..a' } }, 'json.path'],
    [{ json: { path: 'a' } }, 'json.path'],
    [{ json: { path: '$.a', matches: '(' } }, 'json.matches'],
    [{ json: { path: '$.a', lessThan: '1' } }, 'json.lessThan'],
    [{ keyword: { text: '(?=a)', isRegex: true } }, 'keyword.text'],
    [{ keyword: { text: '(a)\\1', isRegex: true } }, 'keyword.text'],
    [{ keyword: { text: 'x'.repeat(201), isRegex: true } }, 'keyword.text'],
    [{ expectedHeaders: [{ name: 'a b' }] }, 'expectedHeaders.0.name'],
    [{ expectedHeaders: new Array(11).fill({ name: 'a' }) }, 'expectedHeaders'],
    [{ downAboveMs: 0 }, 'downAboveMs'],
    [
      {
        headers: [{ name: 'authorization', value: 'x' }],
        oauth: { tokenUrl: 'https://a.example/', clientId: 'a', clientSecret: 'b' },
      },
      'oauth',
    ],
    [{ maxBodyBytes: 1024 * 1024 + 1 }, 'maxBodyBytes'],
    [{ certificateDays: -1 }, 'certificateDays'],
    [{ ipVersion: 5 }, 'ipVersion'],
  ])('are refused: %j', (given, path) => {
    const { error } = http.options.safeParse({ url: 'http://127.0.0.1/', ...given })
    expect(error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })
})

describe('an HTTP monitor', () => {
  test('is UP when the response is as expected', async () => {
    expect(await probe(reply('all is well'), { keyword: { text: 'well' } })).toMatchObject({
      outcome: 'UP',
      message: expect.stringMatching(/^HTTP 200 in \d+ ms$/),
      latencyMs: expect.any(Number),
      detail: {
        status: 200,
        address: '127.0.0.1',
        phases: { dns: expect.any(Number), connect: expect.any(Number), tls: null, firstByte: expect.any(Number) },
      },
      suspect: null,
    })
  })

  test('sends the configured method, headers and body, and does not reveal secrets', async () => {
    let seen = ''
    const { port } = await startTcpServer((socket) => {
      socket.once('data', (chunk) => {
        seen = String(chunk)
        socket.end(reply('', '503 Service Unavailable'))
      })
    })
    const headers = [{ name: 'X-Api-Key', value: 's3cret' }]
    const given = { url: `http://127.0.0.1:${port}/a?b`, method: 'PUT', headers, body: 's3cret body' }
    const result = await run(given)
    expect(seen).toMatch(/^PUT \/a\?b HTTP\/1\.1\r\n/)
    expect(seen).toMatch(/\r\nx-api-key: s3cret\r\n/)
    expect(seen).toMatch(/\r\n\r\ns3cret body$/)
    expect(result).toMatchObject({
      outcome: 'DOWN',
      message: 'HTTP 503 instead of 2xx',
      latencyMs: expect.any(Number),
    })
    expect(JSON.stringify(result)).not.toContain('s3cret')
  })

  test('is DOWN when the response is not as expected', async () => {
    const down = (message: string) => ({ outcome: 'DOWN', message, suspect: null })
    expect(await probe(reply(''), { expectedStatus: ['204', '3xx'] })).toMatchObject(
      down('HTTP 200 instead of 204, 3xx'),
    )
    expect(await probe(reply('ill'), { keyword: { text: 'well' } })).toMatchObject(
      down('The response does not contain "well"'),
    )
    expect(await probe(reply('{"up":false}'), { json: { path: '$.up', equals: true } })).toMatchObject(
      down('$.up is false instead of true'),
    )
    expect(await probe(reply('x'.repeat(100)), { json: { path: '$' }, maxBodyBytes: 99 })).toMatchObject(
      down('The response is too long to be read as JSON'),
    )
  })

  test.each([
    [{ name: 'X-State', equals: 'ready' }, null],
    [{ name: 'x-state', matches: '^rea' }, null],
    [{ name: 'X-State' }, null],
    [{ name: 'X-Debug', absent: true }, null],
    [{ name: 'X-State', equals: 'busy' }, 'The header X-State is "ready" instead of "busy"'],
    [{ name: 'X-State', matches: '^busy' }, 'The header X-State is "ready", which does not match "^busy"'],
    [{ name: 'X-State', absent: true }, 'The response has the header X-State'],
    [{ name: 'X-Debug' }, 'The response has no header X-Debug'],
  ])('checks headers: %j', async (expected, message) => {
    const { port } = await startScript('HTTP/1.1 200 OK\r\nX-State: ready\r\nContent-Length: 0\r\n\r\n')
    expect(await run({ url: `http://127.0.0.1:${port}/`, expectedHeaders: [expected] })).toMatchObject(
      message === null ? { outcome: 'UP' } : { outcome: 'DOWN', message },
    )
  })

  test('searches for regular expressions', async () => {
    const keyword = (text: string, absent = false) => ({ keyword: { text, absent, isRegex: true } })
    expect(await probe(reply('all is well'), keyword('is \\w+$'))).toMatchObject({ outcome: 'UP' })
    expect(await probe(reply('all is well'), keyword('(?i)ERROR', true))).toMatchObject({ outcome: 'UP' })
    expect(await probe(reply('all is well'), keyword('^is'))).toMatchObject({
      outcome: 'DOWN',
      message: 'The response does not match "^is"',
    })
    expect(await probe(reply('all is well'), keyword('a{1001}'))).toMatchObject({
      outcome: 'UNKNOWN',
      message: 'The regular expression is not valid in RE2 syntax.',
    })
  })

  test('is UNKNOWN when there is no time to parse a long response as JSON', async () => {
    const numbers = `[${'12345678901234567,'.repeat(58_000)}1]`
    const own = Array.from({ length: 30 }, () => checkJson({ path: '$.a', absent: true }, numbers, 'org_1'))
    const settled = Promise.allSettled(own)
    const body = `{"up":true,"more":"${'x'.repeat(50_000)}"}`
    expect(await probe(reply(body), { json: { path: '$.up', equals: false } })).toMatchObject({
      outcome: 'UNKNOWN',
      message: 'Unknown what the response has at $.up: the service was too busy to read it',
      detail: { status: 200 },
    })
    await closeJsonThread()
    await settled
  })

  test('reads only a little of a response without assertions', async () => {
    const { port } = await startTcpServer((socket) => {
      socket.once('data', () => {
        const write = () => {
          while (!socket.destroyed && socket.write(Buffer.alloc(16 * 1024)));
        }
        socket.on('drain', write).write(`HTTP/1.1 200 OK\r\nContent-Length: ${10 ** 10}\r\n\r\n`)
        write()
      })
    })
    const url = `http://127.0.0.1:${port}/`
    expect(await run({ url })).toMatchObject({ outcome: 'UP' })
    expect(await run({ url, keyword: { text: 'x' } })).toMatchObject({ outcome: 'DOWN' })
  })

  test('is judged by its status when no assertion reads the body, whatever the body is', async () => {
    const stream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'
    const { port } = await startScript(stream, undefined, true)
    const url = `http://127.0.0.1:${port}/`
    expect(await run({ url })).toMatchObject({ outcome: 'UP', message: expect.stringMatching(/^HTTP 200 in/) })
    expect(await run({ url }, 500)).toMatchObject({ outcome: 'UP' })
    expect(await run({ url, keyword: { text: 'x' } }, 500)).toMatchObject({ outcome: 'DOWN' })
    const broken = reply('not packed', '200 OK', 'Content-Encoding: gzip\r\n')
    expect(await probe(broken)).toMatchObject({ outcome: 'UP' })
    expect(await probe(broken, { expectedHeaders: [{ name: 'Content-Encoding' }] })).toMatchObject({ outcome: 'UP' })
    expect(await probe(broken, { keyword: { text: 'x' } })).toMatchObject({
      outcome: 'DOWN',
      message: 'The response body cannot be decoded',
    })
  })

  test('says in its details what breaks HTTP, and stays UP', async () => {
    expect(await probe('HTTP/1.1 200 OK\nMy header: x\n\nall is well', { keyword: { text: 'well' } })).toMatchObject({
      outcome: 'UP',
      detail: {
        note: 'Unusual HTTP: lines end without a carriage return; the name of a header has invalid characters',
      },
    })
    expect((await probe(reply('well'))).detail).not.toHaveProperty('note')
  })

  test('compares headers in UTF-8', async () => {
    const { port } = await startScript(Buffer.from('HTTP/1.1 200 OK\r\nX-Ort: Köln\r\nContent-Length: 0\r\n\r\n'))
    const given = (equals: string) => ({
      url: `http://127.0.0.1:${port}/`,
      expectedHeaders: [{ name: 'X-Ort', equals }],
    })
    expect(await run(given('Köln'))).toMatchObject({ outcome: 'UP' })
    expect(await run(given('Bonn'))).toMatchObject({ message: 'The header X-Ort is "Köln" instead of "Bonn"' })
  })

  test('says that a server speaks only HTTP/2', async () => {
    const { createSecureServer, createServer } = await import('node:http2')
    const secure = createSecureServer({ ...authority.issue([host]) }, (_, response) => response.end('ok'))
    const plain = createServer((_, response) => response.end('ok'))
    for (const [server, scheme] of [
      [secure, 'https'],
      [plain, 'http'],
    ] as const) {
      await once(server.on('sessionError', () => {}).listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void server.close())
      const trusting = ({ dns }: ProbeTools) => ({
        outbound: createOutbound({ dns, allowPrivate: true, ca: authority.ca }),
      })
      const { port } = server.address() as AddressInfo
      expect(await run({ url: `${scheme}://${host}:${port}/` }, 5000, trusting)).toMatchObject({
        outcome: 'DOWN',
        message: 'The server speaks only HTTP/2',
      })
    }
  })

  test('follows redirects, or checks the redirect itself', async () => {
    const { port } = await startScript(reply('', '302 Found', 'Location: /\r\n'))
    const url = `http://127.0.0.1:${port}/`
    expect(await run({ url })).toMatchObject({
      outcome: 'DOWN',
      message: `Redirects in a loop within ${new URL(url).origin}`,
    })
    expect(await run({ url, maxRedirects: 0 })).toMatchObject({ outcome: 'DOWN', message: 'HTTP 302 instead of 2xx' })
    expect(await run({ url, maxRedirects: 0, expectedStatus: ['302'] })).toMatchObject({ outcome: 'UP' })
  })

  test('does not send secrets to other hosts after a redirect', async () => {
    const seen: string[] = []
    const elsewhere = await startTcpServer((socket) => {
      socket.on('data', (chunk) => {
        seen.push(String(chunk))
        socket.end(reply('', '200 OK', 'Connection: close\r\n'))
      })
    })
    const headers = ['Authorization', 'Cookie', 'X-Key', 'Accept', 'User-Agent'].map((name) => ({
      name,
      value: 's3cret',
    }))
    for (const [status, method, body] of [
      ['302 Found', 'GET', undefined],
      ['302 Found', 'POST', 's3cret'],
      ['307 Temporary Redirect', 'PUT', 's3cret'],
    ]) {
      const { port } = await startScript(reply('', status, `Location: http://127.0.0.1:${elsewhere.port}/s\r\n`))
      const given = { url: `http://127.0.0.1:${port}/`, method, headers, body }
      const { message } = await run(given)
      expect(message).toMatch(status === '302 Found' ? /^HTTP 200 in/ : /^HTTP 307 instead of/)
    }
    expect(seen.map((request) => request.split(' ')[0])).toEqual(['GET', 'GET'])
    expect(seen.join()).not.toContain('s3cret')
  })

  test('is DEGRADED when the response is slow', async () => {
    const { port } = await startTcpServer((socket) => {
      socket.once('data', () => setTimeout(() => socket.end(reply('')), 30))
    })
    expect(await run({ url: `http://127.0.0.1:${port}/`, degradedAboveMs: 20 })).toMatchObject({
      outcome: 'DEGRADED',
      message: expect.stringMatching(/^Answered in \d+ ms, more than 20 ms$/),
      latencyMs: expect.any(Number),
    })
  })

  test('is DOWN after a timeout, which our own network may have caused', async () => {
    const { port } = await startTcpServer(() => undefined)
    expect(await run({ url: `http://127.0.0.1:${port}/` }, 100)).toMatchObject({
      outcome: 'DOWN',
      message: 'No answer within 0.1 s',
      latencyMs: null,
      suspect: '127.0.0.1',
    })
  })

  test('is DOWN when the connection is refused, or its name does not exist', async () => {
    const port = await freePort()
    expect(await run({ url: `http://127.0.0.1:${port}/` })).toMatchObject({
      outcome: 'DOWN',
      message: `Connection to port ${port} refused`,
      suspect: null,
    })
    expect(await run({ url: 'http://no.example.com/' })).toMatchObject({
      outcome: 'DOWN',
      message: 'no.example.com does not exist',
      suspect: null,
    })
  })

  test('is UNKNOWN when the target or a redirect is forbidden', async () => {
    const { port } = await startScript(reply('', '302 Found', 'Location: http://169.254.169.254/\r\n'))
    expect(await run({ url: `http://127.0.0.1:${port}/` })).toMatchObject({
      outcome: 'UNKNOWN',
      message: '169.254.169.254 is an address that is blocked',
      suspect: null,
    })
  })

  test('is UNKNOWN when our own resolvers fail', async () => {
    const { tools } = await startTools(() => ({ rcode: rcodes.refused }))
    const given = options({ url: 'http://a.example.com/' })
    expect(await http.run(given, runWith(tools, {}))).toMatchObject({
      outcome: 'UNKNOWN',
      message: 'Our DNS resolvers refused to look up a.example.com',
      suspect: null,
    })
  })
})

describe('the certificate of an HTTP monitor', () => {
  test('has no effect if it is trusted and does not expire soon', async () => {
    const to = new Date('2040-01-02T03:04:05Z')
    expect(await probeTls(authority.issue([host], { to }))).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: to.toISOString(), phases: { tls: expect.any(Number) } },
    })
  })

  test('makes it DEGRADED when it expires soon', async () => {
    const to = new Date('2040-01-20T00:00:00Z')
    const certified = authority.issue([host], { to })
    const at = (day: string) => () => new Date(`2040-01-${day}T01:00:00Z`)
    expect(await probeTls(certified, {}, at('05'))).toMatchObject({ outcome: 'UP' })
    expect(await probeTls(certified, {}, at('06'))).toMatchObject({
      outcome: 'DEGRADED',
      message: 'TLS certificate expires in 13 days',
      latencyMs: expect.any(Number),
    })
    expect(await probeTls(certified, {}, at('18'))).toMatchObject({ message: 'TLS certificate expires in 1 day' })
    expect(await probeTls(certified, {}, at('19'))).toMatchObject({ message: 'TLS certificate expires within a day' })
    expect(await probeTls(certified, { certificateDays: 0 }, at('19'))).toMatchObject({ outcome: 'UP' })
    expect(await probeTls(certified, { certificateDays: 30 }, at('05'))).toMatchObject({ outcome: 'DEGRADED' })
  })

  test('makes it DOWN when it has expired', async () => {
    const from = new Date(Date.now() - 9 * DAY)
    const expired = (agoMs: number) => authority.issue([host], { from, to: new Date(Date.now() - agoMs) })
    expect(await probeTls(expired(3.5 * DAY))).toMatchObject({
      outcome: 'DOWN',
      message: 'TLS certificate expired 3 days ago',
      detail: { certificateEndsAt: expect.any(String), address: '127.0.0.1' },
      suspect: null,
    })
    expect(await probeTls(expired(1000))).toMatchObject({ message: 'TLS certificate expired today' })
  })

  test('makes it DOWN when it is not trusted, unless verification is off', async () => {
    const wrong = authority.issue(['other.example.com'])
    expect(await probeTls(wrong)).toMatchObject({ outcome: 'DOWN', message: `TLS certificate is not for ${host}` })
    expect(await probeTls(selfSigned(host))).toMatchObject({
      outcome: 'DOWN',
      message: 'TLS certificate is self-signed',
    })
    expect(await probeTls(selfSigned(host), { verifyCertificate: false })).toMatchObject({
      outcome: 'UP',
      detail: { certificateEndsAt: expect.any(String) },
    })
  })

  test('warns though verification is off', async () => {
    const soon = { verifyCertificate: false, certificateDays: 365 }
    expect(await probeTls(selfSigned(host), soon)).toMatchObject({
      outcome: 'DEGRADED',
      message: expect.stringMatching(/^TLS certificate expires in \d+ days$/),
    })
    const from = new Date(Date.now() - 9 * DAY)
    const past = authority.issue([host], { from, to: new Date(Date.now() - 3.5 * DAY) })
    expect(await probeTls(past, { verifyCertificate: false })).toMatchObject({
      outcome: 'DEGRADED',
      message: 'TLS certificate expired 3 days ago',
    })
  })

  test('is the first to expire, also that of an issuer, which is named', async () => {
    const from = new Date(Date.now() - 60 * DAY)
    const issuer = (to: number) => authority.intermediate('Shop R3', { from, to: new Date(Date.now() + to * DAY) })
    expect(await probeTls(issuer(5.5).issue([host]))).toMatchObject({
      outcome: 'DEGRADED',
      message: 'TLS certificate of the issuer Shop R3 expires in 5 days',
    })
    expect(await probeTls(issuer(-5.5).issue([host]))).toMatchObject({
      outcome: 'DOWN',
      message: 'TLS certificate of the issuer Shop R3 expired 5 days ago',
    })
  })

  test('of 160 hours has no effect until a third is left', async () => {
    const to = new Date(Date.now() + 160 * 3_600_000)
    const short = authority.issue([host], { from: new Date(), to })
    expect(await probeTls(short)).toMatchObject({ outcome: 'UP' })
    expect(await probeTls(short, {}, () => new Date(to.getTime() - 50 * 3_600_000))).toMatchObject({
      outcome: 'DEGRADED',
      message: 'TLS certificate expires in 2 days',
    })
  })
})
