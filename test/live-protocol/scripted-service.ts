import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'

/** How the service ends a subscription: a close code, the end of the operation, or a connection that breaks. */
export type Ending = 1001 | 1013 | 4403 | 'complete' | 'lost'

/** One subscription of a client. */
interface Feed {
  /** The argument `after`; null: none. */
  readonly after: string | null
  /** What the client sent to be known by, as in the header `Authorization`; null: nothing. */
  readonly credential: string | null
  readonly protocol: 'websocket' | 'server-sent events'
  /** Sends an event, with more members than the client asked for. */
  send(cursor: string, event?: { readonly kind?: string; readonly [member: string]: unknown }): void
  end(how: Ending): void
  /** Resolves when the client has answered a `ping`; null: the protocol has none. */
  ping(): Promise<void> | null
}

/** The service's side of the live protocol, which does what a test says. */
export interface ScriptedService {
  readonly url: string
  /** The subscriptions so far, in order. */
  readonly feeds: readonly Feed[]
  /** How often a client has read the page. */
  readonly pageReads: () => number
  /** Calls back for each subscription, from now on. `count` is that of the earlier ones. */
  play(play: (feed: Feed, count: number) => void): void
  /** The cursor of the page. */
  page: { cursor: string }
  close(): Promise<void>
}

/** The name of the only page. */
export const SLUG = 'conformance'

interface Payload {
  readonly query?: string
  readonly variables?: Readonly<Record<string, unknown>>
}

/** Starts the service on a free port of this machine. */
export async function startScriptedService(): Promise<ScriptedService> {
  const page = { cursor: '1' }
  const feeds: Feed[] = []
  let reads = 0
  let play: (feed: Feed, count: number) => void = () => {}

  function begin(feed: Feed): void {
    feeds.push(feed)
    play(feed, feeds.length - 1)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== '/graphql') return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const payload = JSON.parse(Buffer.concat(chunks).toString()) as Payload
    if (request.headers.accept?.includes('text/event-stream')) return begin(eventStream(request, response, payload))
    reads += 1
    const data = { statusPage: { id: 'page', name: 'Conformance', cursor: page.cursor } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  }
  const server = createServer((request, response) => void answer(request, response))
  const sockets = new WebSocketServer({ server, path: '/graphql', handleProtocols: () => 'graphql-transport-ws' })
  sockets.on('connection', (socket) => converse(socket, begin))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    feeds,
    page,
    pageReads: () => reads,
    play(next) {
      play = next
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

const eventOf = (cursor: string, event: object = {}) => ({
  data: {
    statusPageEvents: {
      at: '2026-01-01T00:00:00.000Z',
      kind: 'SERVICE_UPDATED',
      subjectId: null,
      incident: null,
      maintenance: null,
      service: null,
      serviceGroup: null,
      ...event,
      cursor,
    },
  },
})

/** Returns the argument `after` of a subscription, given as a variable or in the document. */
function afterIn({ query = '', variables = {} }: Payload): string | null {
  const [, name, literal] = /\bafter\s*:\s*(?:\$(\w+)|"([^"]*)")/.exec(query) ?? []
  const value = name === undefined ? literal : variables[name]
  return value == null ? null : String(value)
}

function eventStream(request: IncomingMessage, response: ServerResponse, payload: Payload): Feed {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
  return {
    after: afterIn(payload),
    credential: request.headers.authorization ?? null,
    protocol: 'server-sent events',
    send: (cursor, event) => void response.write(`event: next\ndata: ${JSON.stringify(eventOf(cursor, event))}\n\n`),
    end(how) {
      if (how === 'complete') return void response.end('event: complete\ndata:\n\n')
      // What was sent before arrives.
      if (how !== 4403) return void response.write(':\n\n', () => response.destroy())
      const errors = [{ message: 'No access.', extensions: { code: 'UNAUTHENTICATED' } }]
      response.end(`event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`)
    },
    ping: () => null,
  }
}

/** Speaks `graphql-transport-ws` with a client. */
function converse(socket: WebSocket, begin: (feed: Feed) => void): void {
  let credential: string | null = null
  let onPong = () => {}
  const say = (message: object) => socket.send(JSON.stringify(message))
  const hear = (data: RawData) => {
    const { type, id, payload } = JSON.parse(String(data)) as { type: string; id: string; payload?: Payload }
    if (type === 'connection_init') {
      const { authorization } = (payload ?? {}) as { readonly authorization?: string }
      credential = authorization ?? null
      say({ type: 'connection_ack' })
    } else if (type === 'ping') say({ type: 'pong' })
    else if (type === 'pong') onPong()
    else if (type === 'subscribe') begin(feedOf(id, payload ?? {}))
  }
  const feedOf = (id: string, payload: Payload): Feed => ({
    after: afterIn(payload),
    credential,
    protocol: 'websocket',
    send: (cursor, event) => say({ id, type: 'next', payload: eventOf(cursor, event) }),
    end(how) {
      if (how === 'complete') say({ id, type: 'complete' })
      else if (how === 'lost') socket.terminate()
      else socket.close(how)
    },
    ping() {
      const answered = new Promise<void>((resolve) => {
        onPong = resolve
      })
      say({ type: 'ping' })
      return answered
    },
  })
  socket.on('message', hear)
}
