import { complexityFromQuery } from '@pothos/plugin-complexity'
import type { ExecutionArgs } from 'graphql'
import { GraphQLError, getOperationAST, Kind } from 'graphql'

/**
 * How much one operation may ask for, over every transport: the complexity plugin weighs it when its first field is
 * resolved. The introspection that GraphiQL sends is 13 levels deep.
 */
export const OPERATION_LIMITS = { complexity: 5000, depth: 15, breadth: 300 }

/** The refusal of an operation that is over a limit, with what it weighs and the limits. */
export function operationTooLarge(kind: string, result: object): GraphQLError {
  return new GraphQLError(`The operation asks for too much: its ${kind.toLowerCase()} is over the limit.`, {
    extensions: { code: 'OPERATION_TOO_LARGE', ...result },
  })
}

/**
 * Why a subscription may not begin, or null. It is weighed by itself, because its first field is resolved only when the
 * first event has come: after its work has begun and been counted.
 */
export function subscriptionRefusal(args: ExecutionArgs): GraphQLError | null {
  const { schema, document, operationName, variableValues, contextValue } = args
  const operation = getOperationAST(document, operationName)
  // The plugin weighs the first operation that it finds.
  const definitions = document.definitions.filter(
    (definition) => definition.kind !== Kind.OPERATION_DEFINITION || definition === operation,
  )
  try {
    const weight = complexityFromQuery(
      { ...document, definitions },
      { schema, ctx: contextValue as object, variables: { ...variableValues } },
    )
    const over = (['complexity', 'depth', 'breadth'] as const).find((kind) => weight[kind] > OPERATION_LIMITS[kind])
    return over === undefined ? null : operationTooLarge(over, weight)
  } catch (error) {
    // Variables that do not fit, which the execution would say as well.
    if (error instanceof GraphQLError) return error
    throw error
  }
}
