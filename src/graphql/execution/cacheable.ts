import type { DocumentNode, FieldNode, GraphQLNamedType, GraphQLSchema, SelectionNode, SelectionSetNode } from 'graphql'
import { getNamedType, getOperationAST, isObjectType, Kind, OperationTypeNode, TypeNameMetaFieldDef } from 'graphql'
import { fragmentsOf } from '../document/cost.ts'

/**
 * The `extensions` of an object type whose public fields only change with the organization’s event log, or are figures
 * that may be a minute old. Only queries of such fields are answered from memory.
 */
export function cacheable(...fields: readonly string[]): { readonly cacheable: readonly string[] } {
  return { cacheable: fields }
}

/** The `extensions` of a single cacheable field. A root field also adds the organization that it reads to `shown`. */
export const CACHEABLE = { cacheable: true } as const

/**
 * Returns whether an operation is a query of cacheable fields only: every visitor gets the same answer until an event
 * log moves.
 */
export function isCacheable(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): boolean {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.QUERY) return false
  const fragments = fragmentsOf(document)
  const checked = new Map<SelectionSetNode, boolean>()

  function isSetCacheable(set: SelectionSetNode, type: GraphQLNamedType | undefined): boolean {
    const known = checked.get(set)
    if (known !== undefined) return known
    // Validation rejects fragment cycles.
    checked.set(set, true)
    const isEach = set.selections.every((selection) => isSelectionCacheable(selection, type))
    checked.set(set, isEach)
    return isEach
  }

  function isSelectionCacheable(selection: SelectionNode, type: GraphQLNamedType | undefined): boolean {
    if (selection.kind === Kind.FIELD) return isFieldCacheable(selection, type)
    const part = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection
    const condition = part?.typeCondition ? schema.getType(part.typeCondition.name.value) : type
    return part !== undefined && isSetCacheable(part.selectionSet, condition)
  }

  function isFieldCacheable({ name, selectionSet }: FieldNode, type: GraphQLNamedType | undefined): boolean {
    if (name.value === TypeNameMetaFieldDef.name) return true
    const field = fieldOf(type, name.value)
    if (!field) return false
    return !selectionSet || isSetCacheable(selectionSet, getNamedType(field.type))
  }

  return isSetCacheable(operation.selectionSet, schema.getQueryType() ?? undefined)
}

/** Returns a field that its type or the field itself declares as cacheable. */
function fieldOf(type: GraphQLNamedType | undefined, name: string) {
  if (!isObjectType(type)) return undefined
  const field = type.getFields()[name]
  const declared = type.extensions['cacheable']
  const isDeclared = (Array.isArray(declared) && declared.includes(name)) || field?.extensions['cacheable'] === true
  return isDeclared ? field : undefined
}
