import { z } from 'zod'
import { described } from '../../core/described.ts'
import { ownValue } from '../../core/own-value.ts'
import { SECOND } from '../../core/time.ts'
import { cappedText } from '../../core/validation.ts'
import { dialFailure } from '../../network/outbound/dial.ts'
import { exchangeUdp, type UdpOutcome } from '../../network/outbound/udp.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import { responseOptions } from './common.ts'
import { hostText, portNumber, unreachableResult } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'
import { RECIPIENT } from './server-probe.ts'

/** The maximum number of bytes to send: enough for a request, but too few for abuse. */
const MAX_SENT_BYTES = 512

const datagram = cappedText(4 * MAX_SENT_BYTES).refine(
  (text) => bytesOf(text).length <= MAX_SENT_BYTES,
  `must have at most ${MAX_SENT_BYTES} bytes`,
)

const options = z.strictObject({
  host: hostText,
  port: portNumber.refine((port) => port !== 25, 'must not be 25, which is for mail'),
  send: described(datagram, {
    label: 'Send',
    description:
      'The data to send, at most 512 bytes. Supports the escapes \\xff (a byte in hexadecimal), \\r, \\n, \\t, \\0 and \\\\.',
    hint: 'At most 512 bytes. Supports the escapes \\xff (a byte in hexadecimal), \\r, \\n, \\t, \\0 and \\\\.',
    secret: RECIPIENT,
  }),
  expect: described(z.string().min(1, 'must not be empty').max(1000).optional(), {
    label: 'Expect',
    description: 'A text that an answer must contain, with the same escapes. Default: any answer.',
    hint: 'A text that an answer must contain, with the same escapes. Empty: any answer.',
  }),
  ...responseOptions,
})

type Options = z.output<typeof options>

/** Sends a datagram and waits for an answer. */
export const udp: Probe<typeof options> = {
  kind: 'UDP',
  options,
  words: {
    name: 'UDP',
    about: 'Sends a datagram and waits for an answer.',
  },
  portUse: () => 'text',
  sentTexts: ({ send, expect, ...sent }) => sent,
  anywhere: false,
  minIntervalSeconds: 10,
  defaultIntervalSeconds: 60,
  smallest: { host: 'example.com', port: 53, send: '?' },
  subject: 'host',
  target: ({ host, port }) => ({ host, port }),
  recipient: ({ host, port }) => `udp ${host} ${port}`,
  async run(given, run) {
    const { outbound } = run.tools
    const started = performance.now()
    const resolved = await outbound.addressesOf(given.host, run)
    if (resolved.kind === 'failed') return unreachableResult(given.host, resolved, run.tools.now())
    const leftMs = run.timeoutMs - (performance.now() - started)
    const { addresses } = resolved
    let result = probeResult('UNKNOWN', 'Not probed: too many probes of the address at once')
    // The addresses alternate between IPv4 and IPv6, and the machine may only have a route to one of these.
    for (const [index, address] of addresses.slice(0, 2).entries()) {
      const waitMs = index === 0 ? (run.waitMs ?? 0) : 0
      if (!(await outbound.awaitConnectionSlot(address, { waitMs, signal: run.signal, owner: run.owner })))
        return result
      result = await ask(given, address, leftMs, run)
      if (result.outcome !== 'UNKNOWN' || run.signal.aborted) return result
    }
    return result
  },
}

async function ask(given: Options, address: string, timeoutMs: number, run: ProbeRun): Promise<ProbeResult> {
  const { port, send, expect } = given
  const expected = expect === undefined ? null : bytesOf(expect)
  const isExpected = (answer: Buffer) => expected === null || answer.includes(expected)
  const outcome = await exchangeUdp({ address, port }, bytesOf(send), isExpected, { timeoutMs, signal: run.signal })
  return judgeUdp(given, outcome, address, run)
}

function judgeUdp(given: Options, outcome: UdpOutcome, address: string, { timeoutMs }: ProbeRun): ProbeResult {
  const { host, port, degradedAboveMs } = given
  const detail = { address }
  switch (outcome.kind) {
    case 'expected': {
      const { bytes, latencyMs } = outcome
      const message = `Answered ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} in ${Math.round(latencyMs)} ms`
      if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs)
        return probeResult('UP', message, { detail, latencyMs })
      return probeResult('DEGRADED', `${message}, more than ${degradedAboveMs} ms`, { detail, latencyMs })
    }
    case 'unexpected':
      return probeResult('DOWN', 'Answered, but not as expected', { detail })
    case 'silent':
      return probeResult('DOWN', `No answer within ${timeoutMs / SECOND} s`, { detail, suspect: host })
    case 'aborted':
      return probeResult('UNKNOWN', 'The probe was aborted')
    case 'failed': {
      if (outcome.code === 'ECONNREFUSED')
        return probeResult('DOWN', `Nothing listens on port ${port} (ICMP)`, { detail })
      const { fault, message } = dialFailure(outcome.code, address, port)
      return probeResult(fault === 'ours' ? 'UNKNOWN' : 'DOWN', message, {
        detail,
        suspect: fault === 'unclear' ? host : null,
      })
    }
  }
}

const escapes: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', '0': '\0', '\\': '\\' }

/** Encodes a text in UTF-8. Replaces escapes such as `\xff` with bytes. */
function bytesOf(text: string): Buffer {
  const parts = text.split(/(\\x[\da-f]{2}|\\[rnt0\\])/i)
  return Buffer.concat(
    parts.map((part, index) => {
      if (index % 2 === 0) return Buffer.from(part)
      return /^\\x/i.test(part)
        ? Buffer.from(part.slice(2), 'hex')
        : Buffer.from(ownValue(escapes, part.slice(1).toLowerCase()) ?? '')
    }),
  )
}
