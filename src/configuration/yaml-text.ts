import { isMap, isScalar, isSeq, LineCounter, parseDocument, stringify } from 'yaml'
import type { Issue } from '../core/errors.ts'

/** A text that was read: its value and where each part of it stands. */
export interface YamlText {
  readonly value: unknown
  /** The line of each member, from 1, by its path as `pathKey` writes it. */
  readonly lines: ReadonlyMap<string, number>
}

/** How often aliases may repeat parts of a text, which bounds what a text of aliases to aliases becomes. */
const MAX_ALIASES = 100
/** What a file with 2,000 objects has, with all aliases replaced. */
const MAX_NODES = 100_000
const MAX_DEPTH = 20
/** How many brackets may be open: more than any file has, and few for the stack. */
const MAX_OPEN = 500
/** One mistake leads to others. */
const MAX_PROBLEMS = 5

/** Writes a path as one text. */
export const pathKey = (path: readonly string[]): string => path.join('\0')

/** Reads YAML. Returns its problems instead when it cannot be read. */
export function readYaml(text: string): YamlText | readonly Issue[] {
  if (isNestedDeeply(text)) return [{ path: [], message: 'is nested too deeply' }]
  try {
    const counter = new LineCounter()
    const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
    if (document.errors.length > 0) {
      return document.errors.slice(0, MAX_PROBLEMS).map(({ message, pos }) => ({
        path: [],
        message: message.slice(0, 300),
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
    // Aliases without a bound, or lists in lists without an end.
    const message =
      error instanceof RangeError ? 'is nested too deeply' : String((error as Error).message).slice(0, 300)
    return [{ path: [], message }]
  }
}

/**
 * Returns whether a text may nest more deeply than the parser can follow, which calls itself for each level: where the stack ends
 * while it compiles a regular expression, V8 ends the process. Brackets within texts count too.
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

/** Returns how many values are left of a maximum; negative: there are more, or they are nested too deeply. */
function remainingNodes(value: unknown, most: number, depth: number): number {
  if (typeof value !== 'object' || value === null) return most - 1
  let left = depth === 0 ? -1 : most - 1
  for (const member of Object.values(value)) {
    if (left < 0) return left
    left = remainingNodes(member, left, depth - 1)
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
