import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { connectFailure, type ProxyServer, socksFailure } from '../../../src/network/outbound/proxy.ts'
import { createAuthority } from '../../support/certificate.ts'
import { startHttpProxy, startSocksProxy } from '../../support/forward-proxy.ts'
import { freePort } from '../../support/free-port.ts'
import { scratchFolder, startProgram } from '../../support/program.ts'
import { startTcpServer } from '../../support/tcp-server.ts'
import { startClient } from '../dns/setup.ts'
import { ample, zone } from './setup.ts'

const authority = createAuthority()

/** Starts a website, with or without TLS, that answers with the path and the headers of the request. */
async function website(hasTls = false) {
  const server = hasTls ? createHttpsServer(authority.issue(['www.example.com'])) : createServer()
  server.on('request', ({ url = '', headers }, response) => {
    response.writeHead(url === '/away' ? 302 : 200, { location: '/home' }).end(JSON.stringify({ url, ...headers }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Requests a page through a proxy. If `isPinned`, the proxy may not resolve names. */
async function ask(url: string, proxy: ProxyServer, { isPinned = false, allowPrivate = true } = {}) {
  const { client } = await startClient([zone({ 'www.example.com': ['127.0.0.1'], 'proxy.example': ['127.0.0.1'] })])
  const outbound = createOutbound({ dns: client, allowPrivate, ca: authority.ca, proxiesResolve: !isPinned })
  const answer = await outbound.request({ url, proxy, maxBodyBytes: 10_000, maxRedirects: 3 }, ample)
  return answer.kind === 'answer'
    ? { status: answer.status, ...JSON.parse(String(answer.body) || '{}'), isSecure: answer.certificate !== null }
    : { reason: answer.reason, fault: answer.fault, message: answer.message }
}

describe('an HTTP proxy', () => {
  test('forwards a request to an http:// URL, whose name it resolves', async () => {
    const port = await website()
    const proxy = await startHttpProxy({ hosts: { 'only.proxy.knows': '127.0.0.1' } })
    expect(await ask(`http://only.proxy.knows:${port}/home?a=b`, proxy)).toMatchObject({
      ...{ status: 200, url: '/home?a=b', host: `only.proxy.knows:${port}` },
    })
    expect(proxy.asked).toEqual([`GET http://only.proxy.knows:${port}/home?a=b`])
  })

  test('connects to an https:// URL, and cannot read the request', async () => {
    const port = await website(true)
    const proxy = await startHttpProxy()
    expect(await ask(`https://www.example.com:${port}/away`, proxy)).toMatchObject({ url: '/home', isSecure: true })
    const connected = `CONNECT www.example.com:${port}`
    expect(proxy.asked).toEqual([connected, connected])
  })

  test('connects to the checked address if it may not resolve names', async () => {
    const plain = await website()
    const secure = await website(true)
    const proxy = await startHttpProxy()
    const pinned = { isPinned: true }
    expect(await ask(`http://www.example.com:${plain}/`, proxy, pinned)).toMatchObject({
      host: `www.example.com:${plain}`,
    })
    expect(await ask(`https://www.example.com:${secure}/`, proxy, pinned)).toMatchObject({ isSecure: true })
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${plain}`, `CONNECT 127.0.0.1:${secure}`])
    expect(await ask('http://unknown.example/', proxy, pinned)).toMatchObject({
      reason: 'unknown-name',
      fault: 'theirs',
    })
  })

  test('gets its credentials, which the website does not get', async () => {
    const port = await website()
    const proxy = await startHttpProxy({ credentials: 'ana:pa:ss' })
    const own = { ...proxy, username: 'ana', password: 'pa:ss' }
    for (const isPinned of [false, true]) {
      const found = await ask(`http://www.example.com:${port}/`, own, { isPinned })
      expect(found).toMatchObject({ status: 200 })
      expect(found['authorization']).toBeUndefined()
      const refused = { reason: 'proxy', fault: 'ours' }
      expect(await ask(`http://www.example.com:${port}/`, proxy, { isPinned })).toMatchObject(refused)
      expect(await ask(`http://www.example.com:${port}/`, { ...own, password: 'x' }, { isPinned })).toEqual({
        ...refused,
        message: 'The proxy requires a valid user name and password (HTTP 407)',
      })
    }
  })

  test('may use TLS itself, with a certificate that must be trusted', async () => {
    const port = await website(true)
    const proxy = await startHttpProxy({ tls: authority.issue(['127.0.0.1']) })
    expect(await ask(`https://www.example.com:${port}/`, proxy)).toMatchObject({ status: 200, isSecure: true })
    const other = await startHttpProxy({ tls: createAuthority().issue(['127.0.0.1']) })
    expect(await ask(`https://www.example.com:${port}/`, other)).toMatchObject({
      ...{ reason: 'proxy', fault: 'ours' },
      message: expect.stringMatching(/^The proxy cannot be used: TLS certificate/),
    })
  })

  test.each([
    [502, 'unreachable', 'theirs'],
    [503, 'unreachable', 'theirs'],
    [504, 'unreachable', 'theirs'],
    [407, 'proxy', 'ours'],
    [403, 'proxy', 'ours'],
    [405, 'proxy', 'ours'],
    [500, 'proxy', 'ours'],
    [301, 'proxy', 'ours'],
  ])('that answers CONNECT with %i: %s, %s', async (status, reason, fault) => {
    expect(connectFailure(status)).toMatchObject({ reason, fault })
    const proxy = await startHttpProxy({ status })
    expect(await ask('https://www.example.com/', proxy)).toMatchObject({ reason, fault })
  })

  test.each([
    ['that is not there', null, 'The proxy cannot be used: Connection to port'],
    ['that hangs up', '', 'The proxy closed the connection without an HTTP response'],
    ['that does not speak HTTP', 'SSH-2.0-OpenSSH\r\n', 'The proxy closed the connection without an HTTP response'],
    ['with an endless head', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`, 'The proxy closed the connection'],
  ])('%s reveals nothing about the website', async (_name, sent, message) => {
    const { port } = sent === null ? { port: await freePort() } : await startTcpServer((socket) => socket.end(sent))
    expect(await ask('https://www.example.com/', { url: `http://127.0.0.1:${port}` })).toMatchObject({
      ...{ reason: 'proxy', fault: 'ours' },
      message: expect.stringContaining(message),
    })
  })

  test('is reached at public addresses only, and so is the website', async () => {
    const proxy = await startHttpProxy()
    const guarded = { isPinned: true, allowPrivate: false }
    expect(await ask('http://8.8.4.4/', proxy, guarded)).toMatchObject({ reason: 'proxy', fault: 'ours' })
    const named = { url: `http://proxy.example:${proxy.port}` }
    expect(await ask('http://8.8.4.4/', named, guarded)).toMatchObject({ reason: 'proxy' })
    for (const url of [
      'http://127.0.0.1/',
      'https://www.example.com/',
      'http://169.254.169.254/',
      'https://localhost/',
    ])
      expect(await ask(url, { url: 'http://8.8.8.8:3128' }, guarded)).toMatchObject({ fault: 'theirs' })
    // Addresses of metadata services are refused, even where private networks are allowed.
    for (const url of ['http://169.254.169.254/', 'https://[fd00:ec2::254]/'])
      expect(await ask(url, proxy)).toMatchObject({ reason: 'forbidden' })
    expect(proxy.asked).toEqual([])
  })
})

describe('a SOCKS proxy', () => {
  test('connects to a name that it resolves, or to the checked address', async () => {
    const port = await website()
    const proxy = await startSocksProxy()
    const url = `http://www.example.com:${port}/home`
    expect(await ask(url, proxy)).toMatchObject({ status: 200, url: '/home' })
    expect(await ask(url, proxy, { isPinned: true })).toMatchObject({ status: 200 })
    expect(await ask(`https://www.example.com:${await website(true)}/`, proxy)).toMatchObject({ isSecure: true })
    expect(proxy.asked.slice(0, 2)).toEqual([`www.example.com:${port}`, `127.0.0.1:${port}`])
  })

  test('gets its credentials', async () => {
    const port = await website()
    const proxy = await startSocksProxy({ credentials: 'ana:ünsafe' })
    const url = `http://www.example.com:${port}/`
    expect(await ask(url, { ...proxy, username: 'ana', password: 'ünsafe' })).toMatchObject({ status: 200 })
    for (const [own, message] of [
      [{}, 'The proxy supports none of our authentication methods'],
      [{ username: 'ana', password: 'x' }, 'The proxy requires a valid user name and password'],
    ] as const)
      expect(await ask(url, { ...proxy, ...own })).toEqual({ reason: 'proxy', fault: 'ours', message })
  })

  test.each([
    [1, 'proxy', 'ours'],
    [2, 'proxy', 'ours'],
    [3, 'unreachable', 'theirs'],
    [4, 'unreachable', 'theirs'],
    [5, 'unreachable', 'theirs'],
    [6, 'unreachable', 'theirs'],
    [7, 'proxy', 'ours'],
    [8, 'proxy', 'ours'],
    [0xff, 'proxy', 'ours'],
  ])('that replies %i: %s, %s', async (reply, reason, fault) => {
    expect(socksFailure(reply)).toMatchObject({ reason, fault })
    const proxy = await startSocksProxy({ reply })
    expect(await ask('http://www.example.com/', proxy)).toMatchObject({ reason, fault })
  })

  test.each([
    ['', 'The proxy closed the connection'],
    ['\x05', 'The proxy closed the connection'],
    ['\x04\x00', 'The proxy does not use SOCKS 5'],
    ['HTTP/1.1 400 Bad Request\r\n\r\n', 'The proxy does not use SOCKS 5'],
    ['\x05\x01', 'The proxy supports none of our authentication methods'],
    ['\x05\x00\x05\x00\x00\x03\xff', 'The proxy closed the connection'],
  ])('that sends %j reveals nothing about the website', async (sent, message) => {
    const { port } = await startTcpServer((socket: Socket) => socket.end(Buffer.from(sent, 'latin1')))
    const proxy = { url: `socks5://127.0.0.1:${port}` }
    expect(await ask('http://www.example.com/', proxy)).toEqual({ reason: 'proxy', fault: 'ours', message })
  })

  test('that is silent ends by the deadline', async () => {
    const { port } = await startTcpServer(() => undefined)
    const { client } = await startClient([zone({})])
    const outbound = createOutbound({ dns: client, allowPrivate: true })
    const proxy = { url: `socks5://127.0.0.1:${port}` }
    const request = { url: 'http://www.example.com/', proxy, maxBodyBytes: 10 }
    expect(await outbound.request(request, { timeoutMs: 200 })).toMatchObject({
      ...{ reason: 'timeout', message: 'No connection through the proxy within 0.2 s' },
    })
  })
})

const tinyproxy = '/usr/bin/tinyproxy'

describe('a real proxy', () => {
  test.skipIf(!existsSync(tinyproxy))('forwards and connects (tinyproxy)', async () => {
    const port = await freePort()
    const folder = scratchFolder()
    const conf = join(folder, 'conf')
    writeFileSync(conf, `Port ${port}\nListen 127.0.0.1\nBasicAuth ana secret\nTimeout 30\n`)
    await startProgram(tinyproxy, ['-d', '-c', conf], port)
    const proxy = { url: `http://127.0.0.1:${port}`, username: 'ana', password: 'secret' }
    const plain = await website()
    const secure = await website(true)
    expect(await ask(`http://127.0.0.1:${plain}/home`, proxy)).toMatchObject({ status: 200, url: '/home' })
    expect(await ask(`https://www.example.com:${secure}/`, proxy, { isPinned: true })).toMatchObject({ isSecure: true })
    expect(await ask(`https://www.example.com:${secure}/`, { ...proxy, password: 'x' })).toMatchObject({
      reason: 'proxy',
    })
    expect(await ask(`https://127.0.0.1:${await freePort()}/`, proxy)).toMatchObject({ fault: expect.any(String) })
  })
})
