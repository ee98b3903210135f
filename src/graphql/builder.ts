import SchemaBuilder from '@pothos/core'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { seesOrganization } from '../account/access.ts'
import { deletedAmong } from '../account/deletion.ts'
import type { WrongKeys } from '../account/wrong-keys.ts'
import type { BillingContext } from '../billing/context.ts'
import type { CheckContext } from '../blacklist/check.ts'
import { Forbidden, Unauthenticated } from '../errors.ts'
import type { EventLog } from '../eventlog/tail.ts'
import type PrismaTypes from '../generated/pothos-types.ts'
import { getDatamodel } from '../generated/pothos-types.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { Identified } from '../id.ts'
import { typeOfId } from '../id.ts'
import type { Checks } from '../monitoring/checks.ts'
import type { MonitoringContext } from '../monitoring/context.ts'
import { invalid } from '../validate.ts'
import { costs, STATEMENT } from './cost.ts'
import { PAGE } from './keyset.ts'
import { perOperation } from './loader.ts'

/** What every resolver is given. */
export interface GraphContext extends CheckContext, MonitoringContext, BillingContext {
  /** Never a transaction's client: a resolver that writes calls the domain, which opens its own. */
  readonly db: PrismaClient
  readonly eventLog: EventLog
  readonly wrongKeys: WrongKeys
  readonly checks: Checks
}

/** Named, so that the compiler does not expand it at each use. */
export interface SchemaTypes {
  Context: GraphContext
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

/** The one schema builder. It imports no door; doors import it (errors first, for the plugins that wrap resolvers). */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ErrorsPlugin, RelayPlugin, ScopeAuthPlugin, PrismaPlugin],
  defaultFieldNullability: false,
  defaultInputFieldRequiredness: true,
  errors: { directResult: true, defaultTypes: [] },
  relay: {
    clientMutationId: 'omit',
    // Ids are prefixed and the same outside as in the database.
    encodeGlobalID: (_type, id) => String(id),
    decodeGlobalID: readId,
    nodeQueryOptions: {
      description: 'Anything that has an id, as far as the caller may see it.',
      extensions: costs({ itself: STATEMENT }),
      resolve: async (_root, { id }, ctx, _info, resolveNode) => visible(ctx, await resolveNode(id)),
    },
    nodesQueryOptions: {
      description:
        'Several things by their ids, at most 100 at once; null for those that do not exist or that the caller may not see.',
      extensions: costs({ itself: STATEMENT }),
      resolve: async (_root, { ids }, ctx, _info, resolveNodes) => {
        if (ids.length > PAGE.most) throw invalid([{ path: ['ids'], message: `must be at most ${PAGE.most}` }])
        return Promise.all((await resolveNodes(ids)).map(async (node) => visible(ctx, await node)))
      },
    },
  },
  scopeAuth: {
    authScopes: () => ({}),
    authorizeOnSubscribe: true,
    unauthorizedError: (_parent, { actor }) =>
      actor.kind === 'visitor'
        ? new Unauthenticated('UNAUTHENTICATED', 'An API key of the organization is needed.')
        : new Forbidden('FORBIDDEN', 'Your key may not see this.'),
  },
  prisma: {
    client: (ctx) => ctx.db,
    dmmf: getDatamodel(),
  },
})

builder.queryType({ description: 'Everything that can be read.' })
builder.mutationType({ description: 'Everything that changes something.' })
builder.subscriptionType({ description: 'Everything that can be followed live.' })

/** A text that is no id of ours may not reach the database; an empty id is no organization's, so nothing is found. */
function readId(id: string): { typename: string; id: string } {
  const typename = typeOfId(id)
  return typename === null ? { typename: 'Organization', id: '' } : { typename, id }
}

/** A node, with whose it is: an organization's own id, or the id of the one it belongs to. */
interface Owned {
  readonly id: string
  readonly organizationId?: string
}

const organizationSees = ({ actor }: GraphContext, { id, organizationId }: Owned) =>
  seesOrganization(actor, organizationId ?? id)
/** What public pages show; the fields that they do not show are guarded one by one (graphql/owner.ts). */
const everybodySees = () => true

/** Who may see a node that is asked for by its id, by type: a new type cannot go without an answer. */
const seenBy: Record<Identified, (ctx: GraphContext, node: Owned) => boolean> = {
  Organization: organizationSees,
  ApiKey: organizationSees,
  ServiceGroup: everybodySees,
  Service: everybodySees,
  Incident: everybodySees,
  IncidentUpdate: everybodySees,
  Maintenance: everybodySees,
  MaintenanceUpdate: everybodySees,
  Monitor: organizationSees,
  Subscriber: organizationSees,
  Delivery: organizationSees,
}

/** What the caller may not see is answered as what does not exist. */
async function visible(ctx: GraphContext, node: unknown): Promise<unknown> {
  if (!isOwned(node)) return null
  const type = typeOfId(node.id)
  if (type === null || !seenBy[type](ctx, node)) return null
  const owner = node.organizationId ?? node.id
  // The caller's own organization was there a moment ago.
  if (seesOrganization(ctx.actor, owner)) return node
  return (await isDeleted(ctx, owner)) ? null : node
}

const isDeleted = perOperation<string, boolean>(async (ctx, ids) => {
  const deleted = await deletedAmong(ctx, ids)
  return ids.map((id) => deleted.has(id))
})

/** Every node is an organization or belongs to one. */
function isOwned(node: unknown): node is Owned {
  return typeof node === 'object' && node !== null && 'id' in node && typeof node.id === 'string'
}
