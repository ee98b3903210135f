import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { AddressRateLimiter } from './address-rate.ts'
import type { DnsClient } from './dns/client.ts'
import { type Attempt, attempt, awaiting, inPhase, phasesOf, Stop } from './outbound/attempt.ts'
import { type Dialled, dial, rateLimited } from './outbound/dial.ts'
import { ACCEPTED_ENCODINGS, exchange, readBody } from './outbound/exchange.ts'
import type { Certificate, Failure, Phases } from './outbound/failure.ts'
import { firstHop, type Hop, nextHop, tooManyRedirects } from './outbound/redirect.ts'
import { resolve } from './outbound/resolve.ts'
import { secure } from './outbound/secure.ts'

export type { Certificate, Failure, Phases } from './outbound/failure.ts'

/** The limits of an attempt. */
export interface Limits {
  /** The timeout of the whole attempt, in milliseconds. */
  readonly timeoutMs: number
  /** Aborts it. */
  readonly signal?: AbortSignal
  /** How long it may wait for rate limits in addition to its timeout, in milliseconds; absent: 5 s. */
  readonly waitMs?: number
}

/** A resolved host. */
export interface Resolved {
  readonly kind: 'resolved'
  /** The canonical host: a lower-case name without a final dot, or an address. */
  readonly host: string
  /** The addresses in the order to try; at least one, all of them allowed. */
  readonly addresses: readonly string[]
}

interface ConnectTarget {
  /** A name, or an address in any spelling, also in brackets. */
  readonly host: string
  readonly port: number
  readonly family?: 4 | 6 | undefined
  /** Absent: plain TCP. `verify: false` accepts any certificate. */
  readonly tls?:
    | {
        readonly verify: boolean
        readonly identity?: Identity | undefined
        readonly before?: Prelude | undefined
        /** The protocols to offer (ALPN), such as `h2`; absent: none. */
        readonly protocols?: readonly string[] | undefined
      }
    | undefined
}

/** What is said in plain text before TLS starts (STARTTLS); its error's message becomes the failure. */
type Prelude = (socket: Socket) => Promise<void>

/** Who we are to a server that asks for a certificate: PEM. */
interface Identity {
  readonly certificate: string
  readonly key: string
}

export interface Connection {
  readonly kind: 'connected'
  /** Paused; the caller reads and destroys it. A `TLSSocket` for TLS. The limits no longer apply. */
  readonly socket: Socket
  readonly address: string
  readonly certificate: Certificate | null
  readonly phases: Phases
}

export interface OutboundRequest {
  /** http or https, without credentials. */
  readonly url: string
  /** GET when absent. */
  readonly method?: string
  /** Added to or replacing the default headers, except Host and Content-Length. */
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  readonly body?: string | Buffer | undefined
  /** The maximum number of redirects; at 0 or absent, a redirect is returned as the response. */
  readonly maxRedirects?: number
  /** The maximum size of the decoded response body; no more is read. */
  readonly maxBodyBytes: number
  /** False accepts any certificate. */
  readonly verify?: boolean
  readonly family?: 4 | 6 | undefined
  /** Shown to servers that ask for one, except after a redirect to another origin. */
  readonly clientCertificate?: Identity | undefined
}

export interface Answer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The decoded body. */
  readonly body: Buffer
  /** Whether `body` is complete: false when the limit was reached. */
  readonly complete: boolean
  /** The URL after redirects. */
  readonly url: string
  readonly address: string
  readonly certificate: Certificate | null
  readonly phases: Phases
}

/** The only way to connect to hosts that tenants name. Nothing here rejects, and everything ends by its timeout. */
export interface Outbound {
  /** Resolves a host and checks every address; callers connect to the checked addresses. */
  addressesOf(host: string, limits: Limits & { readonly family?: 4 | 6 | undefined }): Promise<Resolved | Failure>
  /** Connects to a checked address of a host. */
  connect(target: ConnectTarget, limits: Limits): Promise<Connection | Failure>
  /** Sends a request and reads its response; resolves and checks every redirect. */
  request(request: OutboundRequest, limits: Limits): Promise<Answer | Failure>
  /**
   * Waits for the rate limit of an address that the caller contacts in another way. False: not in time, or the signal
   * aborted.
   */
  awaitConnectionSlot(
    address: string,
    limits: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<boolean>
}

const DEFAULT_HEADERS = new Map([
  ['user-agent', ['Allclear']],
  ['accept-encoding', [ACCEPTED_ENCODINGS]],
  ['accept', ['*/*']],
])

/**
 * Creates the outbound client.
 * @param settings `allowPrivate` allows private networks and this machine, never metadata services; `ca` are trusted
 * PEM certificates that replace the default ones; `rate` limits connections per address; absent: unlimited.
 */
export function createOutbound(settings: {
  readonly dns: DnsClient
  readonly allowPrivate: boolean
  readonly ca?: string | undefined
  readonly rate?: AddressRateLimiter
}): Outbound {
  const { rate = unlimited } = settings
  // Parsing the trusted certificates costs more than a handshake: do it once.
  const context = createSecureContext({ ca: settings.ca })
  const identities = new LRUCache<string, SecureContext>({ max: 200 })

  /** @throws Stop `invalid` when the certificate and its key do not fit. */
  function contextOf(identity: Identity | undefined): SecureContext {
    if (identity === undefined) return context
    const { certificate: cert, key } = identity
    const name = createHash('sha256')
      .update(JSON.stringify([cert, key]))
      .digest('base64')
    try {
      const known = identities.get(name) ?? createSecureContext({ ca: settings.ca, cert, key })
      identities.set(name, known)
      return known
    } catch {
      throw new Stop('invalid', 'theirs', 'The client certificate and its key do not fit')
    }
  }

  function addressesOf(host: string, family: 4 | 6 | undefined, state: Attempt): Promise<Resolved> {
    return inPhase(state, 'dns', 'address of the host', () => resolve(settings, host, family, state))
  }

  async function open({ host, port, family, tls }: ConnectTarget, state: Attempt): Promise<Dialled> {
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Stop('invalid', 'theirs', 'The port must be from 1 to 65535')
    const resolved = await addressesOf(host, family, state)
    const addresses = await acquireFirst(rate, resolved, state)
    const { socket, address } = await dial(addresses, port, state, rate.tryAcquire)
    if (tls === undefined) return { socket, address }
    try {
      if (tls.before) await said(tls.before, socket, state)
      const { verify, identity, protocols } = tls
      const secured = { host: resolved.host, verify, protocols, context: contextOf(identity) }
      return { socket: await secure(socket, secured, state), address }
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  /** Returns the response to a hop, or the hop that it redirects to. */
  async function ask(hop: Hop, request: OutboundRequest, state: Attempt): Promise<Answer | Hop> {
    const { hostname, protocol, port } = hop.url
    const identity = hop.url.origin === new URL(request.url).origin ? request.clientCertificate : undefined
    const tls = protocol === 'https:' ? { verify: request.verify ?? true, identity } : undefined
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
      const outcome = await ask(hop, request, state)
      if ('kind' in outcome) return outcome
      hop = outcome
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
    awaitConnectionSlot: (address, limits) =>
      rate.tryAcquire(address) ? Promise.resolve(true) : rate.acquire(address, limits),
  }
}

const unlimited: AddressRateLimiter = { tryAcquire: () => true, acquire: async () => true }

/** Waits for a prelude. @throws Stop `protocol`. */
function said(before: Prelude, socket: Socket, state: Attempt): Promise<void> {
  return inPhase(state, 'tls', 'agreement to start TLS', () =>
    awaiting(state, (resolve, reject) => {
      before(socket).then(resolve, (error: Error) => reject(new Stop('protocol', 'theirs', error.message)))
      return () => socket.destroy()
    }),
  )
}

/**
 * Moves the first address that the rate limit admits to the front; waits when it admits none.
 * @throws Stop `spared` when none is admitted in time.
 */
async function acquireFirst(
  rate: AddressRateLimiter,
  { host, addresses }: Resolved,
  state: Attempt,
): Promise<readonly string[]> {
  const free = addresses.find((address) => rate.tryAcquire(address))
  if (free !== undefined) return [free, ...addresses.filter((address) => address !== free)]
  const [first = host] = addresses
  const limits = { waitMs: state.maxPauseMs, signal: state.signal }
  const isTaken = await state.pauseDuring(() => rate.acquire(first, limits))
  state.signal.throwIfAborted()
  if (!isTaken) throw rateLimited(host)
  return addresses
}
