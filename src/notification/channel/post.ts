import type { Answer } from '../../network/outbound.ts'
import { SECOND } from '../../time.ts'
import type { Outcome, SendTools } from './channel.ts'

/** How long a receiver may take to answer, in milliseconds. */
export const SEND_TIMEOUT = 10 * SECOND
/** What is read of an answer: enough for an error code. */
const READ = 4096

/** A body to post. */
export interface Post {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Posts JSON through the guarded way out; a redirect is an answer like any other, and not followed.
 * @param lasting what an answer that is no success means, when it is not passing.
 */
export async function post(
  { url, body, headers = {} }: Post,
  { outbound, now }: SendTools,
  lasting: (answer: Answer) => 'REFUSED' | 'GONE' | null,
): Promise<Outcome> {
  const answer = await outbound.request(
    {
      url,
      method: 'POST',
      headers: Object.entries({ 'content-type': 'application/json', ...headers }).map(([name, value]) => ({
        name,
        value,
      })),
      body,
      maxBodyBytes: READ,
    },
    { timeoutMs: SEND_TIMEOUT },
  )
  if (answer.kind === 'failed') {
    return { kind: 'failed', status: null, message: `${answer.message}.`, lasts: 'PASSING', retryAfterMs: null }
  }
  const { status } = answer
  const message = `Answered with status ${status}.`
  if (status >= 200 && status < 300) return { kind: 'delivered', status, message }
  const retryAfterMs = readRetryAfter(answer.headers, now())
  return { kind: 'failed', status, message, lasts: lasting(answer) ?? 'PASSING', retryAfterMs }
}

/** What `Retry-After` asks for (RFC 9110 §10.2.3), seconds or a date, in milliseconds from now; null: nothing usable. */
export function readRetryAfter({ 'retry-after': value }: Answer['headers'], now: Date): number | null {
  if (value === undefined) return null
  // Discord gives fractions of seconds.
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Math.ceil(Number(value) * SECOND)
  // Left to itself, `parse` finds a date in almost anything.
  const at = / GMT$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime())
}

/** The answer as a JSON object; an empty one when it is none. */
export function jsonOf({ body }: Answer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
