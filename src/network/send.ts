import type { Outbound } from './outbound.ts'

/** Sends a request and gives the whole answer. @throws when there is none in `timeoutMs`, or one of more than `maxBytes`. */
export type Send = (
  request: {
    readonly method: 'GET' | 'POST'
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  },
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
) => Promise<{ readonly status: number; readonly body: string }>

/** Sends through a way out. Redirects are not followed: they could lead anywhere. */
export function sendThrough(outbound: Outbound): Send {
  return async ({ headers, ...request }, { timeoutMs, maxBytes }) => {
    const lines = Object.entries(headers).map(([name, value]) => ({ name, value }))
    const answer = await outbound.request({ ...request, headers: lines, maxBodyBytes: maxBytes }, { timeoutMs })
    if (answer.kind !== 'answer') throw new Error(answer.message)
    if (!answer.complete) throw new Error(`The answer has more than ${maxBytes} bytes.`)
    return { status: answer.status, body: answer.body.toString('utf8') }
  }
}
