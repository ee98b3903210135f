import type { Socket } from 'node:net'
import { z } from 'zod'
import { described, named } from '../../core/described.ts'
import { ownValue } from '../../core/own-value.ts'
import { SECOND } from '../../core/time.ts'
import { hundredths } from '../../network/outbound/failure.ts'
import type { Connection } from '../../network/outbound/outbound.ts'
import type { PortUse } from '../../network/outbound/port-policy.ts'
import type { ProbeDetail, ProbeResult } from '../result/probe-result.ts'
import { oneLine, probeResult } from '../result/probe-result.ts'
import { certificateDays, expirySoon, verifyCertificate } from './certificate-expiry.ts'
import { responseOptions } from './common.ts'
import { hostText, portNumber, unreachableResult } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'
import { tlsOptions } from './server-probe.ts'
import { startTls, startTlsProtocols } from './start-tls.ts'

/** The port on which mail servers accept mail from anyone. */
const MAIL_PORT = 25
/** The number of received bytes to search. */
const MAX_BYTES = 16 * 1024

const startTlsName = {
  name: 'StartTls',
  about: 'A protocol that upgrades a connection to TLS.',
  values: {
    IMAP: 'IMAP, with STARTTLS.',
    LDAP: 'LDAP, with an extended request.',
    POP3: 'POP3, with STLS.',
    SMTP: 'SMTP, with STARTTLS.',
  },
  texts: Object.fromEntries(startTlsProtocols.map((each) => [each, `By ${each}`])),
}

const options = z
  .strictObject({
    host: hostText,
    port: portNumber,
    tls: tlsOptions.tls,
    startTls: described(named(z.enum(startTlsProtocols), startTlsName).optional(), {
      label: 'Upgrade to TLS',
      description: 'The protocol that upgrades the connection to TLS, instead of `tls`. Default: none.',
      none: 'No',
      isRare: true,
    }),
    expect: described(z.string().min(1, 'must not be empty').max(1000).optional(), {
      label: 'Expected text',
      description: String.raw`A text that the first 16 KiB received must contain, with the escapes \r, \n, \t, \0 and \\. Default: none.`,
      hint: String.raw`In the first 16 KiB received. \r, \n, \t, \0 and \\ are escapes.`,
    }),
    send: described(z.string().max(1000).optional(), {
      label: 'Text to send first',
      description: String.raw`A text to send after connecting, with the escapes \r, \n, \t, \0 and \\.`,
      hint: 'With the same escapes.',
      secret: 'host, port or tls',
      isRare: true,
    }),
    verifyCertificate,
    certificateDays,
    ...responseOptions,
  })
  .superRefine(({ port, send, tls, startTls: protocol }, ctx) => {
    if (tls && protocol !== undefined)
      ctx.addIssue({ code: 'custom', path: ['startTls'], message: 'must be left out with tls, which starts at once' })
    if (port !== MAIL_PORT || send === undefined) return
    ctx.addIssue({
      code: 'custom',
      path: ['send'],
      message: 'must be left out for port 25: sending mail is not allowed',
    })
  })

export type TcpOptions = z.output<typeof options>

const portUse = ({ send }: Pick<TcpOptions, 'send'>): PortUse => (send === undefined ? 'connection' : 'text')

/** Connects, with TLS if configured, sends a text, and waits for the expected one. */
export const tcp: Probe<typeof options> = {
  kind: 'TCP',
  options,
  words: { name: 'TCP port', about: 'Connects to a port, optionally with TLS, and waits for a text.' },
  anywhere: false,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { host: 'example.com', port: 443 },
  subject: 'host',
  target: ({ host, port }) => ({ host, port }),
  portUse,
  sentTexts: ({ send, expect, ...sent }) => sent,
  recipient: ({ host, port, tls, startTls: protocol }) => `${protocol ?? (tls ? 'tls' : 'tcp')}://${host} ${port}`,
  run: async (given, run) => {
    const { startTls: protocol, verifyCertificate: verify } = given
    const before = protocol && ((socket: Socket) => startTls(protocol, socket))
    const tls = given.tls || protocol !== undefined ? { verify, before } : undefined
    const connected = await run.tools.outbound.connect({ ...given, use: portUse(given), tls }, run)
    if (connected.kind === 'failed') return unreachableResult(given.host, connected, run.tools.now())
    try {
      // Waiting for rate limits does not count as the target's time.
      const started = performance.now() - connected.phases.total
      const ending = await converse(connected.socket, given, run.timeoutMs - connected.phases.total, run.signal)
      return judge(given, run, connected, ending, performance.now() - started)
    } finally {
      connected.socket.destroy()
    }
  },
}

/**
 * How the exchange ended: the expected text was `found`, or `missing` in the first 16 KiB; the server `closed` the
 * connection; or the exchange ended by `timeout` or was `aborted`.
 */
type Ending = 'found' | 'timeout' | 'closed' | 'missing' | 'aborted'

function converse(
  socket: Socket,
  { send, expect }: TcpOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ending> {
  if (send !== undefined) socket.write(unescaped(send))
  if (expect === undefined) return Promise.resolve('found')
  const wanted = unescaped(expect)
  return new Promise((resolve) => {
    let received = Buffer.alloc(0)
    const end = (ending: Ending) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(ending)
    }
    const onAbort = () => end('aborted')
    const timer = setTimeout(() => end('timeout'), timeoutMs)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.subarray(0, MAX_BYTES).includes(wanted)) end('found')
      else if (received.length >= MAX_BYTES) end('missing')
    })
    socket.on('close', () => end('closed'))
  })
}

function judge(
  { expect, degradedAboveMs, ...given }: TcpOptions,
  { timeoutMs, tools }: ProbeRun,
  { address, phases, certificate }: Connection,
  ending: Ending,
  latencyMs: number,
): ProbeResult {
  const detail: ProbeDetail = {
    phases: { ...phases, total: hundredths(latencyMs) },
    address,
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
  }
  const expected = oneLine(JSON.stringify(expect) ?? '', 100)
  switch (ending) {
    case 'aborted':
      return probeResult('UNKNOWN', 'The probe was aborted')
    case 'timeout':
      return probeResult('DOWN', `Connected, but ${expected} did not arrive within ${timeoutMs / SECOND} s`, { detail })
    case 'closed':
      return probeResult('DOWN', `Connected, but closed before ${expected} arrived`, { detail })
    case 'missing':
      return probeResult('DOWN', `Connected, but ${expected} is not in the first 16 KiB`, { detail })
    case 'found': {
      const measured = { latencyMs, detail }
      const took = `in ${Math.round(latencyMs)} ms`
      const expiry = expirySoon({ certificateDays: given.certificateDays }, certificate, tools.now())
      if ((degradedAboveMs === undefined || latencyMs <= degradedAboveMs) && expiry !== null)
        return probeResult('DEGRADED', expiry, measured)
      if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs)
        return probeResult('UP', `Connected ${took}`, measured)
      return probeResult('DEGRADED', `Connected ${took}, more than ${degradedAboveMs} ms`, measured)
    }
  }
}

const escapes: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', '0': '\0', '\\': '\\' }

function unescaped(text: string): Buffer {
  return Buffer.from(text.replace(/\\([rnt0\\])/g, (_, letter: string) => ownValue(escapes, letter) ?? ''))
}
