import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { isObjectType } from 'graphql'
import type { Page } from '../../account/page/page.ts'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import type { Path } from '../../graphql/subscription/path-value.ts'
import { countedUptime, createPathValue } from '../../graphql/subscription/path-value.ts'
import { shows } from '../page-scope.ts'

/** The page under which each part of a result is read. */
const pages = createPathValue<Page>()

/** Limits the parts of a result below a field to a page. */
export function below(path: Path, page: Page): void {
  if (page.serviceIds !== null || !page.isFirst) pages.set(path, page)
  if (!page.isFirst) countedUptime.set(path, page.uptimeSource)
}

/** Returns the page under which a part of a result is read; null: none, or a first page that shows all services. */
export function pageAbove(path: Path): Page | null {
  return pages.above(path)
}

/** Lists of services, by type. */
const lists = ['ServiceGroup', 'Incident', 'IncidentUpdate', 'Maintenance']

/** Returns the services that a caller may see of an object that was not reached from a page; null: all. */
type SeenServices = (ctx: GraphContext, thing: unknown) => Promise<readonly string[] | null>

/** Removes the services that a page does not show: the page above, or the one that shows the requested object. */
export function narrowToPages(schema: GraphQLSchema, servicesSeenOf: SeenServices): GraphQLSchema {
  for (const name of lists) {
    const type = schema.getType(name)
    const field = isObjectType(type) ? type.getFields()['services'] : undefined
    if (field === undefined) throw new Error(`${name} has no services.`)
    field.resolve = narrowed(field.resolve ?? (() => null), servicesSeenOf)
  }
  return schema
}

type Resolve = GraphQLFieldResolver<unknown, GraphContext>

function narrowed(resolve: Resolve, servicesSeenOf: SeenServices): Resolve {
  return async (parent, args, ctx, info) => {
    const found: unknown = await resolve(parent, args, ctx, info)
    const page = pageAbove(info.path)
    if (!Array.isArray(found)) return found
    const serviceIds = page ? page.serviceIds : await servicesSeenOf(ctx, parent)
    if (serviceIds === null) return found
    return found.filter((each: unknown) => isService(each) && shows({ serviceIds }, each.serviceId ?? each.id ?? ''))
  }
}

/** A service, or a row that refers to one. */
function isService(value: unknown): value is { readonly id?: string; readonly serviceId?: string } {
  return typeof value === 'object' && value !== null
}
