import type { ExecutionArgs } from 'graphql'
import { getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { SpanAttributes, Tracer } from '../../core/telemetry/tracing.ts'

/** The maximum length of an operation's name in a span, because callers choose it. */
const MAX_NAME_LENGTH = 100

/** Returns the attributes of an operation's span: its type and name, never its text or variables. */
export function operationAttributes({ document, operationName }: Pick<ExecutionArgs, 'document' | 'operationName'>) {
  const operation = getOperationAST(document, operationName)
  const type = operation?.operation ?? 'query'
  const name = operation?.name?.value.slice(0, MAX_NAME_LENGTH)
  const attributes: SpanAttributes = {
    'graphql.operation.type': type,
    ...(name !== undefined && { 'graphql.operation.name': name }),
  }
  return { name: `graphql ${type}`, attributes }
}

/** Adds the operation to the span of its request. */
export function operationSpans(tracer: Pick<Tracer, 'current'>): Plugin {
  const describe = ({ args }: { readonly args: ExecutionArgs }) => {
    const span = tracer.current()
    if (span) span.set(operationAttributes(args).attributes)
  }
  return { onExecute: describe, onSubscribe: describe }
}
