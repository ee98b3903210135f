import type { Socket } from 'node:net'
import type { AddressRateLimiter } from '../address-rate.ts'
import type { DnsClient } from '../dns/client.ts'
import { type Attempt, awaiting, inPhase, Stop } from './attempt.ts'
import { allowsPrivate, isMetadataName, type PrivateTargetPolicy } from './destination-policy.ts'
import { type Dialled, dial, rateLimited } from './dial.ts'
import { readHost } from './host.ts'
import type { ConnectTarget, OutboundRequest, Prelude, Resolved } from './outbound.ts'
import { type PortUse, portRefusal } from './port-policy.ts'
import type { ProxyServer } from './proxy.ts'
import { isHttpProxy, openTunnel, proxyAddress, proxyFailure } from './proxy.ts'
import type { Hop } from './redirect.ts'
import { requireReachable, resolve } from './resolve.ts'
import { secure } from './secure.ts'
import { createTlsThreads } from './tls-threads.ts'

/** Opens connections to checked addresses, with TLS and through proxies. Its methods throw `Stop`. */
export interface Connector {
  addressesOf(host: string, family: 4 | 6 | undefined, state: Attempt): Promise<Resolved>
  /** Connects to a target, optionally through a proxy. */
  open(target: ConnectTarget, state: Attempt, proxy?: ProxyServer): Promise<Dialled>
  /** Connects to the server of a hop, or to the proxy `forwarder`, which forwards the request to it. */
  openHop(
    hop: Hop,
    request: OutboundRequest,
    state: Attempt,
  ): Promise<Dialled & { readonly forwarder: ProxyServer | null }>
}

/** Creates the connector of an outbound client from the client's settings. */
export function createConnector(settings: {
  readonly dns: DnsClient
  readonly allowPrivate: PrivateTargetPolicy
  readonly ca?: string | undefined
  readonly rate: AddressRateLimiter
  readonly proxiesResolve?: boolean
}): Connector {
  const { dns, rate } = settings
  const tlsThreads = createTlsThreads({ ca: settings.ca })

  /** Returns whether an attempt may reach private networks now. The time that this takes is not the target's. */
  async function mayReachPrivate(state: Attempt): Promise<boolean> {
    try {
      return await state.pauseDuring(() => allowsPrivate(settings.allowPrivate, state.responsible))
    } catch {
      throw new Stop('local', 'ours', 'Our service could not look up whether private addresses are allowed')
    }
  }

  /** Returns whether a proxy resolves the names of an attempt. */
  const resolvesNames = async (state: Attempt) => settings.proxiesResolve ?? mayReachPrivate(state)

  function addressesOf(host: string, family: 4 | 6 | undefined, state: Attempt): Promise<Resolved> {
    return inPhase(state, 'dns', 'address of the host', () => resolve({ dns, mayReachPrivate }, host, family, state))
  }

  async function open(target: ConnectTarget, state: Attempt, proxy?: ProxyServer): Promise<Dialled> {
    const { host, port, family, tls, use = 'application' } = target
    requirePort(port, use)
    const resolved =
      proxy && (await resolvesNames(state)) ? await named(host, state) : await addressesOf(host, family, state)
    const addresses = await acquireFirst(rate, resolved, state)
    const { socket, address } = proxy
      ? await tunnel(proxy, { host: addresses[0] ?? resolved.host, port }, state)
      : await dial(addresses, port, state, (address) => rate.tryAcquire(address, state.owner))
    if (tls === undefined) return { socket, address }
    try {
      if (tls.before) await runPrelude(tls.before, socket, state)
      const { verify, identity, protocols } = tls
      const secured = { host: resolved.host, address, verify, protocols, identity }
      return { socket: await secure(tlsThreads, socket, secured, state), address }
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  /**
   * Returns a host that a proxy resolves. Checks the host if it is an address, or the name of a metadata service.
   * @throws Stop
   */
  async function named(text: string, state: Attempt): Promise<Resolved> {
    const host = readHost(text)
    if (host === null) throw new Stop('invalid', 'theirs', 'The host is neither a name nor an address')
    const canonical = host.kind === 'address' ? host.address : host.name
    if (isMetadataName(canonical)) throw new Stop('forbidden', 'theirs', `${canonical} is a name that is blocked`)
    if (host.kind === 'address') await requireReachable({ mayReachPrivate }, host, [canonical], state)
    return { kind: 'resolved', host: canonical, addresses: [canonical] }
  }

  /**
   * Connects to a proxy.
   * @throws Stop `proxy` on failure, because a failure of the proxy says nothing about the target.
   */
  async function openProxy(proxy: ProxyServer, state: Attempt): Promise<Dialled> {
    const { host, port, isSecure } = proxyAddress(proxy)
    const tls = isSecure ? { verify: true } : undefined
    try {
      const opened = await open({ host, port, tls }, state)
      // Only the target's certificate is reported.
      state.certificate = null
      return opened
    } catch (error) {
      state.certificate = null
      if (!(error instanceof Stop) || error.reason === 'aborted' || error.reason === 'rate-limited') throw error
      throw proxyFailure(`The proxy cannot be used: ${error.message}`)
    }
  }

  /** Connects to a target through a proxy. @throws Stop */
  async function tunnel(proxy: ProxyServer, target: { host: string; port: number }, state: Attempt): Promise<Dialled> {
    const opened = await openProxy(proxy, state)
    try {
      await openTunnel(opened.socket, proxy, target, state)
      return opened
    } catch (error) {
      opened.socket.destroy()
      throw error
    }
  }

  async function openHop({ url }: Hop, request: OutboundRequest, state: Attempt) {
    const { hostname, protocol, port } = url
    const { proxy, family } = request
    if (proxy && protocol === 'http:' && isHttpProxy(proxy) && (await resolvesNames(state))) {
      await named(hostname, state)
      return { ...(await openProxy(proxy, state)), forwarder: proxy }
    }
    const identity = url.origin === new URL(request.url).origin ? request.clientCertificate : undefined
    const tls =
      protocol === 'https:' ? { verify: request.verify ?? true, identity, protocols: ['http/1.1'] } : undefined
    const target = { host: hostname, port: Number(port) || (tls ? 443 : 80), family, tls }
    return { ...(await open(target, state, proxy)), forwarder: null }
  }

  return { addressesOf, open, openHop }
}

/** @throws Stop unless a connection may use a port this way. */
function requirePort(port: number, use: PortUse): void {
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Stop('invalid', 'theirs', 'The port must be from 1 to 65535')
  const refusal = portRefusal(port, use)
  if (refusal !== null) throw new Stop('forbidden', 'theirs', `Not allowed to connect to ${refusal}`)
}

/** Runs a prelude. @throws Stop `protocol`. */
function runPrelude(before: Prelude, socket: Socket, state: Attempt): Promise<void> {
  return inPhase(state, 'tls', 'agreement to start TLS', () =>
    awaiting(state, (resolve, reject) => {
      before(socket).then(resolve, (error: Error) => reject(new Stop('protocol', 'theirs', error.message)))
      return () => socket.destroy()
    }),
  )
}

/**
 * Moves the first address that the rate limit admits to the front. If it admits none, waits for the first address.
 * @throws Stop `rate-limited` when the rate limit does not admit it in time.
 */
async function acquireFirst(
  rate: AddressRateLimiter,
  { host, addresses }: Resolved,
  state: Attempt,
): Promise<readonly string[]> {
  const free = addresses.find((address) => rate.tryAcquire(address, state.owner))
  if (free !== undefined) return [free, ...addresses.filter((address) => address !== free)]
  const [first = host] = addresses
  const limits = { waitMs: state.maxPauseMs, signal: state.signal, owner: state.owner }
  const isTaken = await state.pauseDuring(() => rate.acquire(first, limits))
  state.signal.throwIfAborted()
  if (!isTaken) throw rateLimited(host)
  return addresses
}
