import { authenticate } from '../account/authenticate.ts'
import { actorFor } from '../account/on-behalf-of.ts'
import type { PageKeys } from '../account/page-guard.ts'
import { PAGE_TOKEN_PREFIX } from '../account/page-guard.ts'
import type { WrongKeys } from '../account/wrong-keys.ts'
import type { Actor } from '../core/context.ts'
import type { GraphContext } from '../graphql/builder.ts'
import type { Caller } from '../http/caller.ts'
import { userOfSession } from '../people/session.ts'

/** The dependencies of a request context, and those of authentication. */
export interface Dependencies extends Omit<GraphContext, 'actor' | 'clientAddress' | 'cancellation'> {
  readonly wrongKeys: WrongKeys
}

const visitor: Actor = { kind: 'visitor' }

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
  return contextAs(acting, dependencies, caller.address, cancellation, pageKeysOf(caller))
}

async function actorOf(dependencies: Dependencies, { credential, address, session }: Caller): Promise<Actor> {
  // A read token opens a page, and is nobody's key.
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
  return contextAs(visitor, dependencies, caller?.address ?? null)
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
    usage,
    checker,
    eventLog,
    resultFeed,
    seal,
    sendMail,
    mailer,
    tools,
    billing,
    backups,
    configurationFile,
    site,
    pages,
    now,
    log,
  }: Dependencies,
  clientAddress: string | null,
  cancellation?: GraphContext['cancellation'],
  pageKeys?: PageKeys,
): GraphContext {
  return {
    config,
    db,
    knownKeys,
    knownSessions,
    pageGuard,
    usage,
    checker,
    eventLog,
    resultFeed,
    seal,
    sendMail,
    mailer,
    tools,
    billing,
    backups,
    configurationFile,
    site,
    pages,
    now,
    log,
    actor,
    clientAddress,
    cancellation,
    pageKeys,
  }
}
