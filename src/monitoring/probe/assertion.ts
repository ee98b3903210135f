import { JSONPathEnvironment, type JSONValue } from 'json-p3'
import { unknownPacking } from '../../network/outbound/exchange.ts'
import type { Answer } from '../../network/outbound.ts'
import { oneLine } from '../finding.ts'
import { BigInteger, exact, readJson } from './json.ts'

/** What a body has to contain, or must not. */
export interface Keyword {
  readonly text: string
  readonly absent: boolean
}

/** What a JSON body has to hold at a path: a value equal to `equals`, or any if that is undefined; with `absent` none. */
export interface JsonAssertion {
  readonly path: string
  readonly equals?: string | number | boolean | undefined
  readonly absent: boolean
}

const jsonPath = new JSONPathEnvironment()

/** Whether a status is among those expected, each like `200`, `2xx` or `200-299`. */
export function isExpectedStatus(expected: readonly string[], status: number): boolean {
  return expected.some((entry) => {
    const [first = '', last = first] = entry.split('-')
    return status >= Number(first.replace('xx', '00')) && status <= Number(last.replace('xx', '99'))
  })
}

/**
 * Whether a text is a JSONPath that leads to at most one value (a singular query, RFC 9535 §2.3.5.1). Others could take
 * the time of the square of a body's length, and leave open which of their values is meant.
 */
export function isSingularPath(path: string): boolean {
  try {
    return jsonPath.compile(path).singularQuery()
  } catch {
    return false
  }
}

/** What is wrong with a body; null: nothing. A keyword has to come in what is read of an answer. */
export function keywordMistake({ text, absent }: Keyword, answer: Answer): string | null {
  if (textOf(answer).includes(text) !== absent) return null
  if (absent) return `The answer contains ${quoted(text)}`
  const packing = unknownPacking(answer.headers)
  if (packing !== null) return `The answer is packed with ${oneLine(packing, 40)}, in which no keyword is looked for`
  return answer.complete
    ? `The answer does not contain ${quoted(text)}`
    : `The first ${sizeOf(answer)} of the answer, which is all that is read of it, do not contain ${quoted(text)}`
}

/** Why it is not known whether a body is as it has to be; null: it is known. */
export function keywordDoubt({ text, absent }: Keyword, answer: Answer): string | null {
  if (!absent) return null
  const packing = unknownPacking(answer.headers)
  if (packing !== null)
    return `Not known whether the answer contains ${quoted(text)}: it is packed with ${oneLine(packing, 40)}`
  if (answer.complete) return null
  return `Not known whether the answer contains ${quoted(text)}: only its first ${sizeOf(answer)} are read, without it`
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

/** What is wrong with a body; null: nothing. */
export function jsonMistake({ path, equals, absent }: JsonAssertion, answer: Answer): string | null {
  const packing = unknownPacking(answer.headers)
  if (packing !== null) return `The answer is packed with ${oneLine(packing, 40)}, and not read as JSON`
  if (!answer.complete) return 'The answer is too long to be read as JSON'
  const json = readJson(textOf(answer))
  if ('refused' in json) return json.refused
  const node = jsonPath.match(path, json.value as JSONValue)
  if (node === undefined) return absent ? null : `The answer has no ${path}`
  if (absent) return `The answer has ${path}`
  const value = exact(node.value)
  return equals === undefined || isEqual(value, equals)
    ? null
    : `${path} is ${shown(value)} instead of ${quoted(equals)}`
}

/** Long integers are compared digit by digit, with a text of digits or with what a number really holds. */
function isEqual(value: unknown, equals: string | number | boolean): boolean {
  if (!(value instanceof BigInteger)) return value === equals
  return typeof equals === 'number' && Number.isInteger(equals)
    ? BigInt(value.digits) === BigInt(equals)
    : value.digits === equals
}

/** The body as text, in the encoding that the answer names. */
function textOf({ headers, body }: Answer): string {
  const [, charset = 'utf-8'] = /charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '') ?? []
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}

function shown(value: unknown): string {
  if (value instanceof BigInteger) return value.digits
  if (typeof value !== 'object' || value === null) return quoted(value)
  return Array.isArray(value) ? 'an array' : 'an object'
}

function quoted(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? '', 80)
}
