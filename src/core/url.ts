/**
 * Parses a URL (WHATWG), against a base where one is given. Null: it is invalid. Instead of `URL.canParse`, which on Node 20 refuses URLs
 * with letters such as `ü` once it has been called some thousand times and is compiled.
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
