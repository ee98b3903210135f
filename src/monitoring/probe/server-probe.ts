import type { Socket } from 'node:net'
import { z } from 'zod'
import { SECOND } from '../../core/time.ts'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import { hundredths } from '../../network/outbound/failure.ts'
import type { Connection } from '../../network/outbound.ts'
import type { ProbeDetail, ProbeResult } from '../probe-result.ts'
import { oneLine, probeResult } from '../probe-result.ts'
import { commonOptions } from './common.ts'
import { type Conversation, converse, Trouble } from './conversation.ts'
import { hostText, unreachableResult } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'

/** What an option is called in the console, and what it means. */
export interface OptionWords {
  readonly label: string
  readonly description: string
  /** What the console says under the label; absent: the label says it. */
  readonly hint?: string
  /** Whether the console has it behind "More options". */
  readonly isRare?: boolean
}

/** What a kind is called, what it does, and its options: GraphQL and the console are made of these. */
interface KindWords<Name extends string = string> {
  readonly name: string
  readonly about: string
  readonly options: Readonly<Record<Name, OptionWords>>
}

/** A kind whose options are described. */
export interface DescribedProbe<O extends z.ZodType = z.ZodType> extends Probe<O> {
  readonly words: KindWords
}

/** Returns the options of a kind that connects to a port. */
export const serverOptions = (port: number) => ({
  host: hostText,
  port: z.int().min(1).max(65_535).default(port),
  degradedAboveMs: z.int().min(1).max(30_000).optional(),
  ...commonOptions,
})

/** The words of `serverOptions`. */
export const serverWords = {
  host: { label: 'Host', description: 'The host name or address.' },
  port: { label: 'Port', description: 'The port.' },
  degradedAboveMs: {
    label: 'Degraded above',
    description: 'A slower answer, in milliseconds, makes the monitor DEGRADED.',
    hint: 'Milliseconds. A slower answer makes it degraded. Empty: no limit.',
    isRare: true,
  },
  downAboveMs: {
    label: 'Down above',
    description: 'A slower answer, in milliseconds, makes the monitor DOWN.',
    hint: 'Milliseconds. A slower answer makes it down. Empty: no limit.',
    isRare: true,
  },
  inverted: {
    label: 'Up when the probe fails',
    description: 'Whether the monitor is UP when the probe fails, and DOWN when it succeeds.',
    isRare: true,
  },
} as const

/** Options for TLS. */
export const tlsOptions = { tls: z.boolean().default(false), verifyCertificate: z.boolean().default(true) }

/** The words of `tlsOptions`. */
export const tlsWords = {
  tls: { label: 'Use TLS', description: 'Whether to use TLS.' },
  verifyCertificate: {
    label: 'The certificate must be valid',
    description: 'Whether the certificate must be trusted, where TLS is used.',
    isRare: true,
  },
} as const

interface ServerOptions {
  readonly host: string
  readonly port: number
  readonly tls?: boolean
  readonly verifyCertificate?: boolean
  readonly degradedAboveMs?: number | undefined
}

/** What a kind that connects to a port says of itself. */
interface ServerKind<O extends z.ZodType<ServerOptions>> {
  readonly kind: MonitorKind
  readonly options: O
  readonly words: KindWords<Extract<keyof z.output<O>, string>>
  readonly secrets?: readonly (readonly string[])[]
}

function describedServer<O extends z.ZodType<ServerOptions>>({ kind, options, words, secrets = [] }: ServerKind<O>) {
  return {
    ...{ kind, options, words, secrets },
    anywhere: false,
    minIntervalSeconds: 10,
    defaultIntervalSeconds: 60,
    smallest: { host: 'example.com' } as z.input<O>,
    subject: 'host',
    target: ({ host, port }: z.output<O>) => ({ host, port }),
    recipient: ({ host, port, tls }: z.output<O>) => `${kind} ${tls ? 'tls' : 'tcp'} ${host} ${port}`,
  } satisfies Omit<DescribedProbe<O>, 'run'>
}

/** Makes a kind that connects to a port and talks; its `talk` returns what the server said, and throws `Trouble`. */
export function serverProbe<O extends z.ZodType<ServerOptions>>(
  rules: ServerKind<O> & {
    talk(server: Conversation, options: z.output<O>, connection: Connection): Promise<string>
  },
): DescribedProbe<O> {
  const { talk } = rules
  return {
    ...describedServer(rules),
    async run(given, run) {
      const { host, port, tls, verifyCertificate: verify = true } = given
      const connected = await run.tools.outbound.connect({ host, port, tls: tls ? { verify } : undefined }, run)
      if (connected.kind === 'failed') return unreachableResult(host, connected)
      const started = performance.now() - connected.phases.total
      const { timeoutMs, signal } = run
      const limits = { leftMs: timeoutMs - connected.phases.total, timeoutMs, signal }
      const conversation = converse(connected.socket, limits)
      try {
        const said = await talk(conversation, given, connected)
        return judged(given, connected, said, performance.now() - started)
      } catch (error) {
        if (!(error instanceof Trouble)) throw error
        return troubled(error, connected, run)
      } finally {
        conversation.stop()
        connected.socket.destroy()
      }
    },
  }
}

/** Makes a kind that connects to a port and has a client talk; its `talk` returns what the server said. */
export function clientProbe<O extends z.ZodType<ServerOptions>>(
  rules: ServerKind<O> & {
    /** What the connection offers over TLS (ALPN); absent: the client starts TLS itself where it is to be used. */
    readonly protocols?: readonly string[]
    /** Talks over a connection; any error but `Trouble` becomes one. */
    talk(client: ClientConnection, options: z.output<O>): Promise<string>
  },
): DescribedProbe<O> {
  const { protocols, talk } = rules
  return {
    ...describedServer(rules),
    async run(given, run) {
      const { host, port, tls: hasTls, verifyCertificate: verify = true } = given
      const tls = hasTls && protocols !== undefined ? { verify, protocols } : undefined
      const connected = await run.tools.outbound.connect({ host, port, tls }, run)
      if (connected.kind === 'failed') return unreachableResult(host, connected)
      const started = performance.now() - connected.phases.total
      try {
        const said = await withinLimits(connected, run, (client) => talk(client, given))
        return judged(given, connected, said, performance.now() - started)
      } catch (error) {
        return troubled(error instanceof Trouble ? error : new Trouble(messageOf(error)), connected, run)
      } finally {
        connected.socket.destroy()
      }
    },
  }
}

/** A connection over which a client talks. */
export interface ClientConnection {
  readonly socket: Socket
  /** What is left of the timeout at the beginning, in milliseconds. */
  readonly leftMs: number
  /** Ends the connection; the message says what the server did. */
  end(message: string): void
}

const messageOf = (error: unknown) => oneLine(error instanceof Error ? error.message : '', 300) || 'The server hung up'

/** Has a client talk until the timeout, or until the probe is aborted. @throws Trouble with why it was ended, or the client's own error. */
async function withinLimits(
  { socket, phases }: Connection,
  { timeoutMs, signal }: ProbeRun,
  talk: (client: ClientConnection) => Promise<string>,
): Promise<string> {
  const leftMs = Math.max(1, timeoutMs - phases.total)
  return new Promise((resolve, reject) => {
    const end = (message: string, isAborted = false) => {
      reject(new Trouble(message, isAborted))
      socket.destroy()
    }
    const onAbort = () => end('The probe was aborted', true)
    const timer = setTimeout(() => end(`No answer within ${timeoutMs / SECOND} s`), leftMs)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    talk({ socket, leftMs, end })
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
      })
  })
}

/** Ends a connection whose server sends more than this, in bytes. */
export function limitReceived({ socket, end }: ClientConnection, maxBytes = 256 * 1024): void {
  let received = 0
  socket.on('data', ({ length }: Buffer) => {
    received += length
    if (received > maxBytes) end(`The server sends more than ${maxBytes / 1024} KiB`)
  })
}

/** Returns the result of a conversation that went well. */
function judged(
  { degradedAboveMs }: Pick<ServerOptions, 'degradedAboveMs'>,
  connection: Connection,
  said: string,
  latencyMs: number,
): ProbeResult {
  const measured = { latencyMs, detail: detailOf(connection, latencyMs) }
  const message = `${oneLine(said, 200)} in ${Math.round(latencyMs)} ms`
  if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs) return probeResult('UP', message, measured)
  return probeResult('DEGRADED', `${message}, more than ${degradedAboveMs} ms`, measured)
}

/** Returns the result of a conversation that ended badly. */
function troubled({ isAborted, message }: Trouble, connection: Connection, { timeoutMs }: ProbeRun): ProbeResult {
  if (isAborted) return probeResult('UNKNOWN', message)
  return probeResult('DOWN', message, { detail: detailOf(connection, timeoutMs) })
}

function detailOf({ phases, address, certificate }: Connection, latencyMs: number): ProbeDetail {
  return {
    phases: { ...phases, total: hundredths(latencyMs) },
    address,
    ...(certificate !== null && { certificateEndsAt: certificate.validTo.toISOString() }),
  }
}
