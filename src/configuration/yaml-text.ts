import { type ErrorCode, isMap, isScalar, isSeq, LineCounter, parseDocument, stringify } from 'yaml'
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
  DUPLICATE_KEY: 'repeats a key',
  MISSING_CHAR: 'lacks a closing quote or bracket, or another character',
  MULTIPLE_DOCS: 'begins a second document; a file has only one',
  TAB_AS_INDENT: 'is indented with a tab; use spaces',
}
const UNCLOSED = 'lacks a closing bracket, or is indented too little'
const NOT_VALID = 'is not valid YAML'

/** The maximum number of alias expansions, which bounds the growth of nested aliases. */
const MAX_ALIASES = 100
/** The maximum number of values, with aliases expanded: enough for a file with 2,000 objects. */
const MAX_NODES = 100_000
const MAX_DEPTH = 20
/** The maximum number of open brackets: more than any real file has, and safe for the stack. */
const MAX_OPEN = 500
/** The maximum number of reported problems, because one mistake often causes others. */
const MAX_PROBLEMS = 5

/** Joins a path to a map key. */
export const pathKey = (path: readonly string[]): string => path.join('\0')

/** Parses YAML. Returns the problems if it is invalid. */
export function readYaml(text: string): YamlText | readonly Issue[] {
  if (isNestedDeeply(text)) return [{ path: [], message: 'is nested too deeply' }]
  try {
    const counter = new LineCounter()
    const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
    if (document.errors.length > 0) {
      return document.errors.slice(0, MAX_PROBLEMS).map(({ code, message, pos }) => ({
        path: [],
        // This code also stands for brackets that are not closed.
        message: code === 'BAD_INDENT' && message.startsWith('Flow ') ? UNCLOSED : (problems[code] ?? NOT_VALID),
        line: counter.linePos(pos[0]).line,
      }))
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
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
  if (!(error instanceof ReferenceError)) return NOT_VALID
  return error.message.startsWith('Unresolved alias')
    ? 'has an alias without an anchor before it'
    : 'has too many aliases'
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
