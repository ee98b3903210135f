import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Certified } from '../../support/certificate.ts'
import { certificateKey, createAuthority, selfSigned } from '../../support/certificate.ts'
import { curveSigner, longChain } from '../../support/hostile-certificate.ts'
import { ample, startOutbound, zone } from './setup.ts'

const DAY = 86_400_000
const inDays = (days: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + days * DAY)
const name = 'tls.example.com'
const root = createAuthority()

async function connectTo(certified: Certified, verify = true) {
  const server = createServer({ ...certified })
    .on('tlsClientError', () => {})
    .listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { outbound } = await startOutbound(zone({ [name]: ['127.0.0.1'] }), { ca: root.ca })
  const { port } = server.address() as AddressInfo
  const connected = await outbound.connect({ host: name, port, tls: { verify } }, ample)
  onTestFinished(() => {
    if (connected.kind === 'connected') connected.socket.destroy()
    server.close()
  })
  return connected
}

describe('of the certificates that a server sends', () => {
  test('the first to expire counts, with its validity and its name', async () => {
    const [from, to] = [inDays(-30), inDays(5)]
    const intermediate = root.intermediate('Shop Issuer R3', { from, to })
    expect(await connectTo(intermediate.issue([name]))).toMatchObject({
      certificate: { validFrom: from, validTo: to, issuer: 'Shop Issuer R3', host: name, problem: null },
    })
    const end = inDays(3)
    expect(await connectTo(intermediate.issue([name], { to: end }))).toMatchObject({
      certificate: { validTo: end, issuer: null, host: name },
    })
  })

  test('each issuer up to the trusted one counts, in whatever order they are sent', async () => {
    const to = inDays(4)
    const upper = root.intermediate('Upper', { to })
    const lower = upper.intermediate('Lower', { to: inDays(6) })
    const { cert, key } = lower.issue([name])
    expect(await connectTo({ cert: `${cert}${upper.ca}`, key })).toMatchObject({
      kind: 'connected',
      certificate: { validTo: to, issuer: 'Upper' },
    })
    const own = cert.replace(lower.ca, '')
    expect(await connectTo({ cert: `${own}${upper.ca}${lower.ca}`, key })).toMatchObject({
      kind: 'connected',
      certificate: { validTo: to, issuer: 'Upper' },
    })
  })

  test('one of another path does not count, though it has expired', async () => {
    const key = certificateKey()
    const intermediate = root.intermediate('Issuer', { key })
    const old = createAuthority().intermediate('Issuer', { key, from: inDays(-90), to: inDays(-5) })
    const unrelated = createAuthority().intermediate('Unrelated', { from: inDays(-90), to: inDays(-4) })
    const to = inDays(80)
    const { cert, key: own } = intermediate.issue([name], { to })
    for (const more of [old.ca, unrelated.ca, createAuthority().ca]) {
      const sent = { cert: `${cert}${more}`, key: own }
      expect(await connectTo(sent)).toMatchObject({ kind: 'connected', certificate: { validTo: to, issuer: null } })
    }
  })

  test('an expired issuer is named, verified or not', async () => {
    const to = inDays(-3)
    const certified = root.intermediate('Old Issuer', { from: inDays(-90), to }).issue([name])
    const certificate = { validTo: to, issuer: 'Old Issuer', problem: 'CERT_HAS_EXPIRED' }
    expect(await connectTo(certified)).toMatchObject({ reason: 'certificate', certificate })
    expect(await connectTo(certified, false)).toMatchObject({ kind: 'connected', certificate })
  })

  test('a self-signed one is its own issuer', async () => {
    expect(await connectTo(selfSigned(name), false)).toMatchObject({ certificate: { issuer: null } })
  })

  test('at most ten of a long chain are followed', async () => {
    expect(await connectTo(longChain(curveSigner('P-256')), false)).toMatchObject({ certificate: { host: name } })
  })
})

/** Starts a server that sends a response over TLS. Returns its URL. */
async function startSite(host: string, end: Date, head: string): Promise<string> {
  const server = createServer({ ...root.issue([host], { to: end }) }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(`${head}\r\nContent-Length: 0\r\n\r\n`))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `https://${host}:${(server.address() as AddressInfo).port}/`
}

test('the certificate of every server on the way of redirects counts', async () => {
  const end = inDays(5)
  const last = await startSite('c.example.com', inDays(70), 'HTTP/1.1 200 OK')
  const middle = await startSite('b.example.com', end, `HTTP/1.1 302 Found\r\nLocation: ${last}`)
  const first = await startSite('a.example.com', inDays(50), `HTTP/1.1 302 Found\r\nLocation: ${middle}`)
  const names = Object.fromEntries(['a', 'b', 'c'].map((each) => [`${each}.example.com`, ['127.0.0.1']]))
  const { outbound } = await startOutbound(zone(names), { ca: root.ca })
  expect(await outbound.request({ url: first, maxRedirects: 3, maxBodyBytes: 0 }, ample)).toMatchObject({
    status: 200,
    url: last,
    certificate: { validTo: end, host: 'b.example.com' },
  })
})
