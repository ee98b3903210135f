import { authenticate } from '../account/authenticate.ts'
import { operatorFor } from '../account/on-behalf-of.ts'
import type { WrongKeys } from '../account/wrong-keys.ts'
import type { Actor } from '../core/context.ts'
import type { GraphContext } from '../graphql/builder.ts'
import type { Caller } from '../http/caller.ts'

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
  const actor =
    caller.credential === null ? visitor : await authenticate(dependencies, caller.credential, caller.address)
  const isNamed = actor.kind === 'operator' && caller.organization !== null
  const acting = isNamed ? await operatorFor(dependencies.db, caller.organization) : actor
  return contextAs(acting, dependencies, caller.address, cancellation)
}

/** Creates a visitor's context, which ignores credentials; without a caller, that of all visitors. */
export function visitorContext(dependencies: Dependencies, caller: Caller | null): GraphContext {
  return contextAs(visitor, dependencies, caller?.address ?? null)
}

/** Copies members by name: spreading the dependencies would take as long as the rest of a cached check. */
function contextAs(
  actor: Actor,
  { config, db, knownKeys, usage, checker, eventLog, resultFeed, seal, tools, billing, site, now, log }: Dependencies,
  clientAddress: string | null,
  cancellation?: GraphContext['cancellation'],
): GraphContext {
  return {
    config,
    db,
    knownKeys,
    usage,
    checker,
    eventLog,
    resultFeed,
    seal,
    tools,
    billing,
    site,
    now,
    log,
    actor,
    clientAddress,
    cancellation,
  }
}
