import type { ExecutionArgs, GraphQLError, OperationDefinitionNode } from 'graphql'
import { getOperationAST, getVariableValues } from 'graphql'
import { graphqlLimits } from '../../core/input-limits.ts'
import { unstorable } from '../../core/storable-text.ts'
import { truncate } from '../../core/truncate.ts'
import { requestError } from './request-error.ts'

const MAX_MEMBERS = graphqlLimits.variableMembers.most
const MAX_WIDTH = graphqlLimits.variableWidth.most
const MAX_DEPTH = graphqlLimits.variableDepth.most
const MAX_NAME_LENGTH = graphqlLimits.variableName.most

/** The variables of an operation in the types of the schema, or why they are refused. */
type CoercedVariables =
  | { readonly values: Readonly<Record<string, unknown>>; readonly error?: undefined }
  | { readonly values?: undefined; readonly error: GraphQLError }

/** The operations and variables that decide about the values. */
type Given = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>

/** The results by operation and variables, because sharing, costs and their organizations all need them. */
const known = new WeakMap<OperationDefinitionNode, WeakMap<object, CoercedVariables>>()
const noVariables = {}

/**
 * Coerces the variables of an operation, once for all who ask. Weighs them first: coercion takes time for each field of
 * an input's type, also for an empty object. Stops at the first error, without suggestions, whose time grows with the
 * product of names given and names known.
 */
export function coerceVariables({ schema, document, operationName, variableValues }: Given): CoercedVariables {
  const operation = getOperationAST(document, operationName)
  // Execution reports this.
  if (!operation) return { values: {} }
  const given = variableValues ?? noVariables
  const results = known.get(operation) ?? new WeakMap<object, CoercedVariables>()
  known.set(operation, results)
  const found = results.get(given)
  if (found) return found
  const result = coerce(schema, operation, given)
  results.set(given, result)
  return result
}

function coerce(
  schema: ExecutionArgs['schema'],
  operation: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): CoercedVariables {
  const refusal = weighVariables(given)
  if (refusal) return { error: refusal }
  const options = { maxErrors: 1, hideSuggestions: true }
  const { coerced, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], given, options)
  if (coerced) return { values: coerced }
  const [error] = errors ?? []
  return { error: requestError('BAD_USER_INPUT', shortened(error?.message ?? ''), { nodes: error?.nodes }) }
}

/** The characters of a message's beginning and end that are kept: the end says what is wrong. */
const KEPT = 400

/** Shortens a message that quotes a value. */
function shortened(message: string): string {
  if (message.length <= 2 * KEPT) return message
  return `${truncate(message, KEPT)}${message.slice(-KEPT).toWellFormed()}`
}

/** A value that needs a look, and where it is. */
interface Place {
  readonly value: string | object
  readonly depth: number
  /** The name or the index of the value in its parent; null: all variables. */
  readonly key: string | number | null
  readonly parent: Place | null
}

/**
 * Returns the error for variables that are too large, or contain a text that cannot be stored; null: neither. Takes
 * time in proportion to their size, whatever their types, and reads no part of an object or a list that is too large or
 * too deep.
 */
export function weighVariables(variables: Readonly<Record<string, unknown>>): GraphQLError | null {
  const waiting: Place[] = [{ value: variables, depth: 0, key: null, parent: null }]
  let members = 0
  for (let place = waiting.pop(); place; place = waiting.pop()) {
    const names = namesIn(place.value)
    members += weightOf(place, names)
    const error = textError(place) ?? sizeError(place, names, members) ?? nameError(place, names)
    if (error) return error
    for (const part of partsOf(place, names)) waiting.push(part)
  }
  return null
}

/** Returns the names of an object's members; null: it is a list or a text. */
function namesIn(value: Place['value']): readonly string[] | null {
  return typeof value === 'string' || Array.isArray(value) ? null : Object.keys(value)
}

function textError(place: Place): GraphQLError | null {
  const why = typeof place.value === 'string' ? unstorable(place.value) : null
  return why === null ? null : refused(place, why)
}

/** Returns the members of an object, and one more in a list, because an empty object takes time there too. */
function weightOf({ key, value }: Place, names: readonly string[] | null): number {
  return (names?.length ?? 0) + (typeof key === 'number' && typeof value === 'object' ? 1 : 0)
}

function sizeError({ value, depth }: Place, names: readonly string[] | null, members: number): GraphQLError | null {
  if (typeof value === 'string') return null
  if (members > MAX_MEMBERS) return tooLarge(`have more than ${MAX_MEMBERS} members`, MAX_MEMBERS)
  if (depth > MAX_DEPTH) return tooLarge(`are nested deeper than ${MAX_DEPTH} levels`, MAX_DEPTH)
  const isTooWide = names !== null && depth > 0 && names.length > MAX_WIDTH
  return isTooWide ? tooLarge(`have an object of more than ${MAX_WIDTH} members`, MAX_WIDTH) : null
}

function nameError(place: Place, names: readonly string[] | null): GraphQLError | null {
  for (const name of names ?? []) {
    const why = name.length > MAX_NAME_LENGTH ? `has more than ${MAX_NAME_LENGTH} characters` : unstorable(name)
    if (why !== null) return refused(place, `has a member whose name ${why}`)
  }
  return null
}

/** Returns the parts of an object or a list that need a look, last first. A list may have 65,000 numbers. */
function partsOf(parent: Place, names: readonly string[] | null): Place[] {
  const { value } = parent
  if (typeof value === 'string') return []
  const parts: readonly unknown[] = Object.values(value)
  const depth = parent.depth + 1
  const places: Place[] = []
  for (let index = parts.length - 1; index >= 0; index--) {
    const part = parts[index]
    if (typeof part === 'string' || (typeof part === 'object' && part !== null))
      places.push({ value: part, depth, key: names?.[index] ?? index, parent })
  }
  return places
}

function tooLarge(what: string, limit: number): GraphQLError {
  const message = `The variables ${what}. Send fewer items per operation.`
  return requestError('OPERATION_TOO_LARGE', message, { extensions: { limit } })
}

function refused(place: Place, why: string): GraphQLError {
  return requestError('BAD_USER_INPUT', `${subjectOf(place)} ${why}.`)
}

/** Returns a path such as `$input.items[3].name`, whose names are short and printable. */
function subjectOf(place: Place): string {
  if (place.parent === null) return 'The object of all variables'
  const path: string[] = []
  for (let at: Place | null = place; at?.parent; at = at.parent) {
    const isVariable = at.parent.parent === null
    path.unshift(typeof at.key === 'number' ? `[${at.key}]` : `${isVariable ? '$' : '.'}${printable(at.key ?? '')}`)
  }
  return `The variable ${path.join('')}`
}

const printable = (name: string) => name.replace(/[^\w-]/g, '?')
