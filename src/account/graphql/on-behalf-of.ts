import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import type { GraphContext } from '../../graphql/schema/builder.ts'
import { actingFor, organizationIn } from '../on-behalf-of.ts'

/**
 * Lets the operator, and people with several organizations, act for an organization without naming it in the request. It is the
 * organization to which the ids in the arguments of the mutation or subscription belong.
 */
export function letOperatorAct(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    if (field.resolve) field.resolve = acting(field.resolve)
  }
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    if (field.subscribe) field.subscribe = acting(field.subscribe)
  }
  return schema
}

type Resolve = GraphQLFieldResolver<unknown, GraphContext>

function acting(resolve: Resolve): Resolve {
  return (root, args, ctx, info) => {
    const { actor, db } = ctx
    const mayChoose = actor.kind === 'operator' || actor.kind === 'user'
    if (!mayChoose || actor.organizationId !== undefined) return resolve(root, args, ctx, info)
    return organizationIn(db, args).then((organizationId) => {
      const acting = organizationId === null ? null : actingFor(actor, organizationId)
      return resolve(root, args, acting === null ? ctx : { ...ctx, actor: acting }, info)
    })
  }
}
