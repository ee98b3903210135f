import type {
  DocumentNode,
  FieldNode,
  GraphQLError,
  GraphQLField,
  GraphQLNamedType,
  GraphQLResolveInfo,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import {
  getArgumentValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isUnionType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql'
import { PAGE_SIZE } from './page-size.ts'
import { requestError } from './request-error.ts'

/**
 * The maximum cost of an operation, over every transport, computed before execution. A unit is about one field of the
 * result: some 3 µs of the main thread and 400 bytes of memory (`npm run bench cost`).
 */
export const MAX_COST = { withoutKey: 100_000, withKey: 150_000 } as const

/** The cost of a field with its own database statement. */
export const STATEMENT_COST = 100
/** The cost of a row read from the database, in addition to its fields. */
const ROW_COST = 10
/** The cost of a mutation, in addition to its result. */
const MUTATION_COST = 500
/**
 * The cost of an introspection field in an operation with other fields: it is computed and executed without a pause.
 */
export const INTROSPECTION_FIELD_COST = 60

type Args = Readonly<Record<string, unknown>>
type Amount = number | ((args: Args) => number)

/** The sizes of an organization's lists, by the names that fields use. */
export type Sizes = Readonly<Record<string, number>>

/** A number of items: a maximum, or less if the organization's size is known. */
type Count = Amount | { readonly max: number; readonly size: string }

/**
 * The organizations whose data a root field reads: the caller's, that of a slug, or those of the objects with these
 * ids.
 */
export type About = 'own' | { readonly slug: string } | { readonly objects: readonly string[] }

/** The cost of a field without its selections, and the number of its items. */
interface FieldCost {
  readonly itself?: Amount
  /** The number of rows read in addition to its items. */
  readonly rows?: Count
  readonly items?: Count
  /** The cost of an item without its fields; default 0. */
  readonly each?: number
  readonly about?: (args: Args) => About
}

/** Returns the `extensions` with a field's cost. */
export function costs(cost: FieldCost): { readonly cost: FieldCost } {
  return { cost }
}

/** The cost of a list of rows: the maximum number, or the organization's size of that name. */
export const rows = (max: number, size?: string): { readonly cost: FieldCost } =>
  costs({ items: size === undefined ? max : { max, size }, each: ROW_COST })

/** The cost of a text with a maximum length. */
export const text = (characters: number): { readonly cost: FieldCost } => costs({ itself: Math.ceil(characters / 400) })

/** Creates the error for a document that is too large. */
export function operationTooLarge(what: string, extensions: Record<string, unknown> = {}): GraphQLError {
  const message = `The operation ${what}. Select fewer fields, or smaller pages with \`first\`.`
  return requestError('OPERATION_TOO_LARGE', message, { extensions })
}

/**
 * Returns the cost of an operation; infinite as soon as it exceeds the limit. Computes each fragment once, and each
 * introspection selection once per schema element, so that the work is limited by the document's length and the limit.
 */
export function costOf(options: {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** The coerced variables. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly limit: number
  /** The sizes of the operation's organization; absent: the maximum. */
  readonly sizes?: Sizes | undefined
}): number {
  const { schema, document, operation, variables, limit, sizes } = options
  const fragments = fragmentsOf(document)
  const known = new Map<SelectionSetNode, Map<unknown, number>>()
  // Introspection resolvers read only the schema.
  const info = { schema } as GraphQLResolveInfo
  const root = schema.getRootType(operation.operation)
  const mutation = schema.getMutationType()

  /** @param source the value that the selection applies to, in introspection. */
  function costOfSet(set: SelectionSetNode, type: GraphQLNamedType | undefined, source: unknown): number {
    const subject = source ?? type
    const bySubject = known.get(set) ?? new Map<unknown, number>()
    known.set(set, bySubject)
    const found = bySubject.get(subject)
    if (found !== undefined) return found
    // Cycles of fragments cost nothing: validation rejects them.
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
      if (sum > limit) throw new CostLimitExceeded()
    }
    return sum
  }

  function costOfField(node: FieldNode, parent: GraphQLNamedType | undefined, source: unknown): number {
    const field = fieldOf(schema, parent, node.name.value)
    const { selectionSet } = node
    const args = field ? argumentsOf(field, node, variables) : null
    if (!field || args === null) return 1 + costOfUnknown(selectionSet)
    const type = getNamedType(field.type)
    if (isIntrospectionType(type)) {
      return selectionSet ? costOfIntrospection(field, type, selectionSet, args, source) : INTROSPECTION_FIELD_COST
    }
    if (source !== undefined) return INTROSPECTION_FIELD_COST
    const written = parent === mutation ? MUTATION_COST : 0
    return costOfValue(field, args, written, selectionSet)
  }

  function costOfUnknown(set: SelectionSetNode | undefined): number {
    return set ? costOfSet(set, undefined, undefined) : 0
  }

  function costOfValue(field: AnyField, args: Args, written: number, set: SelectionSetNode | undefined): number {
    const type = getNamedType(field.type)
    const fields = isCompositeType(type) && set ? costOfSet(set, type, undefined) : 0
    return ownCost(field, args) + itemsOf(field, args) * (eachOf(field) + written + fields)
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
    return INTROSPECTION_FIELD_COST + sumOf(items, (item) => costOfSet(set, type, item))
  }

  function countOf(count: Count, args: Args): number {
    return typeof count === 'object' ? (sizes?.[count.size] ?? count.max) : amount(count, args)
  }

  function ownCost(field: AnyField, args: Args): number {
    const { itself = defaultCost(field), rows = 0 } = costIn(field)
    return amount(itself, args) + ROW_COST * countOf(rows, args) + inputsIn(args)
  }

  /** Returns the number of items of a field: its own number, or a page. */
  function itemsOf(field: AnyField, args: Args): number {
    const { items } = costIn(field)
    if (items !== undefined) return countOf(items, args)
    return isPaged(field) ? pageSize(args) : 1
  }

  try {
    return costOfSet(operation.selectionSet, root ?? undefined, undefined)
  } catch (error) {
    if (error instanceof CostLimitExceeded) return Number.POSITIVE_INFINITY
    throw error
  }
}

/** The maximum number of objects whose organizations are looked up for an operation. */
export const MAX_OBJECTS = 100

/**
 * Returns the organizations that an operation reads, according to its root fields; null: unknown, or too many objects
 * in one field.
 * @param variables the coerced ones.
 */
export function organizationsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): readonly About[] | null {
  const root = schema.getRootType(operation.operation) ?? undefined
  const fields = fieldsOfRoot(operation.selectionSet, fragmentsOf(document), new Set())
  const about: About[] = []
  for (const node of fields) {
    if (node.name.value === TypeNameMetaFieldDef.name) continue
    const known =
      root === schema.getMutationType() ? 'own' : aboutOf(fieldOf(schema, root, node.name.value), node, variables)
    if (known === null) return null
    about.push(known)
  }
  return about
}

function aboutOf(
  field: AnyField | undefined,
  node: FieldNode,
  variables: Readonly<Record<string, unknown>>,
): About | null {
  const args = field && argumentsOf(field, node, variables)
  const about = (args && costIn(field).about?.(args)) ?? null
  // A thousand fields may each name the same list of thousands.
  return typeof about === 'object' && about !== null && 'objects' in about && about.objects.length > MAX_OBJECTS
    ? null
    : about
}

function fieldsOfRoot({ selections }: SelectionSetNode, fragments: Fragments, seen: Set<string>): readonly FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection]
    if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOfRoot(selection.selectionSet, fragments, seen)
    const fragment = fragments.get(selection.name.value)
    if (!fragment || seen.has(fragment.name.value)) return []
    seen.add(fragment.name.value)
    return fieldsOfRoot(fragment.selectionSet, fragments, seen)
  })
}

/** Stops the computation. */
class CostLimitExceeded extends Error {}

/** Fragments by name. */
export function fragmentsOf({ definitions }: DocumentNode) {
  return new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
}

type Fragments = ReturnType<typeof fragmentsOf>
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

/** Returns null for invalid arguments, such as null from a variable with a default: the field is not resolved. */
function argumentsOf(field: AnyField, node: FieldNode, variables: Readonly<Record<string, unknown>>): Args | null {
  try {
    return getArgumentValues(field, node, variables)
  } catch {
    return null
  }
}

const costIn = ({ extensions }: AnyField) => (extensions['cost'] ?? {}) as FieldCost
const amount = (given: Amount, args: Args) => (typeof given === 'number' ? given : given(args))
const isPaged = ({ args }: AnyField) => args.some(({ name }) => name === 'first')
/** The default cost of a field. Lists of scalars have a few items. */
function defaultCost(field: AnyField): number {
  if (isPaged(field)) return STATEMENT_COST
  return isListType(getNullableType(field.type)) && !isCompositeType(getNamedType(field.type)) ? 5 : 1
}

const eachOf = (field: AnyField) => costIn(field).each ?? (isPaged(field) ? ROW_COST : 0)

/** Counts the items of all lists in an input. */
function inputsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 1 + inputsIn(item), 0)
  if (typeof value !== 'object' || value === null || value instanceof Date) return 0
  return Object.values(value).reduce<number>((sum, item) => sum + inputsIn(item), 0)
}

/** A larger size is rejected when the page is read. */
function pageSize({ first, last }: Args): number {
  const size = first ?? last
  return typeof size === 'number' ? Math.min(Math.max(size, 1), PAGE_SIZE.max) : PAGE_SIZE.default
}
