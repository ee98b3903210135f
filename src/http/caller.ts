import type { IncomingMessage } from 'node:http'
import { ORGANIZATION_HEADER } from '../account/access.ts'
import { actingFor } from '../account/acting.ts'
import { authenticate } from '../account/authenticate.ts'
import type { Actor } from '../context.ts'
import type { GraphContext } from '../graphql/builder.ts'
import { clientAddress } from './client-address.ts'

/** What a context holds whoever calls. */
export type Parts = Omit<GraphContext, 'actor' | 'clientAddress' | 'leaving'>

/** Who calls, as far as the request says. */
export interface Caller {
  /** Canonical text of the address the request comes from. */
  readonly address: string
  /** The API key or token that was sent; null when there is none. */
  readonly credential: string | null
  /** The organization that the operator names, by its id or slug; null: none. */
  readonly organization: string | null
}

const visitor: Actor = { kind: 'visitor' }

/** The caller of a request, by its socket and headers. */
export function callerOf(request: IncomingMessage, { config }: Pick<Parts, 'config'>): Caller {
  const { authorization, 'x-api-key': apiKey, 'x-forwarded-for': forwardedFor } = request.headers
  const organization = request.headers[ORGANIZATION_HEADER.toLowerCase()]
  const forwarded = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor
  return {
    address: clientAddress(request.socket.remoteAddress, forwarded, config.TRUST_PROXY),
    credential: bearerOf(authorization) ?? (typeof apiKey === 'string' ? apiKey.trim() : null),
    organization: typeof organization === 'string' ? organization.trim() : null,
  }
}

/** The token of an `Authorization` value; null for other schemes, which a proxy in front may use for itself. */
export function bearerOf(authorization: string | null | undefined): string | null {
  return /^(?:bearer +)?(\S+)$/i.exec(authorization?.trim() ?? '')?.[1] ?? null
}

/**
 * The context of a caller.
 * @throws Unauthenticated when a credential was sent that does not hold.
 */
export async function contextOf(
  parts: Parts,
  caller: Caller,
  leaving?: GraphContext['leaving'],
): Promise<GraphContext> {
  const actor = caller.credential === null ? visitor : await authenticate(parts, caller.credential, caller.address)
  const isNamed = actor.kind === 'operator' && caller.organization !== null
  const acting = isNamed ? await actingFor(parts.db, caller.organization) : actor
  return contextAs(acting, parts, caller.address, leaving)
}

/** The context of a caller of whom no more than the address is believed, or of visitors at large. */
export function visitorContext(parts: Parts, caller: Caller | null): GraphContext {
  return contextAs(visitor, parts, caller?.address ?? null)
}

/** Names what it copies: spreading the parts would take as long as the rest of what a check from cache costs us. */
function contextAs(
  actor: Actor,
  { config, db, usage, wrongKeys, checker, eventLog, checks, seal, tools, billing, site, now, log }: Parts,
  clientAddress: string | null,
  leaving?: GraphContext['leaving'],
): GraphContext {
  return {
    config,
    db,
    usage,
    wrongKeys,
    checker,
    eventLog,
    checks,
    seal,
    tools,
    billing,
    site,
    now,
    log,
    actor,
    clientAddress,
    leaving,
  }
}
