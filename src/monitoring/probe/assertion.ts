import { JSONPathEnvironment } from 'json-p3'
import type { Answer } from '../../network/outbound.ts'
import { oneLine } from '../finding.ts'

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

/** What is wrong with a body; null: nothing. */
export function keywordMistake({ text, absent }: Keyword, answer: Answer): string | null {
  if (textOf(answer).includes(text) !== absent) return null
  return absent ? `The answer contains ${quoted(text)}` : `The answer does not contain ${quoted(text)}`
}

/** What is wrong with a body; null: nothing. */
export function jsonMistake({ path, equals, absent }: JsonAssertion, answer: Answer): string | null {
  if (!answer.complete) return 'The answer is too long to be read as JSON'
  const json = parsed(textOf(answer))
  if (json === undefined) return 'The answer is not valid JSON'
  const node = jsonPath.match(path, json.value)
  if (node === undefined) return absent ? null : `The answer has no ${path}`
  if (absent) return `The answer has ${path}`
  return equals === undefined || node.value === equals
    ? null
    : `${path} is ${shown(node.value)} instead of ${quoted(equals)}`
}

function parsed(text: string) {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
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
  if (typeof value !== 'object' || value === null) return quoted(value)
  return Array.isArray(value) ? 'an array' : 'an object'
}

function quoted(value: unknown): string {
  return oneLine(JSON.stringify(value) ?? '', 80)
}
