import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { defaultFieldResolver, isObjectType } from 'graphql'
import { canReadOrganization } from '../../core/access.ts'
import { NotFound } from '../../core/errors.ts'
import type { IdType } from '../../core/id.ts'
import { typeOfId } from '../../core/id.ts'
import { ownValue } from '../../core/own-value.ts'
import type { IncidentVisibility } from '../../generated/prisma/enums.ts'
import { batchPerOperation } from '../../graphql/execution/loader.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { deletedAmong } from '../organization/deletion.ts'
import type { GuardedPage, PageName, PageReader } from '../page/page-guard.ts'
import { pageShowing, publicUpdateIds, requirePage, requireThing } from '../page/page-guard.ts'

/** Makes `node` and `nodes` return null for objects that the caller may not see. */
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

/** A node and its owner: it is an organization (a page is loaded as its organization), or it has the id of its organization. */
interface Owned {
  readonly id: string
  readonly organizationId?: string
  /** The visibility of an incident; absent on other types. */
  readonly visibility?: IncidentVisibility
}

const organizationSees = ({ actor }: GraphContext, { id, organizationId }: Owned) =>
  canReadOrganization(actor, organizationId ?? id)
/** Marks types that pages show to readers. graphql/schema/owner-only.ts guards their fields that pages do not show. */
const readersSee = 'readers'

/** The rule of each type for access to a node that is requested by its id. A new type does not compile without a rule. */
const seenBy: Record<IdType, ((ctx: GraphContext, node: Owned) => boolean) | typeof readersSee> = {
  Organization: organizationSees,
  StatusPage: readersSee,
  ApiKey: organizationSees,
  ServiceGroup: readersSee,
  Service: readersSee,
  Incident: readersSee,
  IncidentUpdate: readersSee,
  Maintenance: readersSee,
  MaintenanceUpdate: readersSee,
  MaintenanceSeries: organizationSees,
  Monitor: organizationSees,
  Subscriber: organizationSees,
  Delivery: organizationSees,
  AlertChannel: organizationSees,
  Alert: organizationSees,
  Objective: organizationSees,
  UptimeCorrection: organizationSees,
}

/** Returns a node, or null if the caller may not see it, as if it did not exist. */
async function visible(ctx: GraphContext, id: string, node: unknown): Promise<unknown> {
  if (!isOwned(node) || isHidden(ctx, node)) return null
  const type = typeOfId(id)
  const sees = type === null ? null : seenBy[type]
  if (sees === null || (sees !== readersSee && !sees(ctx, node))) return null
  const owner = node.organizationId ?? node.id
  // The caller's own organization existed when the caller was authenticated.
  if (canReadOrganization(ctx.actor, owner)) return node
  if (sees === readersSee) {
    await requireReader(ctx, node)
    if (type !== 'StatusPage' && !(await isOnPage(ctx, node))) return null
  }
  return (await isDeleted(ctx, owner)) ? null : node
}

const isDeleted = batchPerOperation<string, boolean>(async (ctx, ids) => {
  const deleted = await deletedAmong(ctx, ids)
  return ids.map((id) => deleted.has(id))
})

/** Returns whether a page shows an object that is requested by its id. */
async function isOnPage(ctx: GraphContext, node: Owned): Promise<boolean> {
  if (typeOfId(node.id) === 'IncidentUpdate' && !(await isOfPublicIncident(ctx, node.id))) return false
  return (await pageOf(ctx, node)) !== null
}

/** Returns whether only its organization can see an object, and the caller does not belong to it. */
const isHidden = ({ actor }: GraphContext, { organizationId, visibility = 'PUBLIC' }: Owned) =>
  visibility !== 'PUBLIC' && !canReadOrganization(actor, organizationId ?? '')

const isOfPublicIncident = batchPerOperation<string, boolean>(async ({ db }, ids) => {
  const found = await publicUpdateIds(db, ids)
  return ids.map((id) => found.has(id))
})

/** Every node is an organization or belongs to one. */
function isOwned(node: unknown): node is Owned {
  return typeof node === 'object' && node !== null && 'id' in node && typeof node.id === 'string'
}

/** The root fields that take the name of a page. Root fields of subscriptions are guarded where they follow the page's log. */
const pageRootFields: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => PageName>> = {
  statusPage: ({ slug }) => ({ slug: String(slug) }),
  subscribe: ({ input, slug }) => ({ slug: String(Object(input).slug ?? slug) }),
}

/**
 * Guards the content of pages: the root fields that take the name of a page, and every field of the types marked `readersSee`
 * above, regardless of the path that leads to them.
 */
export function guardPages(schema: GraphQLSchema): GraphQLSchema {
  for (const [name, sees] of Object.entries(seenBy)) {
    const type = schema.getType(name)
    if (sees !== readersSee || !isObjectType(type)) continue
    for (const field of Object.values(type.getFields()))
      field.resolve = readersOnly(field.resolve ?? defaultFieldResolver)
  }
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const nameOf = ownValue(pageRootFields, field.name)
      const resolve = field.resolve
      if (!nameOf || !resolve) continue
      field.resolve = async (source, args, ctx, info) => {
        await marking(ctx, requirePage(ctx, nameOf(args)))
        return resolve(source, args, ctx, info)
      }
    }
  }
  return schema
}

/** The ids of the objects that the caller may read, as found during an operation. */
const readable = new WeakMap<GraphContext, Set<string>>()

function readersOnly(
  resolve: GraphQLFieldResolver<unknown, GraphContext>,
): GraphQLFieldResolver<unknown, GraphContext> {
  return (source, args, ctx, info) => {
    const go = () => resolve(source, args, ctx, info)
    // An object without an owner is built from guarded objects.
    if (!isOwned(source)) return go()
    if (readable.get(ctx)?.has(source.id) || canReadOrganization(ctx.actor, source.organizationId ?? source.id))
      return go()
    return requireReader(ctx, source).then(go)
  }
}

/** @throws Unauthenticated when all pages that show an object are private to the caller. */
async function requireReader(ctx: GraphContext & PageReader, node: Owned): Promise<void> {
  const { organizationId, ...thing } = node
  // No path leads to a hidden object today. The check protects future changes.
  if (isHidden(ctx, node)) throw new NotFound('Incident not found.')
  // Only organizations have no organizationId.
  if (organizationId === undefined) return
  const isPage = typeOfId(thing.id) === 'StatusPage'
  await marking(ctx, isPage ? requirePage(ctx, { pageId: thing.id }) : requireThing(ctx, { ...thing, organizationId }))
  const known = readable.get(ctx) ?? new Set()
  readable.set(ctx, known.add(thing.id))
}

/** The page on which the caller sees an object requested by its id, by operation. */
const seenOn = new WeakMap<GraphContext, Map<string, Promise<GuardedPage | null>>>()

/** Returns the page that limits an object requested by its id (`pageShowing`); null: no page shows it. */
function pageOf(ctx: GraphContext & PageReader, { organizationId = '', ...thing }: Owned): Promise<GuardedPage | null> {
  const known = seenOn.get(ctx) ?? new Map<string, Promise<GuardedPage | null>>()
  seenOn.set(ctx, known)
  const page = known.get(thing.id) ?? pageShowing(ctx, { ...thing, organizationId }).then((pass) => pass?.page ?? null)
  known.set(thing.id, page)
  return page
}

/**
 * Returns the services that a caller may see of an object that was not reached through a page; null: all.
 * @throws Unauthenticated when only private pages show it.
 */
export async function servicesSeenOf(ctx: GraphContext, thing: unknown): Promise<readonly string[] | null> {
  if (!isOwned(thing) || thing.organizationId === undefined) return null
  if (canReadOrganization(ctx.actor, thing.organizationId)) return null
  const page = await pageOf(ctx, thing)
  return page === null ? [] : page.serviceIds
}

/** Marks the response as private if the caller is refused, because it then depends on the caller and must not be cached. */
async function marking(ctx: GraphContext, required: Promise<unknown>): Promise<void> {
  try {
    await required
  } catch (error) {
    if (ctx.shown) ctx.shown.isPrivate = true
    throw error
  }
}
