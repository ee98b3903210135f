/** The client library `allclear/client`. It has no dependencies and runs wherever `fetch` does. */

/** The connection to a service. */
export interface ClientOptions {
  /** The address of the service, such as `https://status.example.com`. */
  readonly url: string
  /** An API key; public data needs none. */
  readonly key?: string | undefined
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** How long a request may take, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined
}

/** The start and the end of followed events. */
export interface FollowOptions {
  /** The cursor of a page or an event: all later events follow. Default: events from now on. */
  readonly after?: string | undefined
  /** Ends the events when it aborts. */
  readonly signal?: AbortSignal | undefined
  /** Called when the connection is lost, before the client reconnects. */
  readonly onReconnect?: ((error: Error, inMs: number) => void) | undefined
}

/**
 * An event of a status page. After one of kind `RELOAD`, read the page again: earlier events are no longer available.
 */
export interface PageEvent {
  readonly cursor: string
  readonly at: string
  readonly kind: string
  readonly subjectId: string | null
  readonly incident: {
    readonly id: string
    readonly title: string
    readonly status: 'INVESTIGATING' | 'IDENTIFIED' | 'MONITORING' | 'RESOLVED'
    readonly impact: 'NONE' | 'MINOR' | 'MAJOR' | 'CRITICAL'
    readonly startedAt: string
    readonly resolvedAt: string | null
  } | null
  readonly maintenance: {
    readonly id: string
    readonly title: string
    readonly status: 'SCHEDULED' | 'IN_PROGRESS' | 'VERIFYING' | 'COMPLETED' | 'CANCELLED'
    readonly startsAt: string
    readonly endsAt: string
  } | null
  readonly service: {
    readonly id: string
    readonly name: string
    readonly status: 'OPERATIONAL' | 'DEGRADED_PERFORMANCE' | 'PARTIAL_OUTAGE' | 'MAJOR_OUTAGE' | 'UNDER_MAINTENANCE'
  } | null
  readonly serviceGroup: { readonly id: string; readonly name: string } | null
}

/** An event of an organization, private ones included. */
export interface OrganizationEvent {
  readonly cursor: string
  /** Null: events after the cursor are no longer available, so read everything again. */
  readonly event: {
    readonly at: string
    readonly kind: string
    readonly subjectId: string
    readonly subjectName: string
    readonly actor: 'API_KEY' | 'OPERATOR' | 'SYSTEM' | 'USER' | 'VISITOR'
    readonly userName: string | null
  } | null
}

/** A client of one service. */
export interface Client {
  /**
   * Runs a query or a mutation.
   * @throws RequestError if the service refuses it, or doesn't answer in time.
   */
  request<Data>(query: string, variables?: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Data>
  /**
   * Yields the events of a status page. Reconnects when the connection is lost and continues after the last event, so
   * that no event is missed or repeated. Ends when the signal aborts.
   * @throws RequestError when the service refuses it.
   */
  statusPageEvents(slug: string, options?: FollowOptions): AsyncGenerator<PageEvent, void, undefined>
  /** Yields the events of the key's organization, like `statusPageEvents`. */
  organizationEvents(options?: FollowOptions): AsyncGenerator<OrganizationEvent, void, undefined>
}

/** A request that failed. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  /** The code of the service, such as `UNAUTHENTICATED`, or `UNREACHABLE`. */
  readonly code: string
  /** Whether it may succeed later. */
  readonly isTemporary: boolean

  constructor(code: string, message: string, isTemporary: boolean, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.isTemporary = isTemporary
  }
}

/** Creates a client. It connects when it is first used. */
export function createClient({ url, key, fetch: given, timeoutMs = TIMEOUT_MS }: ClientOptions): Client {
  const endpoint = `${url.replace(/(?<!\/)\/+$/, '')}/graphql`

  async function send(accept: string, operation: Operation, signal?: AbortSignal): Promise<Response> {
    try {
      return await (given ?? globalThis.fetch)(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept, ...(key && { authorization: `Bearer ${key}` }) },
        body: JSON.stringify(operation),
        ...(signal && { signal }),
      })
    } catch (error) {
      if (signal?.aborted) throw error
      throw new RequestError('UNREACHABLE', `${endpoint} does not answer: ${reasonOf(error)}`, true, { cause: error })
    }
  }

  async function request<Data>(query: string, variables = {}, signal?: AbortSignal): Promise<Data> {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const either = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal])
    try {
      return await dataOf<Data>(await send('application/json', { query, variables }, either))
    } catch (error) {
      if (signal?.aborted || !timeout.signal.aborted) throw error
      const message = `${endpoint} did not answer within ${timeoutMs / 1000} s.`
      throw new RequestError('UNREACHABLE', message, true, { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Yields the results of a subscription over one connection. */
  async function* results<Data>(operation: Operation, signal: AbortSignal): AsyncGenerator<Data, void, undefined> {
    const quiet = new AbortController()
    let timer = setTimeout(() => quiet.abort(), SILENCE_MS)
    try {
      const response = await send('text/event-stream', operation, AbortSignal.any([signal, quiet.signal]))
      if (!response.ok || response.body === null) {
        await dataOf(response)
        return
      }
      for await (const text of messages(response.body)) {
        clearTimeout(timer)
        timer = setTimeout(() => quiet.abort(), SILENCE_MS)
        const data = /^data: ?(.*)$/m.exec(text)?.[1]
        if (data) yield dataIn<Data>(JSON.parse(data), response.status)
      }
    } finally {
      clearTimeout(timer)
      quiet.abort()
    }
  }

  /** Yields the events of a subscription over one connection. */
  const connection = <Event>(query: string, field: string) =>
    async function* (variables: Operation['variables'], signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
      for await (const data of results<Record<string, Event>>({ query, variables }, signal)) {
        if (data[field] !== undefined) yield data[field]
      }
    }

  return {
    request,
    statusPageEvents(slug, options = {}) {
      const start = async () => {
        const query = 'query Cursor($slug: String!) { statusPage(slug: $slug) { cursor } }'
        const { statusPage } = await request<{ statusPage: { cursor: string } | null }>(query, { slug }, options.signal)
        if (statusPage === null) throw new RequestError('NOT_FOUND', `There is no status page “${slug}”.`, false)
        return statusPage.cursor
      }
      const connect = connection<PageEvent>(PAGE_EVENTS, 'statusPageEvents')
      return follow((after, signal) => connect({ slug, after }, signal), start, options)
    },
    organizationEvents(options = {}) {
      let organizationId = ''
      const start = async () => {
        const { organization } = await request<{ organization: Position }>(POSITION, {}, options.signal)
        organizationId = organization.id
        return options.after ?? organization.cursor
      }
      const connect = connection<OrganizationEvent>(ORGANIZATION_EVENTS, 'organizationEvents')
      // The id of the organization is always needed, so `start` always runs, and returns `after` itself.
      const fromStart = { ...options, after: undefined }
      return follow((after, signal) => connect({ organizationId, after }, signal), start, fromStart)
    },
  }
}

/** Follows events over any number of connections. @param start returns the cursor at which to begin. */
async function* follow<Event extends { readonly cursor: string }>(
  connect: (after: string, signal: AbortSignal) => AsyncGenerator<Event, void, undefined>,
  start: () => Promise<string>,
  { after, signal = new AbortController().signal, onReconnect }: FollowOptions,
): AsyncGenerator<Event, void, undefined> {
  let cursor: string | undefined = after
  let failures = 0
  while (!signal.aborted) {
    try {
      // A connection that is lost before the first event must not miss events either.
      if (cursor === undefined) cursor = await start()
      for await (const event of connect(cursor, signal)) {
        failures = 0
        cursor = event.cursor
        yield event
      }
      throw new RequestError('UNREACHABLE', 'The connection was closed.', true)
    } catch (error) {
      if (signal.aborted) return
      await pause(pauseAfter(error, failures++, onReconnect), signal)
    }
  }
}

/** Returns how long to wait after an error, in milliseconds. @throws the error when a retry cannot succeed. */
function pauseAfter(error: unknown, failures: number, onReconnect: FollowOptions['onReconnect']): number {
  if (error instanceof RequestError && !error.isTemporary) throw error
  // Jitter keeps a restarted service from being hit by all clients at once.
  const inMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random() / 2)
  onReconnect?.(error instanceof Error ? error : new Error(String(error)), inMs)
  return inMs
}

interface Position {
  readonly id: string
  readonly cursor: string
}

interface Operation {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** The default time limit of a request, in milliseconds. */
const TIMEOUT_MS = 60_000
/** How long a connection may be silent, in milliseconds. The service sends a keep-alive every few seconds. */
const SILENCE_MS = 60_000
/** The first and the maximum delay before a reconnect, in milliseconds. */
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 15_000

/** The operations of the live events, which a test validates. */
export const PAGE_EVENTS = `subscription Events($slug: String!, $after: String) {
  statusPageEvents(slug: $slug, after: $after) {
    cursor at kind subjectId
    incident { id title status impact startedAt resolvedAt }
    maintenance { id title status startsAt endsAt }
    service { id name status }
    serviceGroup { id name }
  }
}`
export const POSITION = 'query Position { organization { id cursor } }'
export const ORGANIZATION_EVENTS = `subscription Events($organizationId: ID!, $after: String) {
  organizationEvents(organizationId: $organizationId, after: $after) {
    cursor
    event { at kind subjectId subjectName actor userName }
  }
}`

interface GraphqlResult<Data> {
  readonly data?: Data | null
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[]
}

async function dataOf<Data>(response: Response): Promise<Data> {
  const text = await response.text()
  let result: GraphqlResult<Data>
  try {
    result = JSON.parse(text)
  } catch (cause) {
    const message = `The answer is not JSON (HTTP ${response.status}). Is this the address of an Allclear service?`
    throw new RequestError('UNREACHABLE', message, response.status >= 500, { cause })
  }
  return dataIn(result, response.status)
}

function dataIn<Data>({ data, errors }: GraphqlResult<Data>, status: number): Data {
  const [error] = errors ?? []
  if (error === undefined && data != null) return data
  const code = error?.extensions?.code ?? 'INTERNAL'
  const isTemporary = status >= 500 || status === 429 || code === 'UNAVAILABLE' || code === 'RATE_LIMITED'
  throw new RequestError(code, error?.message ?? `The answer has no data (HTTP ${status}).`, isTemporary)
}

/** Splits server-sent events. Yields comments too, which are keep-alives. */
async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let buffer = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const parts = (buffer + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/)
      buffer = parts.pop() ?? ''
      yield* parts
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown }
  if (cause instanceof Error) return cause.message || String((cause as { code?: string }).code)
  return error instanceof Error ? error.message : String(error)
}

/** Waits for a time, or until the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
