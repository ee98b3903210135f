import type { Socket } from 'node:net'
import { z } from 'zod'
import { described } from '../../core/described.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import { hundredths } from '../../network/outbound/failure.ts'
import type { Connection } from '../../network/outbound/outbound.ts'
import type { PortUse } from '../../network/outbound/port-policy.ts'
import type { ProbeDetail, ProbeResult } from '../result/probe-result.ts'
import { oneLine, probeResult } from '../result/probe-result.ts'
import { certificateDays, expirySoon, verifyCertificate } from './certificate-expiry.ts'
import { responseOptions } from './common.ts'
import { type Conversation, ConversationError, converse } from './conversation.ts'
import { hostText, portNumber, unreachableResult } from './host.ts'
import type { KindWords, Probe, ProbeRun } from './probe.ts'

/** Returns the options of a kind that connects to a port. @param port the default port. */
export const serverOptions = (port: number) => ({ host: hostText, port: portNumber.default(port), ...responseOptions })

/** The options for TLS. */
export const tlsOptions = {
  tls: described(z.boolean().default(false), { label: 'Use TLS', description: 'Whether to use TLS.' }),
  verifyCertificate,
  certificateDays,
}

/** The option with a password of at most `max` characters, which is kept for the same server. */
export const passwordText = (max: number, description = 'The password to sign in with.') =>
  described(z.string().max(max).optional(), { label: 'Password', description, secret: RECIPIENT })

/** What secrets are kept for. */
export const RECIPIENT = 'the host, port or TLS'

interface ServerOptions {
  readonly host: string
  readonly port: number
  readonly tls?: boolean
  readonly verifyCertificate?: boolean
  readonly certificateDays?: number | undefined
  readonly degradedAboveMs?: number | undefined
}

/** The definition of a kind that connects to a port. */
interface ServerKind<O extends z.ZodType<ServerOptions>> {
  readonly kind: MonitorKind
  readonly options: O
  readonly words: KindWords
  portUse?(options: z.output<O>): PortUse
  sentTexts?(options: z.output<O>): unknown
}

function describedServer<O extends z.ZodType<ServerOptions>>(rules: ServerKind<O>) {
  const { kind, options, words, portUse, sentTexts } = rules
  return {
    ...{ kind, options, words },
    ...(portUse && { portUse }),
    ...(sentTexts && { sentTexts }),
    anywhere: false,
    minIntervalSeconds: 10,
    defaultIntervalSeconds: 60,
    smallest: { host: 'example.com' } as z.input<O>,
    subject: 'host',
    target: ({ host, port }: z.output<O>) => ({ host, port }),
    recipient: ({ host, port, tls }: z.output<O>) => `${kind} ${tls ? 'tls' : 'tcp'} ${host} ${port}`,
  } satisfies Omit<Probe<O>, 'run'>
}

/** The definition of a kind that has a conversation over a connection. Both functions throw `ConversationError`. */
interface TalkingKind<O extends z.ZodType<ServerOptions>, P> extends ServerKind<O> {
  /** Has the conversation in plain text before TLS; absent: TLS starts immediately. */
  beforeTls?(server: Conversation): Promise<P>
  /**
   * Has the conversation. Returns a message about the server's answer.
   * @param prelude the result of `beforeTls`; null: none.
   */
  talk(server: Conversation, options: z.output<O>, prelude: P | null): Promise<string>
}

/** Creates a kind that connects to a port and has a conversation. */
export function serverProbe<O extends z.ZodType<ServerOptions>, P = never>(rules: TalkingKind<O, P>): Probe<O> {
  const { talk } = rules
  return {
    ...describedServer(rules),
    async run(given, run) {
      const { host, port, tls, verifyCertificate: verify = true } = given
      const { before, result } = preludeOf(rules)
      const use = rules.portUse?.(given) ?? 'application'
      const target = { host, port, use, tls: tls ? { verify, before } : undefined }
      const connected = await run.tools.outbound.connect(target, run)
      if (connected.kind === 'failed') return unreachableResult(host, connected, run.tools.now())
      const started = performance.now() - connected.phases.total
      const { timeoutMs, signal } = run
      const limits = { leftMs: timeoutMs - connected.phases.total, timeoutMs, signal }
      const conversation = converse(connected.socket, limits)
      try {
        const answer = await talk(conversation, given, result())
        return successResult(given, connected, answer, performance.now() - started, run.tools.now())
      } catch (error) {
        if (!(error instanceof ConversationError)) throw error
        return failureResult(error, connected, run)
      } finally {
        conversation.stop()
        connected.socket.destroy()
      }
    },
  }
}

/** Returns the conversation before TLS, if the kind has one, and a function that returns its result. */
function preludeOf<O extends z.ZodType<ServerOptions>, P>({ beforeTls }: TalkingKind<O, P>) {
  let result: P | null = null
  const before = async (socket: Socket) => {
    if (beforeTls) result = await beforeTlsOn(socket, beforeTls)
  }
  return { before: beforeTls && before, result: () => result }
}

/** Runs a conversation on a connection. The caller enforces the timeout. @throws ConversationError. */
export async function beforeTlsOn<P>(socket: Socket, talk: (server: Conversation) => Promise<P>): Promise<P> {
  const endless = new AbortController().signal
  const server = converse(socket, { leftMs: MINUTE, timeoutMs: MINUTE, signal: endless })
  try {
    return await talk(server)
  } finally {
    server.stop()
  }
}

/** Creates a kind that connects to a port and uses a client library. */
export function clientProbe<O extends z.ZodType<ServerOptions>>(
  rules: ServerKind<O> & {
    /** The protocols to offer over TLS (ALPN); absent: none. */
    readonly protocols?: readonly string[]
    /** Has the conversation in plain text before TLS; absent: TLS starts immediately. Throws `ConversationError`. */
    beforeTls?(server: Conversation): Promise<void>
    /**
     * Uses the client. Returns a message about the server's answer. Other errors are converted to `ConversationError`.
     */
    talk(client: ClientConnection, options: z.output<O>): Promise<string>
  },
): Probe<O> {
  const { protocols, beforeTls, talk } = rules
  const before = beforeTls && ((socket: Socket) => beforeTlsOn(socket, beforeTls))
  return {
    ...describedServer(rules),
    async run(given, run) {
      const { host, port, tls: hasTls, verifyCertificate: verify = true } = given
      // Never the client library: it would compute the handshake on the main thread, and without limits.
      const tls = hasTls ? { verify, protocols, before } : undefined
      const connected = await run.tools.outbound.connect({ host, port, tls }, run)
      if (connected.kind === 'failed') return unreachableResult(host, connected, run.tools.now())
      const started = performance.now() - connected.phases.total
      try {
        const answer = await withinLimits(connected, run, (client) => talk(client, given))
        return successResult(given, connected, answer, performance.now() - started, run.tools.now())
      } catch (error) {
        return failureResult(
          error instanceof ConversationError ? error : new ConversationError(messageOf(error)),
          connected,
          run,
        )
      } finally {
        connected.socket.destroy()
      }
    },
  }
}

/** The connection of a client library. */
export interface ClientConnection {
  readonly socket: Socket
  /** The remaining timeout when the client starts, in milliseconds. */
  readonly leftMs: number
  /** Ends the connection. The message describes the server's behaviour. */
  end(message: string): void
}

const messageOf = (error: unknown) => oneLine(error instanceof Error ? error.message : '', 300) || 'The server hung up'

/**
 * Runs a client until the timeout, or until the probe is aborted.
 * @throws ConversationError with the reason, or the error of the client.
 */
async function withinLimits(
  { socket, phases }: Connection,
  { timeoutMs, signal }: ProbeRun,
  talk: (client: ClientConnection) => Promise<string>,
): Promise<string> {
  const leftMs = Math.max(1, timeoutMs - phases.total)
  return new Promise((resolve, reject) => {
    const end = (message: string, isAborted = false) => {
      reject(new ConversationError(message, isAborted))
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

/** Ends a connection when its server has sent more than `maxBytes`. */
export function limitReceived({ socket, end }: ClientConnection, maxBytes = 256 * 1024): void {
  let received = 0
  socket.on('data', ({ length }: Buffer) => {
    received += length
    if (received > maxBytes) end(`The server sent more than ${maxBytes / 1024} KiB`)
  })
}

/** Returns the result of a successful conversation. */
function successResult(
  given: Pick<ServerOptions, 'degradedAboveMs' | 'certificateDays'>,
  connection: Connection,
  answer: string,
  latencyMs: number,
  now: Date,
): ProbeResult {
  const { degradedAboveMs } = given
  const measured = { latencyMs, detail: detailOf(connection, latencyMs) }
  const message = `${oneLine(answer, 200)} in ${Math.round(latencyMs)} ms`
  const expiry = expirySoon({ certificateDays: given.certificateDays }, connection.certificate, now)
  if (degradedAboveMs === undefined || latencyMs <= degradedAboveMs)
    return expiry === null ? probeResult('UP', message, measured) : probeResult('DEGRADED', expiry, measured)
  return probeResult('DEGRADED', `${message}, more than ${degradedAboveMs} ms`, measured)
}

/** Returns the result of a failed conversation. */
function failureResult(
  { isAborted, message }: ConversationError,
  connection: Connection,
  { timeoutMs }: ProbeRun,
): ProbeResult {
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
