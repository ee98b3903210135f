import { authenticate } from '../account/api-key/authenticate.ts'
import type { WrongKeys } from '../account/api-key/wrong-keys.ts'
import type { AccountNeeds } from '../account/graphql/builder.ts'
import { actorFor } from '../account/on-behalf-of.ts'
import type { PageKeys } from '../account/page/page-guard.ts'
import { PAGE_TOKEN_PREFIX } from '../account/page/page-guard.ts'
import type { AlertingContext } from '../alerting/context.ts'
import type { BillingNeeds } from '../billing/graphql/builder.ts'
import type { CheckContext } from '../blacklist/check.ts'
import type { ConsoleContext } from '../console/html/frame/context.ts'
import { renameOwner } from '../core/concurrency/owner.ts'
import type { Actor } from '../core/context.ts'
import type { DiagnosisContext } from '../diagnosis/context.ts'
import type { RoomContext } from '../graphql/schema/builder.ts'
import type { Caller } from '../http/request/caller.ts'
import { routeOf } from '../http/request/caller.ts'
import type { IntegrationContext } from '../integration/integration.ts'
import type { MonitoringNeeds } from '../monitoring/graphql/builder.ts'
import type { NotificationContext } from '../notification/context.ts'
import type { PeopleContext } from '../people/context.ts'
import { userOfSession } from '../people/session.ts'
import type { StatusNeeds } from '../status/graphql/builder.ts'
import type { StatusPageNeeds } from '../status-page/graphql/builder.ts'

/** What all rooms need to answer a request. */
type Needs = AccountNeeds &
  PeopleContext &
  CheckContext &
  StatusNeeds &
  MonitoringNeeds &
  NotificationContext &
  AlertingContext &
  IntegrationContext &
  BillingNeeds &
  StatusPageNeeds &
  DiagnosisContext &
  ConsoleContext

/** The context of a request, for every resolver, handler and screen. */
export interface RequestContext extends RoomContext<Needs> {}

/** What only the transactions and operations of a request add. */
type InTransactions = 'claim' | 'afterwards' | 'open' | 'appliesFile' | 'shown' | 'device'

/** What a request brings itself. */
type OfRequest = 'actor' | 'clientAddress' | 'accessAddress' | 'cancellation' | 'pageKeys' | 'route'

/** The dependencies of a request context, and those of authentication. */
export interface Dependencies extends Omit<RequestContext, OfRequest | InTransactions> {
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
  cancellation?: RequestContext['cancellation'],
): Promise<RequestContext> {
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
export function visitorContext(dependencies: Dependencies, caller: Caller | null): RequestContext {
  return contextAs(visitor, dependencies, caller)
}

/** Every member, so that none is forgotten. */
type Complete<T> = { readonly [M in keyof Required<T>]: M extends keyof T ? T[M] : never }

/** Copies members by name: spreading the dependencies would take as long as the rest of a cached check. */
function contextAs(
  actor: Actor,
  given: Dependencies,
  caller: Caller | null,
  cancellation?: RequestContext['cancellation'],
  pageKeys?: PageKeys,
): RequestContext {
  const context: Complete<Omit<RequestContext, InTransactions>> = {
    actor,
    clientAddress: caller?.address ?? null,
    accessAddress: caller?.accessAddress,
    cancellation,
    pageKeys,
    // Only the operator, who may examine the service, needs it.
    route: isOperator(actor) && caller?.request ? routeOf(caller.request, caller.address) : undefined,
    config: given.config,
    db: given.db,
    now: given.now,
    log: given.log,
    eventLog: given.eventLog,
    onChanged: given.onChanged,
    knownKeys: given.knownKeys,
    knownSessions: given.knownSessions,
    pageGuard: given.pageGuard,
    privateTargets: given.privateTargets,
    seal: given.seal,
    usage: given.usage,
    site: given.site,
    sendMail: given.sendMail,
    mailer: given.mailer,
    checker: given.checker,
    tools: given.tools,
    resultFeed: given.resultFeed,
    pages: given.pages,
    billing: given.billing,
    diagnosis: given.diagnosis,
    backups: given.backups,
    configurationFile: given.configurationFile,
  }
  return context
}
