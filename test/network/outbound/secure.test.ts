// @slow
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAuthority, selfSigned } from '../../support/certificate.ts'
import { impossibleDates, largeGroup, oddCertificate } from '../../support/hostile-certificate.ts'
import { startScript, startTcpServer } from '../../support/tcp-server.ts'
import { ample, startOutbound, zone } from './setup.ts'

const DAY = 86_400_000
const authority = createAuthority()
const name = 'tls.example.com'
const names = zone({ [name]: ['127.0.0.1'] })
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

async function askOver(certified: ReturnType<typeof selfSigned>, host = name, verify = true) {
  const { port } = await startScript(ok, certified)
  const { outbound } = await startOutbound(names, { ca: authority.ca })
  return outbound.request({ url: `https://${host}:${port}/`, maxBodyBytes: 100, verify }, ample)
}

describe('a TLS certificate', () => {
  test('that is trusted is returned with its expiry', async () => {
    const to = new Date('2040-01-02T03:04:05Z')
    const answer = await askOver(authority.issue([name], { to }))
    expect(answer).toMatchObject({
      status: 200,
      certificate: { validTo: to, problem: null },
      phases: { tls: expect.any(Number) },
    })
  })

  test('may be issued for an address', async () => {
    expect(await askOver(authority.issue(['127.0.0.1']), '127.0.0.1')).toMatchObject({ status: 200 })
    expect(await askOver(authority.issue([name]), '127.0.0.1')).toMatchObject({ reason: 'certificate' })
  })

  const bad = {
    'has expired': {
      certified: authority.issue([name], { from: new Date(Date.now() - 9 * DAY), to: new Date(Date.now() - 3 * DAY) }),
      problem: 'CERT_HAS_EXPIRED',
      message: 'TLS certificate has expired',
    },
    'is not valid yet': {
      certified: authority.issue([name], { from: new Date(Date.now() + DAY) }),
      problem: 'CERT_NOT_YET_VALID',
      message: 'TLS certificate is not valid yet',
    },
    'is for another host': {
      certified: authority.issue(['other.example.com']),
      problem: 'ERR_TLS_CERT_ALTNAME_INVALID',
      message: `TLS certificate is not for ${name}`,
    },
    'is self-signed': {
      certified: selfSigned(name),
      problem: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      message: 'TLS certificate is self-signed',
    },
    'is from an unknown issuer': {
      certified: createAuthority().issue([name]),
      problem: expect.stringMatching(/^UNABLE_TO/),
      message: 'TLS certificate is from an unknown issuer, or its chain is incomplete',
    },
  }

  test.each(Object.entries(bad))(
    'that %s is not trusted, and accepted only without verification',
    async (_, { certified, problem, message }) => {
      expect(await askOver(certified)).toMatchObject({
        reason: 'certificate',
        fault: 'theirs',
        message,
        address: '127.0.0.1',
        certificate: { problem },
      })
      expect(await askOver(certified, name, false)).toMatchObject({ status: 200, certificate: { problem } })
    },
  )

  test('that is not trusted closes the connection before anything is sent', async () => {
    let received = 0
    const { port } = await startTcpServer((socket) => socket.on('data', () => received++), selfSigned(name))
    const { outbound } = await startOutbound(names)
    const tls = { verify: true }
    expect(await outbound.connect({ host: name, port, tls }, ample)).toMatchObject({ reason: 'certificate' })
    expect(received).toBe(0)
  })
})

describe('a TLS handshake', () => {
  test('with a server without TLS fails', async () => {
    const { port } = await startScript('HTTP/1.1 400 Bad Request\r\n\r\n')
    const { outbound } = await startOutbound(names)
    expect(await outbound.connect({ host: name, port, tls: { verify: true } }, ample)).toMatchObject({
      reason: 'tls',
      fault: 'theirs',
      message: 'The server does not use TLS on this port',
    })
  })

  test.each([
    [112, `The server does not recognize the name ${name} (SNI)`],
    [70, 'The server supports only TLS 1.1 or older'],
    [40, 'The server accepts none of our TLS versions and ciphers (Diffie-Hellman only with elliptic curves)'],
    [71, 'The server accepts none of our TLS versions and ciphers (Diffie-Hellman only with elliptic curves)'],
    [116, 'The server requires a client certificate'],
    [80, 'The server failed with an internal error in the TLS handshake'],
    [109, 'TLS handshake failed'],
  ])('that ends with the alert %i has a clear message', async (alert, message) => {
    const refuse = Buffer.from([0x15, 3, 3, 0, 2, 2, alert])
    const { port } = await startTcpServer((socket) => socket.once('data', () => socket.end(refuse)))
    const { outbound } = await startOutbound(names)
    const target = { host: name, port, tls: { verify: true } }
    expect(await outbound.connect(target, ample)).toMatchObject({ reason: 'tls', fault: 'theirs', message })
  })

  test('with a server that only supports old versions of TLS has a clear message', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const
    const server = createServer({ ...selfSigned(name), ...old }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { outbound } = await startOutbound(names)
    const target = { host: name, port, tls: { verify: true } }
    expect(await outbound.connect(target, ample)).toMatchObject({
      reason: 'tls',
      message: 'The server supports only TLS 1.1 or older',
    })
    server.close()
  })

  test('fails when the server closes', async () => {
    const { port } = await startTcpServer((socket) => socket.end())
    const { outbound } = await startOutbound(names)
    expect(await outbound.connect({ host: name, port, tls: { verify: true } }, ample)).toMatchObject({
      reason: 'closed',
      message: 'Connection closed during the TLS handshake',
    })
  })

  test('ends at the deadline when the server is silent, and closes the connection', async () => {
    let closed = () => {}
    const gone = new Promise<void>((resolve) => {
      closed = resolve
    })
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const { port } = await startTcpServer((socket) => socket.once('data', begin).on('close', closed).resume())
    const { outbound } = await startOutbound(names)
    const target = { host: name, port, tls: { verify: true } }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const connecting = outbound.connect(target, { timeoutMs: 100 })
    await begun
    vi.advanceTimersByTime(100)
    expect(await connecting).toMatchObject({
      reason: 'timeout',
      message: 'No TLS handshake within 0.1 s',
    })
    await gone
  })
})

/** Connects to a server with these TLS options, without verifying its certificate. */
async function connectTo(options: TlsOptions, serve: (socket: TLSSocket) => void = () => {}) {
  const server = createServer(options, (socket) => serve(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
  const { outbound } = await startOutbound(names, { ca: authority.ca })
  const { port } = server.address() as AddressInfo
  const connected = await outbound.connect({ host: name, port, tls: { verify: false } }, ample)
  onTestFinished(() => {
    if (connected.kind === 'connected') connected.socket.destroy()
    server.close()
  })
  return connected
}

describe('a hostile TLS server', () => {
  const none = {
    reason: 'tls',
    message: 'The server accepts none of our TLS versions and ciphers (Diffie-Hellman only with elliptic curves)',
  }

  test('cannot choose a Diffie-Hellman group', async () => {
    const certified = authority.issue([name], { hasRsaKey: true })
    const options = { ...certified, dhparam: largeGroup(), ciphers: 'DHE', maxVersion: 'TLSv1.2' } as const
    expect(await connectTo(options)).toMatchObject(none)
  })

  test('cannot choose a Diffie-Hellman group in TLS 1.3', async () => {
    const options = { ...authority.issue([name]), ecdhCurve: 'ffdhe8192', minVersion: 'TLSv1.3' } as const
    expect(await connectTo(options)).toMatchObject(none)
  })

  test('cannot repeat the handshake', async () => {
    let repeated = 0
    const refused = new Promise<Error | null>((resolve) => {
      const options = { ...authority.issue([name]), maxVersion: 'TLSv1.2' } as const
      void connectTo(options, (socket) => {
        socket.on('error', resolve).on('close', () => resolve(null))
        socket.on('secure', () => repeated++)
        socket.renegotiate({}, resolve)
      })
    })
    expect(await refused).toMatchObject({ code: 'ERR_SSL_NO_RENEGOTIATION' })
    expect(repeated).toBe(0)
  })

  test('whose certificate has dates that are none is not trusted, and has no expiry', async () => {
    const certified = oddCertificate({ validity: impossibleDates })
    expect(await connectTo(certified)).toMatchObject({ kind: 'connected', certificate: null })
    expect(await askOver(certified)).toMatchObject({
      reason: 'certificate',
      message: 'TLS certificate has an invalid date',
      certificate: null,
    })
  })
})
