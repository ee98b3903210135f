import SchemaBuilder from '@pothos/core'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { Forbidden, Unauthenticated } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { graphqlLimits } from '../../core/input-limits.ts'
import { invalid } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { EventLog } from '../../event-log/tail.ts'
import type PrismaTypes from '../../generated/pothos-types.ts'
import { getDatamodel } from '../../generated/pothos-types.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { costs, STATEMENT_COST } from '../document/cost.ts'
import { PAGE_SIZE } from '../document/page-size.ts'

/** The context of every resolver. */
export interface GraphContext extends ChangeContext {
  /** Never a transaction's client: a resolver that writes calls a domain function, which opens its own transaction. */
  readonly db: PrismaClient
  readonly eventLog: EventLog
  /** Collects what the response shows, if it may be cached. */
  readonly shown?: Shown
}

/** The content of a response, for the answer cache. */
export interface Shown {
  /** The organizations whose data root fields have read; null: one that does not exist. */
  readonly organizationIds: Set<string | null>
  /** Whether it contains a private page, so that the answer depends on the caller. */
  isPrivate: boolean
  /** Whether an error removed a part of the answer. */
  isPartial: boolean
}

/** The context of the resolvers of a room that needs more than the others. */
export type RoomContext<Needs> = GraphContext & Omit<Needs, keyof GraphContext>

/** An interface, so that the compiler does not expand it at each use. */
export interface SchemaTypes<C extends GraphContext = GraphContext> {
  Context: C
  PrismaTypes: PrismaTypes
  DefaultFieldNullability: false
  DefaultInputFieldRequiredness: true
  AuthScopes: Record<never, never>
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JsonValue: { Input: string | number | boolean; Output: string | number | boolean }
    StatusRange: { Input: string; Output: string }
  }
}

/**
 * The schema builder. It imports no feature; features import it. The errors plugin comes first, because it wraps
 * resolvers.
 */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ErrorsPlugin, RelayPlugin, ScopeAuthPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  defaultInputFieldRequiredness: true,
  errors: { directResult: true, defaultTypes: [] },
  relay: {
    clientMutationId: 'omit',
    // Ids have a type prefix and are the same in the API as in the database.
    encodeGlobalID: (_type, id) => String(id),
    decodeGlobalID: parseId,
    nodeQueryOptions: {
      description: 'Returns the object with this id. Null if it does not exist or the caller may not see it.',
      extensions: costs({ itself: STATEMENT_COST, about: ({ id }) => ({ objects: [String(id)] }) }),
    },
    nodesQueryOptions: {
      description:
        'Returns the objects with these ids, at most 100. Null for an object that does not exist or that the caller may not see.',
      extensions: costs({
        itself: STATEMENT_COST,
        items: ({ ids }) => (Array.isArray(ids) ? ids.length : 0),
        each: STATEMENT_COST,
        about: ({ ids }) => ({ objects: Array.isArray(ids) ? ids.map(String) : [] }),
      }),
      resolve: (_root, { ids }, _ctx, _info, resolveNodes) => {
        if (ids.length > PAGE_SIZE.max)
          throw invalid([{ path: ['ids'], message: `must have at most ${PAGE_SIZE.max} items` }])
        return resolveNodes(ids)
      },
    },
  },
  scopeAuth: {
    authScopes: () => ({}),
    authorizeOnSubscribe: true,
    unauthorizedError: (_parent, { actor }) =>
      actor.kind === 'visitor'
        ? new Unauthenticated('UNAUTHENTICATED', 'Send an API key of the organization.')
        : new Forbidden('FORBIDDEN', 'Your key or role does not permit this.'),
  },
  prisma: {
    client: (ctx) => ctx.db,
    dmmf: getDatamodel(),
  },
})

/** The caps on what a caller sends, as a sentence. */
const sizeLimits = `Size limits: ${Object.values(graphqlLimits)
  .map(({ most, unit, what }) => `${what}, ${most} ${unit}`)
  .join('; ')}.`

type Builder<C extends GraphContext> = PothosSchemaTypes.SchemaBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes<C>>
>

/**
 * Returns the builder for a room whose resolvers need more than every context has. `app/request-context.ts` provides
 * what all rooms need, which `test/architecture.test.ts` asserts.
 */
export function builderFor<Needs>(): Builder<RoomContext<Needs>> {
  // One builder collects all types. A resolver gets the context of `app`, which has what each room needs.
  return builder as never
}

builder.queryType({ description: `The root of all queries. ${sizeLimits}` })
builder.mutationType({ description: `The root of all mutations. ${sizeLimits}` })
builder.subscriptionType({ description: `The root of all subscriptions. ${sizeLimits}` })

/** Invalid ids must not reach the database; an empty id matches no organization. */
function parseId(id: string): { typename: string; id: string } {
  const typename = typeOfId(id)
  return typename === null ? { typename: 'Organization', id: '' } : { typename, id }
}
