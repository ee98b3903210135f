import { unsupportedEncoding } from '../../network/outbound/content-encoding.ts'
import { headerText } from '../../network/outbound/header-text.ts'
import type { Answer } from '../../network/outbound/outbound.ts'
import { oneLine, quoted } from '../result/probe-result.ts'
import { bodyText } from './body-text.ts'
import type { JsonAssertion } from './json-assertion.ts'
import { checkJson, matchesPattern } from './json-thread.ts'

/** A text that a body must or must not contain. */
export interface Keyword {
  readonly text: string
  readonly absent: boolean
  /** Whether the text is a regular expression. */
  readonly isRegex: boolean
}

/** A header that a response must or must not have. */
export interface ExpectedHeader {
  readonly name: string
  readonly equals?: string | undefined
  readonly matches?: string | undefined
  readonly absent: boolean
}

/** Returns how a response fails an assertion about a header; null: it passes. Joins repeated headers with commas. */
export async function headerFailure(
  { name, equals, matches, absent }: ExpectedHeader,
  { headers }: Answer,
  owner: string,
): Promise<string | null> {
  const value = headerText([headers[name.toLowerCase()] ?? []].flat().join(', '))
  const isThere = headers[name.toLowerCase()] !== undefined
  if (absent) return isThere ? `The response has the header ${name}` : null
  if (!isThere) return `The response has no header ${name}`
  if (equals !== undefined && value !== equals)
    return `The header ${name} is ${quoted(value)} instead of ${quoted(equals)}`
  if (matches === undefined || (await matchesPattern(matches, value, owner))) return null
  return `The header ${name} is ${quoted(value)}, which does not match ${quoted(matches)}`
}

/** Returns whether a status matches one of the expected ones, such as `200`, `2xx` or `200-299`. */
export function isExpectedStatus(expected: readonly string[], status: number): boolean {
  return expected.some((entry) => {
    const [first = '', last = first] = entry.split('-')
    return status >= Number(first.replace('xx', '00')) && status <= Number(last.replace('xx', '99'))
  })
}

/**
 * Returns whether the part of a body that was read has the keyword.
 * @param owner the organization, which shares the thread for regular expressions with others.
 * @throws Unavailable or TaskTimeout when the thread is too busy or takes too long, and PatternRefused.
 */
export async function hasKeyword({ text, isRegex }: Keyword, answer: Answer, owner: string): Promise<boolean> {
  const body = bodyText(answer)
  return isRegex ? matchesPattern(text, body, owner) : body.includes(text)
}

/** Returns how a body fails the keyword assertion; null: it passes. @param isFound whether the keyword was found. */
export function keywordFailure({ text, absent, isRegex }: Keyword, answer: Answer, isFound: boolean): string | null {
  if (isFound !== absent) return null
  const [has, have] = isRegex ? ['matches', 'match'] : ['contains', 'contain']
  if (absent) return `The response ${has} ${quoted(text)}`
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null)
    return `The response is encoded with ${oneLine(encoding, 40)}, which cannot be searched for the keyword`
  return answer.complete
    ? `The response does not ${have} ${quoted(text)}`
    : `The first ${sizeOf(answer)} of the response do not ${have} ${quoted(text)}; the rest was not read`
}

/** Returns why it is unknown whether a body passes the keyword assertion; null: it is known. */
export function keywordUncertainty({ text, absent }: Pick<Keyword, 'text' | 'absent'>, answer: Answer): string | null {
  if (!absent) return null
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null)
    return `Unknown whether the response contains ${quoted(text)}: it is encoded with ${oneLine(encoding, 40)}`
  if (answer.complete) return null
  return `Unknown whether the response contains ${quoted(text)}: its first ${sizeOf(answer)} do not, and the rest was not read`
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
 * @param owner the organization, which shares the thread for long texts with others.
 * @throws Unavailable or TaskTimeout when the thread is too busy or the text takes too long.
 */
export async function jsonFailure(assertion: JsonAssertion, answer: Answer, owner: string): Promise<string | null> {
  const encoding = unsupportedEncoding(answer.headers)
  if (encoding !== null) return `The response is encoded with ${oneLine(encoding, 40)}, which cannot be read as JSON`
  if (!answer.complete) return 'The response is too long to be read as JSON'
  return checkJson(assertion, bodyText(answer), owner)
}
