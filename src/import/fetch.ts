import { setTimeout as sleep } from 'node:timers/promises'
import { DeadlineExceeded, withDeadline } from '../core/concurrency/deadline.ts'
import { type Clock, MINUTE, SECOND } from '../core/time.ts'
import { invalid } from '../core/validation.ts'
import type { Send } from '../network/outbound/send.ts'
import { fetchers } from './fetchers.ts'
import type { Source } from './source-names.ts'
import { type Ask, type Asked, Refused } from './source-request.ts'
import { readJson } from './translation.ts'

/** The limits of one request. The main thread parses and rewrites each answer. */
const REQUEST_LIMITS = { timeoutMs: 15 * SECOND, maxBytes: 2_500_000 }
/** The size limit of all answers together, the same as for a file. */
const MAX_BYTES = 20_000_000
/** The first wait after a rate limit. It doubles with each retry. */
const FIRST_WAIT_MS = 2 * SECOND
const MAX_TRIES = 5
/** The maximum wait that a source may ask for. */
const MAX_WAIT_MS = MINUTE

/** The limits of a fetch. */
export interface FetchLimits {
  readonly requests: number
  readonly deadlineMs: number
  /** Waits for a time. Default: a timer. */
  readonly wait?: (ms: number) => Promise<unknown>
  readonly now: Clock
}

/** The limits for a person who waits for the result. */
const DEFAULT_LIMITS = { requests: 150, deadlineMs: 2 * MINUTE }

/** The input that is required for fetching from a source. */
interface FetchInput {
  readonly address: boolean
  readonly key: 'REQUIRED' | 'OPTIONAL' | 'NONE'
}

/** The input for each source that can be fetched. */
const fetchInputs: Partial<Record<Source, FetchInput>> = {
  statuspage: { address: true, key: 'OPTIONAL' },
  cachet: { address: true, key: 'OPTIONAL' },
  uptimerobot: { address: false, key: 'REQUIRED' },
  betterstack: { address: false, key: 'REQUIRED' },
  instatus: { address: true, key: 'REQUIRED' },
  hetrixtools: { address: false, key: 'REQUIRED' },
}

/** Returns the input for fetching from a source. Null if it cannot be fetched. */
export const fetchInputOf = (source: Source) => fetchInputs[source] ?? null

/**
 * Fetches the data of a source from its API, as a file. Sends the key only to the source.
 * @param send sends requests. In the service, it uses the outbound client.
 * @throws Invalid if the source does not answer as expected.
 */
export async function fetchSource(
  send: Send,
  source: Source,
  given: Asked,
  own: Partial<FetchLimits> & Pick<FetchLimits, 'now'>,
): Promise<Uint8Array> {
  const limits = { ...DEFAULT_LIMITS, ...own }
  const fetchFrom = fetchers[source]
  if (fetchFrom === undefined) throw invalid([{ path: ['file'], message: 'must be chosen or pasted as text' }])
  const field = fetchInputs[source]?.address === true && source !== 'instatus' ? 'address' : 'key'
  const refused = (message: string) => invalid([{ path: [field], message: `the source ${message}` }])
  const budget = { requests: limits.requests, bytes: MAX_BYTES, isOver: false }
  const ask = createAsk(send, limits, budget, refused)
  try {
    return Buffer.from((await withDeadline(limits.deadlineMs, 'The source', fetchFrom(ask, given))).text())
  } catch (error) {
    if (error instanceof DeadlineExceeded) throw refused(`takes longer than ${limits.deadlineMs / 1000} s to answer`)
    throw error instanceof Refused ? refused(error.message) : error
  } finally {
    budget.isOver = true
  }
}

interface Budget {
  requests: number
  bytes: number
  /** Whether the fetch has ended, so that pending requests must stop. */
  isOver: boolean
}

function createAsk(
  send: Send,
  { wait = sleep, now }: FetchLimits,
  budget: Budget,
  refused: (message: string) => Error,
): Ask {
  return async ({ url, headers = {}, body }) => {
    const sent = { accept: 'application/json', ...headers }
    const method = body === undefined ? 'GET' : 'POST'
    const text = await sendWithRetry({ method, url, headers: sent, ...(body !== undefined && { body }) })
    budget.bytes -= Buffer.byteLength(text)
    if (budget.bytes < 0) throw refused(`answers with more than ${MAX_BYTES / 1e6} MB`)
    try {
      return readJson(text)
    } catch {
      throw refused('does not answer with JSON')
    }
  }

  /** Sends a request, and retries it after a rate limit. */
  async function sendWithRetry(request: Parameters<Send>[0], tries = 1): Promise<string> {
    budget.requests -= 1
    if (budget.isOver || budget.requests < 0) throw refused('has too many pages')
    const { status, body, retryAfter } = await send(request, REQUEST_LIMITS).catch((error: Error) => {
      throw refused(`does not answer: ${error.message.replace(/\.$/, '')}`)
    })
    if (status === 200) return body
    const isLimited = status === 429 || status === 420 || (status === 503 && retryAfter != null)
    if (!isLimited || tries >= MAX_TRIES) throw new Refused(status)
    const waitMs = waitOf(retryAfter ?? null, now())
    if (waitMs > MAX_WAIT_MS) throw refused(`limits the rate: try again in ${Math.ceil(waitMs / MINUTE)} minutes`)
    await wait(Math.max(waitMs, FIRST_WAIT_MS * 2 ** (tries - 1)))
    return sendWithRetry(request, tries + 1)
  }
}

/** Returns the milliseconds in a Retry-After header (RFC 9110 §10.2.3), given as seconds or a date. 0 if it is absent or invalid. */
function waitOf(header: string | null, now: Date): number {
  if (header === null) return 0
  const text = header.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? 0 : Math.max(0, ms)
}
