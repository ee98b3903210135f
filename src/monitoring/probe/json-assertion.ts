import { JSONPathEnvironment, type JSONValue } from 'json-p3'
import { quoted } from '../result/probe-result.ts'
import { BigInteger, exact, readJson } from './json.ts'

/** An assertion about the value at a path of a JSON body: it must meet all conditions, or be `absent`. */
export interface JsonAssertion {
  readonly path: string
  readonly absent: boolean
  readonly equals?: string | number | boolean | undefined
  readonly notEquals?: string | number | boolean | undefined
  readonly lessThan?: number | undefined
  readonly atMost?: number | undefined
  readonly greaterThan?: number | undefined
  readonly atLeast?: number | undefined
  /** A regular expression. */
  readonly matches?: string | undefined
  /** Whether the conditions apply to the length of the value: characters, items or members. */
  readonly length?: boolean
}

const jsonPath = new JSONPathEnvironment()

/**
 * Returns whether a text is a JSONPath to at most one value (a singular query, RFC 9535 §2.3.5.1). Other queries could
 * take quadratic time and would be ambiguous.
 */
export function isSingularPath(path: string): boolean {
  try {
    return jsonPath.compile(path).singularQuery()
  } catch {
    return false
  }
}

/** Returns whether a regular expression matches a text. Runs in a thread. */
type Match = (pattern: string, text: string) => boolean

const noMatch: Match = () => {
  throw new Error('Regular expressions are matched in a thread')
}

/** Returns how a text fails the assertion; null: it passes. Takes up to 0.1 s for a megabyte. */
export function jsonMismatch(assertion: JsonAssertion, text: string, match: Match = noMatch): string | null {
  const { path, absent } = assertion
  const json = readJson(text)
  if ('refused' in json) return json.refused
  const node = jsonPath.match(path, json.value as JSONValue)
  if (node === undefined) return absent ? null : `The response has no ${path}`
  if (absent) return `The response has ${path}`
  const value = exact(node.value)
  if (!assertion.length) return valueMismatch(assertion, path, value, match)
  const length = lengthOf(value)
  return length === null
    ? `${path} is ${describe(value)}, which has no length`
    : valueMismatch(assertion, `The length of ${path}`, length, match)
}

function lengthOf(value: unknown): number | null {
  if (typeof value === 'string') return [...value].length
  if (Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null && !(value instanceof BigInteger)
    ? Object.keys(value).length
    : null
}

function valueMismatch(assertion: JsonAssertion, what: string, value: unknown, match: Match): string | null {
  const { equals, notEquals } = assertion
  if (equals !== undefined && !isEqual(value, equals))
    return `${what} is ${describe(value)} instead of ${quoted(equals)}`
  if (notEquals !== undefined && isEqual(value, notEquals)) return `${what} is ${describe(value)}`
  return comparisonMismatch(assertion, what, value) ?? patternMismatch(assertion, what, value, match)
}

function comparisonMismatch(assertion: JsonAssertion, what: string, value: unknown): string | null {
  for (const [name, words, passes] of comparisons) {
    const limit = assertion[name]
    if (limit === undefined) continue
    const number = numberOf(value)
    if (number === null) return `${what} is ${describe(value)}, which is not a number`
    if (!passes(number, limit)) return `${what} is ${describe(value)}, not ${words} ${limit}`
  }
  return null
}

function patternMismatch({ matches }: JsonAssertion, what: string, value: unknown, match: Match): string | null {
  if (matches === undefined) return null
  if (typeof value === 'object' && value !== null && !(value instanceof BigInteger))
    return `${what} is ${describe(value)}, which is not a text`
  const text = value instanceof BigInteger ? value.digits : String(value)
  return match(matches, text) ? null : `${what} is ${describe(value)}, which does not match ${quoted(matches)}`
}

const comparisons = [
  ['lessThan', 'less than', (value, limit) => value < limit],
  ['atMost', 'at most', (value, limit) => value <= limit],
  ['greaterThan', 'greater than', (value, limit) => value > limit],
  ['atLeast', 'at least', (value, limit) => value >= limit],
] as const satisfies (readonly [keyof JsonAssertion, string, (value: number, limit: number) => boolean])[]

/** Converts a number, or a number in a string as many services send it, to a number; null: the value is neither. */
function numberOf(value: unknown): number | null {
  if (value instanceof BigInteger) return Number(value.digits)
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d{1,30}(?:\.\d{1,30})?$/.test(value) ? Number(value) : null
}

/** Compares values. A long integer equals a string with the same digits, and a number with exactly its value. */
function isEqual(value: unknown, equals: string | number | boolean): boolean {
  if (!(value instanceof BigInteger)) return value === equals
  return typeof equals === 'number' && Number.isInteger(equals)
    ? BigInt(value.digits) === BigInt(equals)
    : value.digits === equals
}

function describe(value: unknown): string {
  if (value instanceof BigInteger) return value.digits
  if (typeof value !== 'object' || value === null) return quoted(value)
  return Array.isArray(value) ? 'an array' : 'an object'
}
