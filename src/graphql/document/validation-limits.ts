import type { DocumentNode, FieldNode, GraphQLError, GraphQLSchema, SelectionSetNode } from 'graphql'
import { Kind, NoFragmentCyclesRule, specifiedRules, validate } from 'graphql'
import { fragmentsOf, operationTooLarge } from './cost.ts'

/** The maximum number of fields in a document, with its fragments expanded. */
const MAX_FIELDS = 5000
/** The maximum number of pairs of fields with the same name, because validation compares each with each. */
const MAX_PAIRS = 10_000
/**
 * A document gets at most 10 errors, and one that says that there are more. Suggestions of other names would take up to
 * 3 ms for each: their time grows with the product of the lengths of the name given and all names known.
 */
const OPTIONS = { maxErrors: 10, hideSuggestions: true }

/**
 * Validates a document unless validation itself would take too long: the time of some rules grows with the square of
 * the document's length.
 */
export function validateWithinLimits(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const fragments = fragmentsOf(document)
  if (hasCycle(fragments)) return withoutStacks(() => validate(schema, document, [NoFragmentCyclesRule], OPTIONS))
  if (fieldsIn(document, fragments) > MAX_FIELDS) return [operationTooLarge(`has more than ${MAX_FIELDS} fields`)]
  if (pairsIn(document, fragments) > MAX_PAIRS) return [operationTooLarge('repeats fields of the same name too often')]
  return withoutStacks(() => validate(schema, document, specifiedRules, OPTIONS))
}

/**
 * Runs a function without recording where errors occur, which takes ten times as long as an error of a document
 * otherwise, and nobody reads it. If the function throws, it runs again, so that a bug has its stack.
 */
function withoutStacks<T>(run: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return run()
  } catch {
    Error.stackTraceLimit = stackTraceLimit
    return run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Returns whether a fragment contains itself. The rule that says which one visits every field of a document. */
function hasCycle(fragments: Fragments): boolean {
  const entered = new Map<string, 'open' | 'done'>()
  const isInCycle = (name: string): boolean => {
    const state = entered.get(name)
    const set = fragments.get(name)?.selectionSet
    if (state !== undefined || set === undefined) return state === 'open'
    entered.set(name, 'open')
    const is = spreadsIn(set).some(isInCycle)
    entered.set(name, 'done')
    return is
  }
  return [...fragments.keys()].some(isInCycle)
}

/** Returns the names of the fragments that are spread in a selection. */
function spreadsIn({ selections }: SelectionSetNode): readonly string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [selection.name.value]
    return selection.selectionSet ? spreadsIn(selection.selectionSet) : []
  })
}

/** Counts the fields of a document without fragment cycles, with its fragments expanded. */
function fieldsIn(document: DocumentNode, fragments: Fragments): number {
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
function pairsIn(document: DocumentNode, fragments: Fragments): number {
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
