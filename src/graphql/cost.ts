import type {
  DocumentNode,
  ExecutionArgs,
  FieldNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import {
  GraphQLError,
  getArgumentValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isUnionType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql'
import type { GraphContext } from './builder.ts'
import { PAGE } from './keyset.ts'

/**
 * The most one operation may cost, over every transport, reckoned before it is executed. A unit is about a field of the
 * answer, or 1000 characters of text; what asks the database costs what takes as long. The introspection that tools send
 * costs about two thirds of what is allowed without a key.
 */
export const MOST_COST = { withoutKey: 95_000, withKey: 110_000 } as const

/** What a field costs that asks the database by itself. */
export const STATEMENT = 50
/** What a field of the introspection costs, with its text: it is executed without a pause. */
const INTROSPECTED = 4
/** What a list holds whose field does not say: such lists are short. */
const USUAL_ITEMS = 5

type Args = Readonly<Record<string, unknown>>
type Amount = number | ((args: Args) => number)

/** What a field costs beside what is selected of it, and how many items it may give. */
interface FieldCost {
  readonly itself?: Amount
  readonly items?: Amount
}

/** The `extensions` of a field, for the reckoning of what an operation costs. */
export function costs(cost: FieldCost): { readonly cost: FieldCost } {
  return { cost }
}

/** The cost of a text of at most so many characters. */
export const text = (characters: number): { readonly cost: FieldCost } =>
  costs({ itself: Math.ceil(characters / 1000) })

/** Why an operation may not be executed, or null. Variables that do not fit are left for the execution to tell. */
export function costRefusal(args: ExecutionArgs): GraphQLError | null {
  const { schema, document, operationName, variableValues, contextValue } = args
  const operation = getOperationAST(document, operationName)
  if (!operation) return null
  // The context that Yoga and the websocket made.
  const { actor } = contextValue as GraphContext
  const limit = actor.kind === 'visitor' ? MOST_COST.withoutKey : MOST_COST.withKey
  const cost = costOf({ schema, document, operation, variables: { ...variableValues }, limit })
  if (cost <= limit) return null
  return tooLarge(`costs more than ${limit}`, { limit })
}

/** The refusal of a document that asks for too much. */
export function tooLarge(what: string, extensions: object = {}): GraphQLError {
  const message = `The operation ${what}. Ask for less at once: fewer fields, or smaller pages with \`first\`.`
  return new GraphQLError(message, { extensions: { code: 'OPERATION_TOO_LARGE', ...extensions } })
}

/**
 * What an operation costs; infinite as soon as it is known to be over the limit. Each fragment is reckoned once, and each
 * selection of the introspection once for each thing of the schema it applies to, so that the work is bounded by the
 * document's length and the limit.
 */
export function costOf(options: {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Record<string, unknown>
  readonly limit: number
}): number {
  const { schema, document, operation, limit } = options
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], options.variables).coerced ?? {}
  const fragments = fragmentsOf(document)
  const known = new Map<SelectionSetNode, Map<unknown, number>>()
  // Only the schema is looked at by the resolvers of the introspection.
  const info = { schema } as GraphQLResolveInfo
  const root = schema.getRootType(operation.operation)

  /** @param source what the selection is of, in the introspection. */
  function costOfSet(set: SelectionSetNode, type: GraphQLNamedType | undefined, source: unknown): number {
    const subject = source ?? type
    const bySubject = known.get(set) ?? new Map<unknown, number>()
    known.set(set, bySubject)
    const found = bySubject.get(subject)
    if (found !== undefined) return found
    // What a circle of fragments would add is left out: validation refuses circles.
    bySubject.set(subject, 0)
    const sum = sumOf(set.selections, (selection) => {
      if (selection.kind === Kind.FIELD) return costOfField(selection, type, source)
      const part = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
      const condition = part?.typeCondition ? schema.getType(part.typeCondition.name.value) : type
      return part ? costOfSet(part.selectionSet, condition, source) : 0
    })
    bySubject.set(subject, sum)
    return sum
  }

  function sumOf<T>(items: readonly T[], costOfItem: (item: T) => number): number {
    let sum = 0
    for (const item of items) {
      sum += costOfItem(item)
      if (sum > limit) throw new OverLimit()
    }
    return sum
  }

  function costOfField(node: FieldNode, parent: GraphQLNamedType | undefined, source: unknown): number {
    const field = fieldOf(schema, parent, node.name.value)
    const { selectionSet } = node
    if (!field) return 1 + (selectionSet ? costOfSet(selectionSet, undefined, undefined) : 0)
    const type = getNamedType(field.type)
    const args = argumentsOf(field, node, coerced)
    if (isIntrospectionType(type)) {
      return selectionSet ? costOfIntrospection(field, type, selectionSet, args, source) : INTROSPECTED
    }
    if (source !== undefined) return INTROSPECTED
    if (!isCompositeType(type) || !selectionSet) return ownCost(field, args)
    return ownCost(field, args) + itemsOf(field, args) * costOfSet(selectionSet, type, undefined)
  }

  function costOfIntrospection(
    field: GraphQLField<unknown, unknown>,
    type: GraphQLNamedType,
    set: SelectionSetNode,
    args: Args,
    source: unknown,
  ): number {
    const value: unknown = field.resolve?.(source, { ...args }, undefined, info)
    const items: readonly unknown[] = Array.isArray(value) ? value : value == null ? [] : [value]
    return INTROSPECTED + sumOf(items, (item) => costOfSet(set, type, item))
  }

  try {
    return costOfSet(operation.selectionSet, root ?? undefined, undefined)
  } catch (error) {
    if (error instanceof OverLimit) return Number.POSITIVE_INFINITY
    throw error
  }
}

/** Ends the reckoning. */
class OverLimit extends Error {}

/** Fragments by name. */
export function fragmentsOf({ definitions }: DocumentNode) {
  return new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
}

type AnyField = GraphQLField<unknown, unknown>

function fieldOf(schema: GraphQLSchema, parent: GraphQLNamedType | undefined, name: string): AnyField | undefined {
  if (parent !== undefined && parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
  }
  return parent && 'getFields' in parent && !isUnionType(parent)
    ? (parent.getFields()[name] as AnyField | undefined)
    : undefined
}

function argumentsOf(field: AnyField, node: FieldNode, variables: Record<string, unknown>): Args {
  try {
    return getArgumentValues(field, node, variables)
  } catch {
    // Arguments that do not fit cost nothing: the field is not resolved with them.
    return {}
  }
}

const costIn = ({ extensions }: AnyField) => (extensions['cost'] ?? {}) as FieldCost
const amount = (given: Amount, args: Args) => (typeof given === 'number' ? given : given(args))
const isPaged = ({ args }: AnyField) => args.some(({ name }) => name === 'first')

function ownCost(field: AnyField, args: Args): number {
  const { itself = isPaged(field) ? STATEMENT : 1 } = costIn(field)
  return amount(itself, args) + inputsIn(args)
}

/** How many items the lists of an input hold, at all depths. */
function inputsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 1 + inputsIn(item), 0)
  if (typeof value !== 'object' || value === null || value instanceof Date) return 0
  return Object.values(value).reduce<number>((sum, item) => sum + inputsIn(item), 0)
}

/** How many items a field may give: what it says, a page, as many as ids are asked for, or what a list usually has. */
function itemsOf(field: AnyField, args: Args): number {
  const { items } = costIn(field)
  if (items !== undefined) return amount(items, args)
  if (isPaged(field)) return pageSize(args)
  if (Array.isArray(args['ids'])) return args['ids'].length
  return isListType(getNullableType(field.type)) ? USUAL_ITEMS : 1
}

/** A size that is over the maximum is refused when the page is read. */
function pageSize({ first, last }: Args): number {
  const asked = first ?? last
  return typeof asked === 'number' ? Math.min(Math.max(asked, 1), PAGE.most) : PAGE.usual
}
