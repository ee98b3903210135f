import type { Outbound } from './outbound.ts'

/**
 * Sends a request and returns the whole response.
 * @throws when there is no response within `timeoutMs`, or it exceeds `maxBytes`.
 */
export type Send = (
  request: {
    readonly method: 'GET' | 'POST'
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  },
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
) => Promise<{
  readonly status: number
  readonly body: string
  /** The header Retry-After; null or absent: there is none. */
  readonly retryAfter?: string | null
}>

/** Creates a `Send` that uses the outbound client. It does not follow redirects, which could lead anywhere. */
export function createSend(outbound: Pick<Outbound, 'request'>): Send {
  return async ({ headers, ...request }, { timeoutMs, maxBytes }) => {
    const lines = Object.entries(headers).map(([name, value]) => ({ name, value }))
    const answer = await outbound.request({ ...request, headers: lines, maxBodyBytes: maxBytes }, { timeoutMs })
    if (answer.kind !== 'answer') throw new Error(answer.message)
    if (!answer.complete) throw new Error(`The response exceeds ${maxBytes} bytes.`)
    return {
      status: answer.status,
      body: answer.body.toString('utf8'),
      retryAfter: answer.headers['retry-after'] ?? null,
    }
  }
}
