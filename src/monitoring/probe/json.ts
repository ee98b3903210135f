/** JSON that is deeper nests nothing but brackets: a body of them takes a third of a second to parse. */
const DEEPEST = 500

/** What a text is as JSON; `refused` says why it is none, or is not read. */
export type Json = { readonly value: unknown } | { readonly refused: string }

/** An integer that a number of JavaScript cannot hold exactly, by its digits. */
export class BigInteger {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }
}

/** Reads a text as JSON, in milliseconds whatever it is. Long integers are `BigInteger`s. */
export function readJson(text: string): Json {
  if (depthOf(text) > DEEPEST)
    return { refused: `The answer nests deeper than ${DEEPEST} levels: it is not read as JSON` }
  try {
    const value: unknown = JSON.parse(text)
    if (!/\d{16}/.test(text)) return { value }
    // Known to be JSON by now, in which these are whole numbers: they become texts that no answer can have.
    return {
      value: JSON.parse(text.replace(longIntegers, (match) => (match.startsWith('"') ? match : `"${mark}${match}"`))),
    }
  } catch {
    return { refused: 'The answer is not valid JSON' }
  }
}

/** What stands for a long integer, as a text of the answer begins with it only by being escaped. */
const mark = '\\ud800'

const longIntegers = /"(?:[^"\\]|\\.)*"|(?<![\w.+-])-?[1-9]\d{15,}(?![\w.])/g

/** A value of what was read: a long integer as such. */
export function exact(value: unknown): unknown {
  return typeof value === 'string' && /^\ud800-?\d{16,}$/.test(value) ? new BigInteger(value.slice(1)) : value
}

/** How deep the brackets of a text nest, outside of its strings. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = endOfString(text, at)
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return deepest
}

/** Where the string that begins at `start` ends: at its quote, or with the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const quote = text.indexOf('"', at)
    if (quote === -1) return text.length
    let slashes = quote
    while (text.charCodeAt(slashes - 1) === 0x5c) slashes -= 1
    if ((quote - slashes) % 2 === 0) return quote
    at = quote
  }
}
