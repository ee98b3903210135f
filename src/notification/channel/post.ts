import { SECOND } from '../../core/time.ts'
import type { Answer } from '../../network/outbound/outbound.ts'
import { readRetryAfter } from '../../network/retry-after.ts'
import type { SendResult, SendTools } from './channel.ts'

/** How long a receiver can take to respond, in milliseconds. */
const SEND_TIMEOUT = 10 * SECOND
/** How much of a response is read, which is enough for an error code. */
const MAX_ANSWER_BYTES = 4096

/** A body to post. */
export interface Post {
  readonly url: string
  /** Defaults to POST. */
  readonly method?: 'PUT'
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Posts JSON, or the content type in the headers, through the guarded outbound client. Redirects are not followed.
 * @param lasting returns the permanence of a response that is not a success, or null if the failure is temporary.
 */
export async function post(
  { url, method, body, headers = {} }: Post,
  { outbound, now }: Pick<SendTools, 'outbound' | 'now'>,
  lasting: (answer: Answer) => 'REFUSED' | 'GONE' | null,
): Promise<SendResult> {
  const answer = await outbound.request(
    {
      url,
      method: method ?? 'POST',
      headers: Object.entries({ 'content-type': 'application/json', ...headers }).map(([name, value]) => ({
        name,
        value,
      })),
      body,
      maxBodyBytes: MAX_ANSWER_BYTES,
    },
    { timeoutMs: SEND_TIMEOUT },
  )
  if (answer.kind === 'failed' && answer.reason === 'rate-limited') return { kind: 'postponed' }
  if (answer.kind === 'failed') {
    return { kind: 'failed', status: null, message: `${answer.message}.`, permanence: 'TEMPORARY', retryAfterMs: null }
  }
  const { status } = answer
  const message = `Answered with status ${status}.`
  if (status >= 200 && status < 300) return { kind: 'delivered', status, message }
  const retryAfterMs = readRetryAfter(answer.headers, now())
  return { kind: 'failed', status, message, permanence: lasting(answer) ?? 'TEMPORARY', retryAfterMs }
}

/** Parses the response as a JSON object; an empty object if it is not one. */
export function jsonOf({ body }: Answer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
