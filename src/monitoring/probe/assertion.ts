import { unsupportedEncoding } from '../../network/outbound/exchange.ts'
import type { Answer } from '../../network/outbound.ts'
import { oneLine, quoted } from '../probe-result.ts'
import type { JsonAssertion } from './json-assertion.ts'
import { checkJson } from './json-thread.ts'

/** A text that a body must contain, or must not. */
export interface Keyword {
  readonly text: string
  readonly absent: boolean
}

/** Returns whether a status matches one of the expected ones, such as `200`, `2xx` or `200-299`. */
export function isExpectedStatus(expected: readonly string[], status: number): boolean {
  return expected.some((entry) => {
    const [first = '', last = first] = entry.split('-')
    return status >= Number(first.replace('xx', '00')) && status <= Number(last.replace('xx', '99'))
  })
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

/**
 * Returns how a body fails the assertion; null: it passes.
 * @param owner the organization; each has a share of the thread that reads long texts.
 * @throws Unavailable or TaskTimeout when the thread is too busy, or the text takes too long.
 */
export async function jsonFailure(assertion: JsonAssertion, answer: Answer, owner: string): Promise<string | null> {
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null) return `The response is encoded with ${oneLine(encoding, 40)}, which cannot be read as JSON`
  if (!answer.complete) return 'The response is too long to be read as JSON'
  return checkJson(assertion, textOf(answer), owner)
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
