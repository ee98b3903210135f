import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { DnsClient } from './dns/client.ts'
import { type Attempt, attempt, inPhase, phasesOf, Stop } from './outbound/attempt.ts'
import { type Dialled, dial } from './outbound/dial.ts'
import { ACCEPTED_ENCODINGS, exchange, readBody } from './outbound/exchange.ts'
import type { Certificate, Failure, Phases } from './outbound/failure.ts'
import { firstHop, type Hop, nextHop, tooManyRedirects } from './outbound/redirect.ts'
import { resolve } from './outbound/resolve.ts'
import { secure } from './outbound/secure.ts'

export type { Certificate, Failure, FailureReason, Fault, Phases } from './outbound/failure.ts'

/** When an attempt has to end. */
export interface Limits {
  /** For all of it, in milliseconds. */
  readonly timeoutMs: number
  /** Ends it early. */
  readonly signal?: AbortSignal
}

/** Where a host may be reached. */
export interface Resolved {
  readonly kind: 'resolved'
  /** The canonical host: a lower-case name without a final dot, or an address. */
  readonly host: string
  /** At least one; every one may be connected to. In the order to try. */
  readonly addresses: readonly string[]
}

export interface ConnectTarget {
  /** A name, or an address in any spelling, also in brackets. */
  readonly host: string
  readonly port: number
  readonly family?: 4 | 6 | undefined
  /** Absent: plain TCP. `verify: false` takes any certificate. */
  readonly tls?: { readonly verify: boolean } | undefined
}

export interface Connection {
  readonly kind: 'connected'
  /** Paused, to be read from and destroyed by the caller; a `TLSSocket` when TLS was asked for. The limits bear on it no longer. */
  readonly socket: Socket
  readonly address: string
  readonly certificate: Certificate | null
  readonly phases: Phases
}

export interface OutboundRequest {
  /** http or https, without a user. */
  readonly url: string
  /** GET when absent. */
  readonly method?: string
  /** Beside or instead of those that every request has, but for Host and Content-Length. */
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  readonly body?: string | Buffer | undefined
  /** How many redirects are followed; when 0 or absent, a redirect is the answer. */
  readonly maxRedirects?: number
  /** Of the answer's body, unpacked; no more is read. */
  readonly maxBodyBytes: number
  /** False takes any certificate. */
  readonly verify?: boolean
  readonly family?: 4 | 6 | undefined
}

export interface Answer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Unpacked. */
  readonly body: Buffer
  /** Whether `body` is all of it: false when the limit was reached. */
  readonly complete: boolean
  /** What answered, after redirects. */
  readonly url: string
  readonly address: string
  readonly certificate: Certificate | null
  readonly phases: Phases
}

/** The only way to reach what tenants name. Nothing here rejects, and everything ends by its deadline. */
export interface Outbound {
  /** The addresses of a host, each checked; resolved once, so that what is checked is what is connected to. */
  addressesOf(host: string, limits: Limits & { readonly family?: 4 | 6 | undefined }): Promise<Resolved | Failure>
  /** Connects to a checked address of a host. */
  connect(target: ConnectTarget, limits: Limits): Promise<Connection | Failure>
  /** Sends a request and reads its answer; every redirect is resolved and checked anew. */
  request(request: OutboundRequest, limits: Limits): Promise<Answer | Failure>
}

const DEFAULT_HEADERS = new Map([
  ['user-agent', ['Allclear']],
  ['accept-encoding', [ACCEPTED_ENCODINGS]],
  ['accept', ['*/*']],
])

/**
 * Makes the way out.
 * @param settings `allowPrivate` opens the LAN and this machine, never metadata services; `ca` are the PEM certificates
 * that are trusted instead of the usual ones.
 */
export function createOutbound(settings: {
  readonly dns: DnsClient
  readonly allowPrivate: boolean
  readonly ca?: string | undefined
}): Outbound {
  // Reading the trusted certificates costs more than a handshake: it is done once.
  const context = createSecureContext({ ca: settings.ca })

  function addressesOf(host: string, family: 4 | 6 | undefined, state: Attempt): Promise<Resolved> {
    return inPhase(state, 'dns', 'address of the host', () => resolve(settings, host, family, state))
  }

  async function open({ host, port, family, tls }: ConnectTarget, state: Attempt): Promise<Dialled> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Stop('invalid', 'theirs', 'There is no such port')
    const resolved = await addressesOf(host, family, state)
    const { socket, address } = await dial(resolved.addresses, port, state)
    if (tls === undefined) return { socket, address }
    try {
      return { socket: await secure(socket, { host: resolved.host, verify: tls.verify, context }, state), address }
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  /** The answer to a hop, or the hop that it redirects to. */
  async function ask(hop: Hop, request: OutboundRequest, state: Attempt): Promise<Answer | Hop> {
    const { hostname, protocol, port } = hop.url
    const tls = protocol === 'https:' ? { verify: request.verify ?? true } : undefined
    const target = { host: hostname, port: Number(port) || (tls ? 443 : 80), family: request.family, tls }
    const { socket, address } = await open(target, state)
    try {
      const answer = await exchange(socket, hop, state)
      const { statusCode: status = 0, headers } = answer
      const next = request.maxRedirects ? nextHop(hop, status, headers.location) : null
      if (next !== null) return next
      const read = await readBody(answer, request.maxBodyBytes, state)
      const { certificate } = state
      return {
        kind: 'answer',
        status,
        headers,
        ...read,
        url: hop.url.href,
        address,
        certificate,
        phases: phasesOf(state),
      }
    } finally {
      socket.destroy()
    }
  }

  async function follow(request: OutboundRequest, state: Attempt): Promise<Answer> {
    const { maxRedirects = 0 } = request
    let hop = firstHop(request, DEFAULT_HEADERS)
    const hops = [hop]
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      state.certificate = null
      state.address = null
      const came = await ask(hop, request, state)
      if ('kind' in came) return came
      hop = came
      hops.push(hop)
    }
    throw tooManyRedirects(hops, maxRedirects)
  }

  return {
    addressesOf: (host, { family, ...limits }) => attempt(limits, (state) => addressesOf(host, family, state)),
    connect: (target, limits) =>
      attempt(limits, async (state) => {
        const { socket, address } = await open(target, state)
        const { certificate } = state
        return { kind: 'connected', socket, address, certificate, phases: phasesOf(state) }
      }),
    request: (request, limits) => attempt(limits, (state) => follow(request, state)),
  }
}
