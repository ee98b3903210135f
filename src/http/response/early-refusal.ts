import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../core/errors.ts'

/** A refusal of a request before the router sees it. */
export interface EarlyRefusal {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Returns the content of a refusal: an error as JSON on the paths of the REST API (docs/rest.md) and of Statuspage
 * documents, a response of GraphQL at its path, a sentence elsewhere.
 */
export function earlyRefusal({ url = '' }: IncomingMessage, code: ErrorCode, message: string): EarlyRefusal {
  const [path = ''] = url.split('?', 1)
  if (/^\/graphql(?:\/|$)/.test(path)) {
    return {
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
      body: JSON.stringify({ errors: [{ message, extensions: { code } }] }),
    }
  }
  if (!path.startsWith('/api/') && !path.includes('/api/v2/'))
    return { headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: `${message}\n` }
  return {
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: { code, message } }),
  }
}
