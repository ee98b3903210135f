import { JSONPathEnvironment, type JSONValue } from 'json-p3'
import { quoted } from '../probe-result.ts'
import { BigInteger, exact, readJson } from './json.ts'

/**
 * A value that a JSON body must hold at a path: equal to `equals`, or any when that is undefined; none with `absent`.
 */
export interface JsonAssertion {
  readonly path: string
  readonly equals?: string | number | boolean | undefined
  readonly absent: boolean
}

const jsonPath = new JSONPathEnvironment()

/**
 * Returns whether a text is a JSONPath that leads to at most one value (a singular query, RFC 9535 §2.3.5.1). Other
 * queries could take quadratic time, and would be ambiguous.
 */
export function isSingularPath(path: string): boolean {
  try {
    return jsonPath.compile(path).singularQuery()
  } catch {
    return false
  }
}

/** Returns how a text fails the assertion; null: it passes. A megabyte takes up to 0.1 s. */
export function jsonMismatch({ path, equals, absent }: JsonAssertion, text: string): string | null {
  const json = readJson(text)
  if ('refused' in json) return json.refused
  const node = jsonPath.match(path, json.value as JSONValue)
  if (node === undefined) return absent ? null : `The response has no ${path}`
  if (absent) return `The response has ${path}`
  const value = exact(node.value)
  return equals === undefined || isEqual(value, equals)
    ? null
    : `${path} is ${describe(value)} instead of ${quoted(equals)}`
}

/** Compares long integers digit by digit, with a text of digits or with the exact value of a number. */
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
