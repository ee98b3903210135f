import { JSONPathEnvironment, type JSONValue } from 'json-p3'
import { unsupportedEncoding } from '../../network/outbound/exchange.ts'
import type { Answer } from '../../network/outbound.ts'
import { oneLine } from '../probe-result.ts'
import { BigInteger, exact, readJson } from './json.ts'

/** A text that a body must contain, or must not. */
export interface Keyword {
  readonly text: string
  readonly absent: boolean
}

/**
 * A value that a JSON body must hold at a path: equal to `equals`, or any when that is undefined; none with `absent`.
 */
export interface JsonAssertion {
  readonly path: string
  readonly equals?: string | number | boolean | undefined
  readonly absent: boolean
}

const jsonPath = new JSONPathEnvironment()

/** Returns whether a status matches one of the expected ones, such as `200`, `2xx` or `200-299`. */
export function isExpectedStatus(expected: readonly string[], status: number): boolean {
  return expected.some((entry) => {
    const [first = '', last = first] = entry.split('-')
    return status >= Number(first.replace('xx', '00')) && status <= Number(last.replace('xx', '99'))
  })
}

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

/** Returns how a body fails the keyword; null: it passes. A keyword must be within the part that is read. */
export function keywordFailure({ text, absent }: Keyword, answer: Answer): string | null {
  if (textOf(answer).includes(text) !== absent) return null
  if (absent) return `The response contains ${quoted(text)}`
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null)
    return `The response is encoded with ${oneLine(encoding, 40)}, which cannot be searched for the keyword`
  return answer.complete
    ? `The response does not contain ${quoted(text)}`
    : `The first ${sizeOf(answer)} of the response do not contain ${quoted(text)}; the rest is not read`
}

/** Returns why it is unknown whether a body passes the keyword; null: it is known. */
export function keywordUncertainty({ text, absent }: Keyword, answer: Answer): string | null {
  if (!absent) return null
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null)
    return `Unknown whether the response contains ${quoted(text)}: it is encoded with ${oneLine(encoding, 40)}`
  if (answer.complete) return null
  return `Unknown whether the response contains ${quoted(text)}: its first ${sizeOf(answer)} do not, and the rest is not read`
}

function sizeOf({ body }: Answer): string {
  const [size, unit] =
    body.length >= 2 ** 20
      ? [body.length / 2 ** 20, 'MiB']
      : body.length >= 1024
        ? [body.length / 1024, 'KiB']
        : [body.length, 'bytes']
  return `${Number(size.toPrecision(3))} ${unit}`
}

/** Returns how a body fails the assertion; null: it passes. */
export function jsonFailure({ path, equals, absent }: JsonAssertion, answer: Answer): string | null {
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null) return `The response is encoded with ${oneLine(encoding, 40)}, which cannot be read as JSON`
  if (!answer.complete) return 'The response is too long to be read as JSON'
  const json = readJson(textOf(answer))
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

/** Decodes the body in the charset that the response names. */
function textOf({ headers, body }: Answer): string {
  const [, charset = 'utf-8'] = /charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '') ?? []
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}

function describe(value: unknown): string {
  if (value instanceof BigInteger) return value.digits
  if (typeof value !== 'object' || value === null) return quoted(value)
  return Array.isArray(value) ? 'an array' : 'an object'
}

function quoted(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? '', 80)
}
