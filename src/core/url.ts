/**
 * Parses a URL (WHATWG), optionally against a base. Null: it is invalid. Replaces `URL.canParse`, which on Node 20
 * refuses URLs with letters such as `ü` after some thousand calls, once it is compiled.
 */
export function parseUrl(text: string, base?: string | URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
