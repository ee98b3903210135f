import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { AddressRateLimiter } from '../address-rate.ts'
import type { DnsClient } from '../dns/client.ts'
import { type Attempt, attempt, phasesOf } from './attempt.ts'
import { createConnector } from './connector.ts'
import { ACCEPTED_ENCODINGS } from './content-encoding.ts'
import { type Cookies, createCookies } from './cookies.ts'
import type { PrivateTargetPolicy } from './destination-policy.ts'
import { exchange } from './exchange.ts'
import { type Certificate, type Failure, firstToExpire, type Phases } from './failure.ts'
import type { PortUse } from './port-policy.ts'
import type { ProxyServer } from './proxy.ts'
import { connectFailure } from './proxy.ts'
import { firstHop, type Hop, nextHop, tooManyRedirects } from './redirect.ts'
import { discardBody, readBody } from './response-body.ts'

export type { Certificate, Failure, Phases } from './failure.ts'

/** The limits of an attempt. */
export interface Limits {
  /** The timeout of the whole attempt, in milliseconds. */
  readonly timeoutMs: number
  /** Aborts the attempt. */
  readonly signal?: AbortSignal
  /** How long the attempt may wait for rate limits in addition to its timeout, in milliseconds; absent: 5 s. */
  readonly waitMs?: number
  /** Who asks, such as an organization, which takes turns with others at our resolvers; absent: we. */
  readonly owner?: string
  /**
   * Who chose the destination; absent: the owner. The owner's permission for private networks does not hold for what
   * others chose: visitors, the browsers of members, registries.
   */
  readonly chosenBy?: 'owner' | 'others'
}

/** A resolved host. */
export interface Resolved {
  readonly kind: 'resolved'
  /** The canonical host: a lower-case name without a final dot, or an address. */
  readonly host: string
  /** The addresses, in the order in which to try them. There is at least one, and all are allowed. */
  readonly addresses: readonly string[]
}

export interface ConnectTarget {
  /** A name, or an address in any notation, with or without brackets. */
  readonly host: string
  readonly port: number
  readonly family?: 4 | 6 | undefined
  /** How the connection is used, which limits its ports; absent: `application`. */
  readonly use?: PortUse | undefined
  /** The TLS settings; absent: plain TCP. `verify: false` accepts any certificate. */
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

/** Exchanges plain text before TLS starts (STARTTLS). The message of its error becomes that of the failure. */
export type Prelude = (socket: Socket) => Promise<void>

/** The certificate and key for servers that request one, in PEM. */
export interface Identity {
  readonly certificate: string
  readonly key: string
}

export interface Connection {
  readonly kind: 'connected'
  /** The paused socket, a `TLSSocket` for TLS. The caller reads and destroys it; the limits no longer apply. */
  readonly socket: Socket
  readonly address: string
  readonly certificate: Certificate | null
  readonly phases: Phases
}

export interface OutboundRequest {
  /** An http or https URL without credentials. */
  readonly url: string
  /** The method; absent: GET. */
  readonly method?: string
  /** Headers that are added to the default ones or replace them, except Host and Content-Length. */
  readonly headers?: readonly { readonly name: string; readonly value: string }[]
  readonly body?: string | Buffer | undefined
  /** The maximum number of redirects; 0 or absent: a redirect is returned as the response. */
  readonly maxRedirects?: number
  /**
   * The maximum size of the decoded response body, in bytes. The rest is not read. 0: the response ends with its head,
   * whatever its body is.
   */
  readonly maxBodyBytes: number
  /** Whether to verify the certificate; false: accepts any, absent: true. */
  readonly verify?: boolean
  readonly family?: 4 | 6 | undefined
  /** The client certificate for servers that request one. Not used after a redirect to another origin. */
  readonly clientCertificate?: Identity | undefined
  /** The proxy for all connections of the request, including redirects. */
  readonly proxy?: ProxyServer | undefined
}

export interface Answer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The decoded body. */
  readonly body: Buffer
  /** Whether `body` is complete; false: the limit was reached. */
  readonly complete: boolean
  /** The URL after redirects. */
  readonly url: string
  readonly address: string
  /** The certificate that expires first, of all servers on the way; null: none used TLS. */
  readonly certificate: Certificate | null
  readonly phases: Phases
  /** What the response does that HTTP forbids or that many clients refuse, as phrases. */
  readonly oddities: readonly string[]
}

/** Connects to hosts that tenants name; nothing else may. Its methods never reject, and end within their timeout. */
export interface Outbound {
  /** Resolves a host and checks every address. Callers connect to the checked addresses. */
  addressesOf(host: string, limits: Limits & { readonly family?: 4 | 6 | undefined }): Promise<Resolved | Failure>
  /** Connects to a checked address of a host. */
  connect(target: ConnectTarget, limits: Limits): Promise<Connection | Failure>
  /** Sends a request and reads its response. Resolves and checks the target of every redirect. */
  request(request: OutboundRequest, limits: Limits): Promise<Answer | Failure>
  /**
   * Waits for the rate limit of an address to which the caller connects without this client. Returns false if the limit
   * does not admit a connection in time or the signal aborts.
   */
  awaitConnectionSlot(
    address: string,
    limits: { readonly waitMs: number; readonly signal: AbortSignal; readonly owner?: string },
  ): Promise<boolean>
}

/** Returns a client whose requests are those of an owner, such as an organization. */
export const requestsOf = (outbound: Pick<Outbound, 'request'>, owner: string): Pick<Outbound, 'request'> => ({
  request: (request, limits) => outbound.request(request, { ...limits, owner }),
})

/** Returns a client for destinations that the owner of its requests did not choose (`Limits`). */
export const chosenByOthers = (outbound: Pick<Outbound, 'request'>): Pick<Outbound, 'request'> => ({
  request: (request, limits) => outbound.request(request, { ...limits, chosenBy: 'others' }),
})

const DEFAULT_HEADERS = new Map([
  ['user-agent', ['Allclear']],
  ['accept-encoding', [ACCEPTED_ENCODINGS]],
  ['accept', ['*/*']],
])

/**
 * Creates the outbound client.
 * @param settings.allowPrivate who may reach private networks and this machine, but never metadata services. It is asked
 * before each connection to one of them.
 * @param settings.ca trusted certificates in PEM, which replace the default ones.
 * @param settings.rate limits connections per address; absent: unlimited.
 * @param settings.proxiesResolve whether proxies resolve names and forward requests, so that they can connect to
 * anything. If not, a proxy connects to an address that was checked here. Absent: for those whom `allowPrivate` allows.
 */
export function createOutbound(settings: {
  readonly dns: DnsClient
  readonly allowPrivate: PrivateTargetPolicy
  readonly ca?: string | undefined
  readonly rate?: AddressRateLimiter
  readonly proxiesResolve?: boolean
}): Outbound {
  const { rate = unlimited } = settings
  const { addressesOf, open, openHop } = createConnector({ ...settings, rate })

  /** Sends the request of a hop. Returns the response, or the hop to which it redirects. */
  async function ask(hop: Hop, request: OutboundRequest, cookies: Cookies, state: Attempt): Promise<Answer | Hop> {
    const { socket, address, forwarder } = await openHop(hop, request, state)
    try {
      const { answer, oddities } = await exchange(socket, hop, state, forwarder)
      const { statusCode: status = 0, headers } = answer
      if (forwarder !== null && status === 407) throw connectFailure(status)
      const next = request.maxRedirects ? nextHop(hop, status, headers.location) : null
      if (next !== null) {
        cookies.store(hop.url, headers['set-cookie'] ?? [])
        return { ...next, cookies: cookies.headerFor(next.url, next.headers.get('cookie') ?? []) }
      }
      const { certificate } = state
      const atHead = phasesOf(state)
      const read = await bodyOf(answer, request, state)
      return {
        kind: 'answer',
        status,
        headers,
        body: read.body,
        complete: read.complete,
        url: hop.url.href,
        address,
        certificate,
        phases: read.isRead ? phasesOf(state) : atHead,
        oddities: oddities(),
      }
    } finally {
      socket.destroy()
    }
  }

  async function follow(request: OutboundRequest, state: Attempt): Promise<Answer> {
    const { maxRedirects = 0 } = request
    let hop = firstHop(request, DEFAULT_HEADERS)
    const hops = [hop]
    const cookies = createCookies()
    const certificates: Certificate[] = []
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      state.certificate = null
      state.address = null
      const outcome = await ask(hop, request, cookies, state)
      if (state.certificate !== null) certificates.push(state.certificate)
      if ('kind' in outcome) return { ...outcome, certificate: firstToExpire(certificates) }
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
      rate.tryAcquire(address, limits.owner) ? Promise.resolve(true) : rate.acquire(address, limits),
  }
}

/** Reads the body of a response if the request asks for it. */
async function bodyOf(answer: IncomingMessage, { maxBodyBytes }: OutboundRequest, state: Attempt) {
  if (maxBodyBytes > 0) return { ...(await readBody(answer, maxBodyBytes, state)), isRead: true }
  await discardBody(answer, state)
  return { body: Buffer.alloc(0), complete: false, isRead: false }
}

const unlimited: AddressRateLimiter = { tryAcquire: () => true, acquire: async () => true }
