import type { DocumentNode, FieldNode, GraphQLSchema, SelectionSetNode, ValidationRule } from 'graphql'
import { type GraphQLError, Kind, NoFragmentCyclesRule, validate } from 'graphql'
import { fragmentsOf, tooLarge } from './cost.ts'

/** The fields a document may have, its fragments written out wherever they are spread. */
const MOST_FIELDS = 5000
/** The pairs of fields of one name that validation may have to compare: it compares each with each. */
const MOST_PAIRS = 10_000
/** The errors that are told of one document. */
const MOST_ERRORS = 20

/**
 * Validates a document, after a look at whether validation itself would take too long: some of its rules take time that
 * grows with the square of the document.
 */
export function validateInTime(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] | undefined,
): readonly GraphQLError[] {
  const circles = validate(schema, document, [NoFragmentCyclesRule], { maxErrors: MOST_ERRORS })
  if (circles.length > 0) return circles
  if (fieldsIn(document) > MOST_FIELDS) return [tooLarge(`has more than ${MOST_FIELDS} fields`)]
  if (pairsIn(document) > MOST_PAIRS) return [tooLarge('repeats fields of the same name too often')]
  return validate(schema, document, rules, { maxErrors: MOST_ERRORS })
}

/** How many fields a document without circles has, its fragments written out; each is counted once. */
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

/** How many pairs of fields stand at one place of an answer under one name, or of fragments that are spread there. */
function pairsIn(document: DocumentNode): number {
  const fragments = fragmentsOf(document)
  let pairs = 0
  for (const set of setsOf(document)) {
    pairs += pairsOf([set], fragments)
    if (pairs > MOST_PAIRS) break
  }
  return pairs
}

/** The same of selections that make up one place together. */
function pairsOf(sets: readonly SelectionSetNode[], fragments: Fragments): number {
  const spread = new Set<string>()
  const byName = new Map<string, FieldNode[]>()
  for (const set of sets) collect(set, fragments, spread, byName)
  let pairs = pairsAmong(spread.size)
  for (const fields of byName.values()) {
    pairs += pairsAmong(fields.length)
    if (pairs > MOST_PAIRS) return pairs
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
