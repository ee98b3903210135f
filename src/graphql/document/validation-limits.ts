import type { DocumentNode, FieldNode, GraphQLSchema, SelectionSetNode, ValidationRule } from 'graphql'
import { type GraphQLError, Kind, NoFragmentCyclesRule, validate } from 'graphql'
import { fragmentsOf, operationTooLarge } from './cost.ts'

/** The maximum number of fields in a document, with its fragments expanded. */
const MAX_FIELDS = 5000
/** The maximum number of pairs of fields with the same name, because validation compares each with each. */
const MAX_PAIRS = 10_000
/**
 * A document gets at most 20 errors. Suggestions of other names would take up to 3 ms for each: their time grows with
 * the product of the lengths of the name given and all names known.
 */
const OPTIONS = { maxErrors: 20, hideSuggestions: true }

/**
 * Validates a document unless validation itself would take too long: the time of some rules grows with the square of
 * the document's length.
 */
export function validateWithinLimits(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] | undefined,
): readonly GraphQLError[] {
  const cycles = validate(schema, document, [NoFragmentCyclesRule], OPTIONS)
  if (cycles.length > 0) return cycles
  if (fieldsIn(document) > MAX_FIELDS) return [operationTooLarge(`has more than ${MAX_FIELDS} fields`)]
  if (pairsIn(document) > MAX_PAIRS) return [operationTooLarge('repeats fields of the same name too often')]
  return validate(schema, document, rules, OPTIONS)
}

/** Counts the fields of a document without fragment cycles, with its fragments expanded. */
function fieldsIn(document: DocumentNode): number {
  const fragments = fragmentsOf(document)
  const known = new Map<SelectionSetNode, number>()
  const fieldsOf = (set: SelectionSetNode): number => {
    const found = known.get(set)
    if (found !== undefined) return found
    let count = 0
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) count += 1
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? fragments.get(selection.name.value)?.selectionSet
          : selection.selectionSet
      if (inner) count += fieldsOf(inner)
    }
    known.set(set, count)
    return count
  }
  return setsOf(document).reduce((sum, set) => sum + fieldsOf(set), 0)
}

type Fragments = ReturnType<typeof fragmentsOf>

/** Counts the pairs of fields, or of spread fragments, with the same name at the same place of the result. */
function pairsIn(document: DocumentNode): number {
  const fragments = fragmentsOf(document)
  let pairs = 0
  for (const set of setsOf(document)) {
    pairs += pairsOf([set], fragments)
    if (pairs > MAX_PAIRS) break
  }
  return pairs
}

/** Counts the pairs in selections that are merged at one position. */
function pairsOf(sets: readonly SelectionSetNode[], fragments: Fragments): number {
  const spread = new Set<string>()
  const byName = new Map<string, FieldNode[]>()
  for (const set of sets) collect(set, fragments, spread, byName)
  let pairs = pairsAmong(spread.size)
  for (const fields of byName.values()) {
    pairs += pairsAmong(fields.length)
    if (pairs > MAX_PAIRS) return pairs
    const inner = fields.flatMap(({ selectionSet }) => selectionSet ?? [])
    if (inner.length > 0) pairs += pairsOf(inner, fragments)
  }
  return pairs
}

function collect(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  spread: Set<string>,
  byName: Map<string, FieldNode[]>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value
      const known = byName.get(name)
      if (known) known.push(selection)
      else byName.set(name, [selection])
      continue
    }
    const name = selection.kind === Kind.FRAGMENT_SPREAD ? selection.name.value : null
    if (name !== null && spread.has(name)) continue
    if (name !== null) spread.add(name)
    const inner = name === null ? selection : fragments.get(name)
    if (inner && 'selectionSet' in inner) collect(inner.selectionSet, fragments, spread, byName)
  }
}

const pairsAmong = (count: number) => (count * (count - 1)) / 2

const setsOf = ({ definitions }: DocumentNode) =>
  definitions.flatMap((each) => ('selectionSet' in each ? [each.selectionSet] : []))
