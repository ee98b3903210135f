/** The maximum nesting depth. Deeper JSON is unrealistic, and takes up to 0.3 s to parse. */
const MAX_DEPTH = 500

/** Parsed JSON, or the reason why it could not be parsed. */
export type Json = { readonly value: unknown } | { readonly refused: string }

/** An integer that a JavaScript number cannot represent exactly, as its digits. */
export class BigInteger {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }
}

/** Parses JSON, within milliseconds for any text. `exact` converts its long integers to `BigInteger`s. */
export function readJson(text: string): Json {
  if (depthOf(text) > MAX_DEPTH)
    return { refused: `The response is JSON with more than ${MAX_DEPTH} levels, which is too deep to read` }
  try {
    const value: unknown = JSON.parse(text)
    if (!/\d{16}/.test(text)) return { value }
    // The text is valid JSON, so the matches are integers. They become strings that no response contains.
    return {
      value: JSON.parse(text.replace(longIntegers, (match) => (match.startsWith('"') ? match : `"${mark}${match}"`))),
    }
  } catch {
    return { refused: 'The response is not valid JSON' }
  }
}

/** The mark of a long integer: an escaped character. A response can only contain it in escaped form. */
const mark = '\\ud800'

const longIntegers = /"(?:[^"\\]|\\.)*"|(?<![\w.+-])-?[1-9]\d{15,}(?![\w.])/g

/** Converts a marked string back to a `BigInteger`. */
export function exact(value: unknown): unknown {
  return typeof value === 'string' && /^\ud800-?\d{16,}$/.test(value) ? new BigInteger(value.slice(1)) : value
}

/** Returns the nesting depth of brackets outside strings. */
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

/** Returns the end of the string that starts at `start`: its closing quote, or the end of the text. */
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
