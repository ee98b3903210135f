import type { GraphQLErrorOptions } from 'graphql'
import { GraphQLError } from 'graphql'

/**
 * Creates the error for a request that cannot be executed: HTTP 400, or 200 for `application/json`, where the status
 * does not reflect a well-formed GraphQL response (GraphQL over HTTP §6.4; Yoga's `spec` selects this).
 */
export function requestError(
  code: string,
  message: string,
  { extensions, ...place }: Omit<GraphQLErrorOptions, 'originalError'> = {},
): GraphQLError {
  return new GraphQLError(message, { ...place, extensions: { code, ...extensions, http: { status: 400, spec: true } } })
}

/** Returns an error without its `extensions.http`, which is not for callers. */
export function withoutHttp(error: GraphQLError): GraphQLError {
  const { http, ...extensions } = error.extensions
  if (http === undefined) return error
  const { message, nodes, source, positions, path } = error
  return new GraphQLError(message, { nodes, source, positions, path, extensions })
}
