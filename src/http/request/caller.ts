import type { IncomingMessage } from 'node:http'
import { ORGANIZATION_HEADER } from '../../core/access.ts'
import type { Config } from '../../core/config.ts'
import type { AccessAddress } from '../../core/context.ts'
import type { RequestRoute } from '../../core/request-route.ts'
import { clientAddress } from './client-address.ts'
import { hostNameOf } from './host-header.ts'
import { type HostConfig, isOwnHost } from './own-host.ts'

/** The caller as identified by the request. */
export interface Caller {
  /** The client's IP address as canonical text. */
  readonly address: string
  /** The address, as far as it may give rights; absent: it gives none. */
  readonly accessAddress?: AccessAddress | undefined
  /** The API key or token; null: none. */
  readonly credential: string | null
  /** The id or slug of the organization that the operator selects; null: none. */
  readonly organization: string | null
  /** The token of the caller's session; absent: none, or the request does not come from our own pages. */
  readonly session?: string | undefined
  /** The cookies of opened pages, by the id of the page; absent: none. */
  readonly pageCookies?: ReadonlyMap<string, string> | undefined
  /** Whether a page of another site causes the call; absent: no. */
  readonly isCrossSite?: boolean | undefined
  /** The request itself, for analysis of its route; absent: not available. */
  readonly request?: Pick<IncomingMessage, 'headers' | 'socket'> | undefined
}

/** Headers of a reverse proxy; behind one, all requests seem to come from its address. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/**
 * Returns the route of a request.
 * @param client the caller's address.
 */
export function routeOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  client: string,
): RequestRoute {
  const text = (name: string) => headers[name]?.toString() ?? null
  return {
    peer: socket.remoteAddress ?? null,
    client,
    host: text('host'),
    forwardedFor: text('x-forwarded-for'),
    forwardedProto: text('x-forwarded-proto'),
    hasProxyHeader: PROXY_HEADERS.some((name) => headers[name] !== undefined),
  }
}

/** The request headers that identify the caller, in lower case. */
export const identifyingHeaders = ['authorization', 'x-api-key', ORGANIZATION_HEADER.toLowerCase()] as const

/** Returns the caller of a request from its socket and headers. */
export function callerOf(
  request: IncomingMessage,
  { config }: { readonly config: HostConfig & Pick<Config, 'TRUST_PROXY'> },
): Caller {
  const { authorization, host, 'x-api-key': apiKey, 'x-forwarded-for': forwardedFor } = request.headers
  const organization = request.headers[ORGANIZATION_HEADER.toLowerCase()]
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor
  const address = clientAddress(request.socket.remoteAddress, forwarded, config.TRUST_PROXY)
  return {
    address,
    accessAddress: { address, host: isOwnHost(host, config) ? null : hostNameOf(host) },
    credential: bearerOf(authorization) ?? (typeof apiKey === 'string' ? apiKey.trim() : null),
    organization: typeof organization === 'string' ? organization.trim() : null,
  }
}

/** Returns the token of an `Authorization` header; null for other schemes, which a proxy may use. */
export function bearerOf(authorization: string | null | undefined): string | null {
  return /^(?:bearer +)?(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null
}
