import type { ExecutionArgs, GraphQLError } from 'graphql'
import { getOperationAST } from 'graphql'
import type { Context } from '../../core/context.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import type { About, Sizes } from './cost.ts'
import { costOf, MAX_COST, MAX_OBJECTS, operationTooLarge, organizationsOf } from './cost.ts'
import { coerceVariables } from './variables.ts'

/** Reads the largest sizes of the organizations with these ids and slugs, and of those that own these objects. */
export type ReadSizes = (
  db: PrismaClient,
  organizations: {
    readonly ids: readonly string[]
    readonly slugs: readonly string[]
    readonly objects: readonly string[]
  },
) => Promise<Sizes>

/** Returns the error for an operation that is too expensive, or whose variables are invalid; null: it may be executed. */
export type CostCheck = (args: ExecutionArgs) => Promise<GraphQLError | null>

/**
 * Rejects operations by their cost. If the cost exceeds the limit for the largest possible organization, it is computed
 * again with the actual sizes of the organizations involved.
 */
export function createCostCheck(readSizes: ReadSizes): CostCheck {
  return async (args) => {
    const { schema, document, operationName, contextValue } = args
    const operation = getOperationAST(document, operationName)
    if (!operation) return null
    const { values: variables, error } = coerceVariables(args)
    if (error) return error
    // The context that Yoga or the websocket created.
    const ctx = contextValue as Context & { readonly db: PrismaClient }
    const limit = ctx.actor.kind === 'visitor' ? MAX_COST.withoutKey : MAX_COST.withKey
    const options = { schema, document, operation, variables, limit }
    if (costOf(options) <= limit) return null
    const named = organizationsNamed(ctx, organizationsOf(schema, document, operation, variables))
    const sizes = named && (await readSizes(ctx.db, named))
    if (sizes && costOf({ ...options, sizes }) <= limit) return null
    return operationTooLarge(`costs more than ${limit}`, { limit })
  }
}

/** Returns null when an organization is unknown, too many objects are named, or the caller has no organization. */
function organizationsNamed({ actor }: Context, about: readonly About[] | null) {
  if (about === null) return null
  const own = 'organizationId' in actor ? actor.organizationId : undefined
  const isOwnAsked = about.includes('own')
  if (isOwnAsked && own === undefined) return null
  const objects = new Set(about.flatMap((each) => (typeof each === 'object' && 'objects' in each ? each.objects : [])))
  if (objects.size > MAX_OBJECTS) return null
  return {
    ids: isOwnAsked && own !== undefined ? [own] : [],
    slugs: about.flatMap((each) => (typeof each === 'object' && 'slug' in each ? [each.slug] : [])),
    objects: [...objects],
  }
}
