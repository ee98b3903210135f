import { MIMEType } from 'node:util'

/** The media type of a body, as its sender states it. */
export interface MediaType {
  /** Type and subtype in lower case, such as `application/json`. */
  readonly essence: string
  /** In lower case; null: not stated. */
  readonly charset: string | null
}

/**
 * Returns the media type in a `Content-Type` header (RFC 9110 §8.3.1): in any case, with spaces around `;` and quoted
 * parameters. Of several types, which some clients send, the first; null: there is none.
 */
export function mediaTypeOf(header: string | null | undefined): MediaType | null {
  const found = header ? (parse(header) ?? parse(header.split(',', 1)[0] ?? '')) : null
  return found && { essence: found.essence, charset: found.params.get('charset')?.toLowerCase() ?? null }
}

function parse(text: string): MIMEType | null {
  try {
    return new MIMEType(text)
  } catch {
    return null
  }
}
