import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../core/errors.ts'

/** A refusal of a request before the router sees it. */
export interface EarlyRefusal {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Returns the content of a refusal: an error as JSON on the paths of the REST API (docs/rest.md), a sentence elsewhere. */
export function earlyRefusal({ url = '' }: IncomingMessage, code: ErrorCode, message: string): EarlyRefusal {
  if (!url.startsWith('/api/'))
    return { headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: `${message}\n` }
  return {
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: { code, message } }),
  }
}
