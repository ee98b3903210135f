/** Answers introspection in its own thread: the queries of tools take hundreds of milliseconds. */
import { readFileSync } from 'node:fs'
import { buildSchema, execute, getOperationAST, parse } from 'graphql'
import { root } from '../../core/process/paths.ts'
import { answerTasks } from '../../core/thread/task-worker.ts'
import { costOf, INTROSPECTION_FIELD_COST } from './cost.ts'
import type { IntrospectionRequest, IntrospectionResult } from './introspection.ts'
import { coerceVariables } from './variables.ts'

/** The maximum number of fields in a result; tools request about 16,000. */
const MAX_FIELDS = 40_000
/** The maximum length of a result, in characters; tools get about 400,000. */
const MAX_RESULT_LENGTH = 4 * 1024 * 1024

// The file equals the schema in code, which a test asserts, and loads faster.
const schema = buildSchema(readFileSync(new URL('schema.graphql', root), 'utf8'), {
  assumeValid: true,
  noLocation: true,
})

answerTasks(({ source, operationName, variables }: IntrospectionRequest): IntrospectionResult => {
  const document = parse(source, { noLocation: true })
  const operation = getOperationAST(document, operationName)
  const { values } = coerceVariables({ schema, document, operationName, variableValues: variables })
  if (!operation || !values) return { kind: 'failed' }
  const limit = MAX_FIELDS * INTROSPECTION_FIELD_COST
  if (costOf({ schema, document, operation, variables: values, limit }) > limit) return { kind: 'operationTooLarge' }
  const result = execute({ schema, document, operationName, variableValues: variables })
  if (result instanceof Promise || result.errors) return { kind: 'failed' }
  const text = JSON.stringify(result)
  return text.length > MAX_RESULT_LENGTH ? { kind: 'operationTooLarge' } : { kind: 'answer', text }
})
