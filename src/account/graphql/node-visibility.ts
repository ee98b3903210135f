import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { canReadOrganization } from '../../core/access.ts'
import type { IdType } from '../../core/id.ts'
import { typeOfId } from '../../core/id.ts'
import type { GraphContext } from '../../graphql/builder.ts'
import { batchPerOperation } from '../../graphql/loader.ts'
import { deletedAmong } from '../deletion.ts'

/** Answers `node` and `nodes` with null for what the caller may not see. */
export function hideNodes(schema: GraphQLSchema): GraphQLSchema {
  const { node, nodes } = schema.getQueryType()?.getFields() ?? {}
  if (node?.resolve) node.resolve = visibleOnly(node.resolve)
  if (nodes?.resolve) nodes.resolve = visibleOnly(nodes.resolve)
  return schema
}

type Resolve = GraphQLFieldResolver<unknown, GraphContext>

function visibleOnly(resolve: Resolve): Resolve {
  return async (root, args, ctx, info) => {
    const found: unknown = await resolve(root, args, ctx, info)
    const { id, ids } = args as { readonly id: string; readonly ids: readonly string[] }
    if (!Array.isArray(found)) return visible(ctx, id, found)
    return Promise.all(found.map(async (node: unknown, index) => visible(ctx, ids[index] ?? '', await node)))
  }
}

/** A node, with whose it is: an organization's own id (a page is read as its organization), or the id of the one it belongs to. */
interface Owned {
  readonly id: string
  readonly organizationId?: string
}

const organizationSees = ({ actor }: GraphContext, { id, organizationId }: Owned) =>
  canReadOrganization(actor, organizationId ?? id)
/** What public pages show; the fields that they do not show are guarded one by one (graphql/owner-only.ts). */
const everybodySees = () => true

/** Who may see a node that is asked for by its id, by type: a new type cannot go without an answer. */
const seenBy: Record<IdType, (ctx: GraphContext, node: Owned) => boolean> = {
  Organization: organizationSees,
  StatusPage: everybodySees,
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
async function visible(ctx: GraphContext, id: string, node: unknown): Promise<unknown> {
  if (!isOwned(node)) return null
  const type = typeOfId(id)
  if (type === null || !seenBy[type](ctx, node)) return null
  const owner = node.organizationId ?? node.id
  // The caller's own organization was there a moment ago.
  if (canReadOrganization(ctx.actor, owner)) return node
  return (await isDeleted(ctx, owner)) ? null : node
}

const isDeleted = batchPerOperation<string, boolean>(async (ctx, ids) => {
  const deleted = await deletedAmong(ctx, ids)
  return ids.map((id) => deleted.has(id))
})

/** Every node is an organization or belongs to one. */
function isOwned(node: unknown): node is Owned {
  return typeof node === 'object' && node !== null && 'id' in node && typeof node.id === 'string'
}
