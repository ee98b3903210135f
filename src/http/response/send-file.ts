import type { Context } from 'hono'
import { hasCurrent } from './etag.ts'
import type { Answer } from './send-answer.ts'
import { answerWith, sendAnswer } from './send-answer.ts'

/** An uploaded file. */
export interface SentFile {
  /** The content never changes under this id. */
  readonly id: string
  readonly name: string
  readonly type: string
  readonly content: Buffer
  /** Whether browsers may show it. Any other file can only be saved. */
  readonly isShown: boolean
}

/**
 * Sends an uploaded file, or 304 if the client has it. Browsers never run it: they do not guess its type, save anything
 * but pictures, and open it without scripts and without an origin.
 */
export function sendFile(
  c: Context,
  file: SentFile,
  caching: string,
  more: Readonly<Record<string, string>> = {},
): Response {
  const etag = `"${file.id}"`
  const headers = {
    ...more,
    etag,
    'content-type': file.type,
    'content-disposition': `${file.isShown ? 'inline' : 'attachment'}; ${nameParameters(file.name)}`,
    'cache-control': caching,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  }
  const isKnown = hasCurrent(c.req.header('if-none-match'), etag)
  return sendAnswer(
    c,
    answerWith(isKnown ? null : (file.content as NonNullable<Answer['body']>), isKnown ? 304 : 200, headers),
  )
}

/** Formats a name according to RFC 6266 §4.3: in ASCII for old clients, and in UTF-8 for others. */
function nameParameters(name: string): string {
  const ascii = name.normalize('NFKD').replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename="${ascii}"; filename*=UTF-8''${encoded}`
}
