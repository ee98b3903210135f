import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Scalar,
  stringify,
  visit,
} from 'yaml'
import type { Issue } from '../core/errors.ts'

/** Parsed YAML: its value and the line of each part. */
export interface YamlText {
  readonly value: unknown
  /** The line of each field, counted from 1, by the `pathKey` of its path. */
  readonly lines: ReadonlyMap<string, number>
}

/** What is wrong, by the parser's code. */
const problems: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: 'is indented differently from its neighbours',
  BLOCK_AS_IMPLICIT_KEY: 'must begin on a line of its own',
  MISSING_CHAR: 'lacks a closing quote or bracket, or another character',
  MULTIPLE_DOCS: 'begins a second document; a file has only one',
  TAB_AS_INDENT: 'is indented with a tab; use spaces',
}
const UNCLOSED = 'lacks a closing bracket, or is indented too little'
const NOT_VALID = 'is not valid YAML'

/** The maximum number of aliases. The parser looks for the anchor of each among all of them. */
const MAX_ALIASES = 2000
/** The maximum number of values, with aliases expanded: enough for a file with 2,000 objects. */
const MAX_NODES = 100_000
const MAX_DEPTH = 20
/** The maximum number of open brackets: more than any real file has, and safe for the stack. */
const MAX_OPEN = 500
/** The maximum number of reported problems, because one mistake often causes others. */
const MAX_PROBLEMS = 5

/** Joins a path to a map key. */
export const pathKey = (path: readonly string[]): string => path.join('\0')

const MERGE_KEY = '<<'

/**
 * Parses YAML. Returns the problems if it is invalid.
 * @param options whether merge keys (`<<: *defaults`, yaml.org/type/merge.html) insert the fields of other objects. Without, they
 * are a problem, because YAML 1.2 has none: a reader that does not know them would drop these fields.
 */
export function readYaml(text: string, { merges = false } = {}): YamlText | readonly Issue[] {
  if (isNestedDeeply(text)) return [{ path: [], message: 'is nested too deeply' }]
  try {
    const counter = new LineCounter()
    // The parser compares each key with all others of its object.
    const options = { lineCounter: counter, prettyErrors: false, merge: merges, uniqueKeys: false }
    const document = parseDocument(text, options)
    const invalid = [...syntaxProblems(document, counter), ...repeatedKeysIn(document, counter, merges)]
    if (invalid.length > 0) return invalid.toSorted((a, b) => a.line - b.line).slice(0, MAX_PROBLEMS)
    const refused = merges ? [] : mergeKeysIn(document, counter)
    if (refused.length > 0) return refused
    if (growsTooLarge(document)) return [{ path: [], message: 'has too many aliases' }]
    const value: unknown = document.toJS({ maxAliasCount: -1 })
    if (remainingNodes(value, MAX_NODES, MAX_DEPTH) < 0)
      return [{ path: [], message: 'is too large or nested too deeply' }]
    const lines = new Map<string, number>()
    collectLines(document.contents, [], counter, lines)
    return { value, lines }
  } catch (error) {
    return [{ path: [], message: conversionProblem(error) }]
  }
}

/** Returns what is wrong with a text that the parser accepts but cannot convert to values. */
function conversionProblem(error: unknown): string {
  // The stack is exhausted.
  if (error instanceof RangeError) return 'is nested too deeply'
  if (error instanceof Error && error.message.startsWith('Merge sources')) return 'merges (<<) what is not an object'
  if (!(error instanceof ReferenceError)) return NOT_VALID
  return error.message.startsWith('Unresolved alias')
    ? 'has an alias without an anchor before it'
    : 'has too many aliases'
}

/** A problem with its line. */
interface PlacedIssue extends Issue {
  readonly line: number
}

function syntaxProblems({ errors }: Document.Parsed, counter: LineCounter): PlacedIssue[] {
  return errors.slice(0, MAX_PROBLEMS).map(({ code, message, pos }) => ({
    path: [],
    // This code also stands for brackets that are not closed.
    message: code === 'BAD_INDENT' && message.startsWith('Flow ') ? UNCLOSED : (problems[code] ?? NOT_VALID),
    line: counter.linePos(pos[0]).line,
  }))
}

/** Returns the keys that an object has twice, also where they only look different: `1` and `"1"` are one key here. */
function repeatedKeysIn(document: Document.Parsed, counter: LineCounter, merges: boolean): PlacedIssue[] {
  const found: PlacedIssue[] = []
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items) {
        // An object may merge several others.
        if (!isScalar(key) || (merges && key.type === 'PLAIN' && key.source === MERGE_KEY)) continue
        const name = String(key.value ?? '')
        if (names.has(name)) found.push({ path: [], message: 'repeats a key', line: lineOf(key, counter) })
        names.add(name)
      }
      return found.length < MAX_PROBLEMS ? undefined : visit.BREAK
    },
  })
  return found
}

const lineOf = ({ range }: Scalar, counter: LineCounter) => (range ? counter.linePos(range[0]).line : 1)

function mergeKeysIn(document: Document.Parsed, counter: LineCounter): Issue[] {
  const found: Issue[] = []
  visit(document, {
    Pair(_, { key }) {
      if (!isScalar(key) || key.type !== 'PLAIN' || key.source !== MERGE_KEY) return undefined
      const message = 'is a merge key, which files here do not have: repeat the fields in each place'
      found.push({ path: [MERGE_KEY], message, ...(key.range && { line: counter.linePos(key.range[0]).line }) })
      return found.length < MAX_PROBLEMS ? undefined : visit.BREAK
    },
  })
  return found
}

/**
 * Returns whether a document has too many aliases, or too many values once they are replaced. Counts without replacing, because
 * nested aliases and merge keys double the work at each level. An alias within its own anchor is infinite.
 */
function growsTooLarge(document: Document.Parsed): boolean {
  const sizes = new Map<string, number>()
  let aliases = 0
  const sizeOf = (node: unknown): number => {
    if (isAlias(node)) {
      aliases += 1
      // Without an anchor before it, the parser refuses it.
      return sizes.get(node.source) ?? 1
    }
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value)
    const anchor = isNode(node) && 'anchor' in node ? node.anchor : undefined
    if (anchor !== undefined) sizes.set(anchor, Number.POSITIVE_INFINITY)
    const items: readonly unknown[] = isMap(node) || isSeq(node) ? node.items : []
    const size = items.reduce((sum: number, item) => sum + sizeOf(item), 1)
    if (anchor !== undefined) sizes.set(anchor, size)
    return size
  }
  const size = sizeOf(document.contents)
  return aliases > 0 && (aliases > MAX_ALIASES || size > 2 * MAX_NODES)
}

/**
 * Returns whether a text may be nested too deeply for the recursive parser. If the stack overflows while V8 compiles a regular
 * expression, V8 ends the process. Also counts brackets within strings.
 */
function isNestedDeeply(text: string): boolean {
  let depth = 0
  for (const [found] of text.matchAll(/[[{\]}]|\n {500}|(?:[-?:][ \t]+){50}/g)) {
    if (found === ']' || found === '}') depth = Math.max(0, depth - 1)
    else if (found.length > 1 || ++depth > MAX_OPEN) return true
  }
  return false
}

/** Writes a value as YAML, below a comment. */
export function writeYaml({ comment, value }: { readonly comment: string; readonly value: unknown }): string {
  return comment + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Subtracts the number of values from `most`. Negative: there are more, or they are nested deeper than `depth`. */
function remainingNodes(value: unknown, most: number, depth: number): number {
  if (typeof value !== 'object' || value === null) return most - 1
  let left = depth === 0 ? -1 : most - 1
  for (const field of Object.values(value)) {
    if (left < 0) return left
    left = remainingNodes(field, left, depth - 1)
  }
  return left
}

function collectLines(node: unknown, path: readonly string[], counter: LineCounter, lines: Map<string, number>): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue
      const own = [...path, String(key.value)]
      if (key.range) lines.set(pathKey(own), counter.linePos(key.range[0]).line)
      collectLines(value, own, counter, lines)
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const own = [...path, String(index)]
      const { range } = item as { readonly range?: readonly number[] | null }
      if (range?.[0] !== undefined) lines.set(pathKey(own), counter.linePos(range[0]).line)
      collectLines(item, own, counter, lines)
    }
  }
}
