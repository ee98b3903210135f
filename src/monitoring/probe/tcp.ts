import type { Socket } from 'node:net'
import { z } from 'zod'
import { hundredths } from '../../network/outbound/failure.ts'
import type { Connection } from '../../network/outbound.ts'
import { SECOND } from '../../time.ts'
import type { Detail, Finding } from '../finding.ts'
import { found, oneLine } from '../finding.ts'
import { hostText, notReached } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'

/** Where mail servers take mail from anybody. */
const MAIL_PORT = 25
/** So much of what comes is searched. */
const MOST_BYTES = 16 * 1024

const options = z
  .strictObject({
    host: hostText,
    port: z.int().min(1).max(65_535),
    tls: z.boolean().default(false),
    /** Whether the certificate has to be trusted. */
    verifyCertificate: z.boolean().default(true),
    /** A secret: what is sent once connected, where `\r`, `\n`, `\t`, `\0` and `\\` stand for what they do in most languages. */
    send: z.string().max(1000).optional(),
    /** What has to come, spelled likewise, anywhere in the first 16 KiB. */
    expect: z.string().min(1, 'must not be empty').max(1000).optional(),
    degradedAboveMs: z.int().min(1).max(30_000).optional(),
  })
  .superRefine(({ port, send }, ctx) => {
    if (port !== MAIL_PORT || send === undefined) return
    ctx.addIssue({
      code: 'custom',
      path: ['send'],
      message: 'must be left out for port 25: nobody sends mail from here',
    })
  })

export type TcpOptions = z.output<typeof options>

/** Connects, with TLS if asked for; sends and waits for what is expected. */
export const tcp: Probe<typeof options> = {
  kind: 'TCP',
  options,
  anywhere: false,
  minIntervalSeconds: 10,
  run: async (given, run) => {
    const started = performance.now()
    const tls = given.tls ? { verify: given.verifyCertificate } : undefined
    const connected = await run.tools.outbound.connect({ ...given, tls }, run)
    if (connected.kind === 'failed') return notReached(given.host, connected)
    try {
      const remainingMs = run.timeoutMs - (performance.now() - started)
      const said = await converse(connected.socket, given, remainingMs, run.signal)
      return judge(given, run, connected, said, performance.now() - started)
    } finally {
      connected.socket.destroy()
    }
  },
}

/** How a conversation ended: with what was expected, or without, because time was up, the other side closed, or said too much. */
type Ending = 'met' | 'timeout' | 'closed' | 'unmet' | 'aborted'

function converse(
  socket: Socket,
  { send, expect }: TcpOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ending> {
  if (send !== undefined) socket.write(unescaped(send))
  if (expect === undefined) return Promise.resolve('met')
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
      if (received.subarray(0, MOST_BYTES).includes(wanted)) end('met')
      else if (received.length >= MOST_BYTES) end('unmet')
    })
    socket.on('close', () => end('closed'))
  })
}

function judge(
  { expect, degradedAboveMs }: TcpOptions,
  { timeoutMs }: ProbeRun,
  { address, phases, certificate }: Connection,
  ending: Ending,
  latencyMs: number,
): Finding {
  const detail: Detail = {
    phases: { ...phases, total: hundredths(latencyMs) },
    address,
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
  }
  const expected = oneLine(JSON.stringify(expect) ?? '', 100)
  switch (ending) {
    case 'aborted':
      return found('UNKNOWN', 'Ended before its time')
    case 'timeout':
      return found('DOWN', `Connected, but ${expected} did not come within ${timeoutMs / SECOND} s`, { detail })
    case 'closed':
      return found('DOWN', `Connected, but closed before ${expected} came`, { detail })
    case 'unmet':
      return found('DOWN', `Connected, but ${expected} is not in the first 16 KiB`, { detail })
    case 'met': {
      const measured = { latencyMs, detail }
      const took = `in ${Math.round(latencyMs)} ms`
      if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs)
        return found('UP', `Connected ${took}`, measured)
      return found('DEGRADED', `Connected ${took}, more than ${degradedAboveMs} ms`, measured)
    }
  }
}

const escapes: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', '0': '\0', '\\': '\\' }

function unescaped(text: string): Buffer {
  return Buffer.from(text.replace(/\\([rnt0\\])/g, (_, letter: string) => escapes[letter] ?? ''))
}
