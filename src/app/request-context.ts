import { authenticate } from '../account/api-key/authenticate.ts'
import type { WrongKeys } from '../account/api-key/wrong-keys.ts'
import { actorFor } from '../account/on-behalf-of.ts'
import type { PageKeys } from '../account/page/page-guard.ts'
import { PAGE_TOKEN_PREFIX } from '../account/page/page-guard.ts'
import { renameOwner } from '../core/concurrency/owner.ts'
import type { Actor } from '../core/context.ts'
import type { GraphContext } from '../graphql/schema/builder.ts'
import type { Caller } from '../http/request/caller.ts'
import { routeOf } from '../http/request/caller.ts'
import { userOfSession } from '../people/session.ts'

/** The dependencies of a request context, and those of authentication. */
export interface Dependencies extends Omit<GraphContext, 'actor' | 'clientAddress' | 'cancellation' | 'route'> {
  readonly wrongKeys: WrongKeys
}

const visitor: Actor = { kind: 'visitor' }

const isOperator = (actor: Actor) => actor.kind === 'operator' || (actor.kind === 'user' && actor.isOperator)

/**
 * Creates the context of a caller.
 * @throws Unauthenticated when the credential is invalid.
 */
export async function contextOf(
  dependencies: Dependencies,
  caller: Caller,
  cancellation?: GraphContext['cancellation'],
): Promise<GraphContext> {
  const actor = await actorOf(dependencies, caller)
  const acting = caller.organization === null ? actor : await actorFor(dependencies.db, actor, caller.organization)
  const owner = ownerOf(acting)
  if (owner !== null) renameOwner(owner)
  return contextAs(acting, dependencies, caller, cancellation, pageKeysOf(caller))
}

/** Returns the organization or person on whose behalf an actor acts; null: any visitor, whose network is known already. */
function ownerOf(actor: Actor): string | null {
  if (actor.kind === 'visitor' || actor.kind === 'system') return null
  return actor.organizationId ?? (actor.kind === 'apiKey' ? null : (actor.userId ?? null))
}

async function actorOf(dependencies: Dependencies, { credential, address, session }: Caller): Promise<Actor> {
  // A read token opens a page; it is not an API key.
  if (credential?.startsWith(PAGE_TOKEN_PREFIX)) return visitor
  if (credential !== null) return authenticate(dependencies, credential, address)
  const user = session === undefined ? null : await userOfSession(dependencies, session)
  if (user === null) return visitor
  const [only, ...others] = user.memberships.keys()
  return only === undefined || others.length > 0 ? user : { ...user, organizationId: only }
}

function pageKeysOf({ credential, pageCookies, isCrossSite = false }: Caller): PageKeys {
  return { token: credential, cookies: pageCookies ?? new Map(), isCrossSite }
}

/** Creates a visitor's context, which ignores credentials; without a caller, that of all visitors. */
export function visitorContext(dependencies: Dependencies, caller: Caller | null): GraphContext {
  return contextAs(visitor, dependencies, caller)
}

/** Copies members by name: spreading the dependencies would take as long as the rest of a cached check. */
function contextAs(
  actor: Actor,
  {
    config,
    db,
    knownKeys,
    knownSessions,
    pageGuard,
    onChanged,
    usage,
    checker,
    eventLog,
    resultFeed,
    seal,
    sendMail,
    mailer,
    tools,
    privateTargets,
    billing,
    backups,
    configurationFile,
    diagnosis,
    site,
    pages,
    now,
    log,
  }: Dependencies,
  caller: Caller | null,
  cancellation?: GraphContext['cancellation'],
  pageKeys?: PageKeys,
): GraphContext {
  return {
    config,
    db,
    knownKeys,
    knownSessions,
    pageGuard,
    onChanged,
    usage,
    checker,
    eventLog,
    resultFeed,
    seal,
    sendMail,
    mailer,
    tools,
    privateTargets,
    billing,
    backups,
    configurationFile,
    diagnosis,
    site,
    pages,
    now,
    log,
    actor,
    clientAddress: caller?.address ?? null,
    accessAddress: caller?.accessAddress,
    cancellation,
    pageKeys,
    // Only the operator, who may examine the service, needs it.
    ...(isOperator(actor) && caller?.request && { route: routeOf(caller.request, caller.address) }),
  }
}
