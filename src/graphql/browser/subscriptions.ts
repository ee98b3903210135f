// Keeps GraphQL subscriptions open over one WebSocket, in the protocol graphql-transport-ws
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md), while the page is open.

/** A subscription and the handler of its results. */
interface Subscription {
  readonly query: string
  readonly variables: Record<string, unknown>
  onData(data: never): void
}

interface ConnectionListener {
  /** A read token of a page; absent: the browser’s cookies identify the reader. */
  readonly token?: string | null
  /** Returns what to subscribe to; called for each connection. The connection lasts as long as the first one. */
  subscriptions(): readonly Subscription[]
  onConnected(): void
  /** Called for each message from the server. */
  onAlive?(): void
  onDisconnected(): void
}

/** Milliseconds of silence after which the client pings the server, and after which it closes the connection. */
const PING_AFTER_MS = { visible: 3000, hidden: 20_000 } as const
const CLOSE_AFTER_MS = 30_000
/** The first and the maximum delay before a reconnect; each delay doubles the previous one. */
const MIN_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
/** How long a connection must last to count as a success. */
const SUCCESS_AFTER_MS = 10_000

/** Connects, and reconnects whenever the connection is lost. */
export function keepSubscribed(listener: ConnectionListener): void {
  let delay = MIN_DELAY_MS
  connect()

  function connect() {
    const socket = new WebSocket(new URL('/graphql', location.href.replace(/^http/, 'ws')), 'graphql-transport-ws')
    const send = (message: object) => socket.send(JSON.stringify(message))
    let subscriptions: readonly Subscription[] = []
    const openedAt = Date.now()
    let lastMessageAt = openedAt
    const watchdog = setInterval(() => {
      const silence = Date.now() - lastMessageAt
      // The browser may take minutes to close a broken connection.
      if (silence > CLOSE_AFTER_MS) reconnect()
      else if (silence > PING_AFTER_MS[document.visibilityState] && subscriptions.length > 0) send({ type: 'ping' })
    }, 1000)

    const payload = listener.token ? { authorization: `Bearer ${listener.token}` } : undefined
    socket.onopen = () => send({ type: 'connection_init', payload })
    socket.onclose = reconnect
    socket.onmessage = ({ data }) => {
      lastMessageAt = Date.now()
      listener.onAlive?.()
      const { type, id, payload } = JSON.parse(data)
      if (type === 'connection_ack') subscribe()
      else if (type === 'ping') send({ type: 'pong' })
      else if (type === 'next' && payload.data) subscriptions[id]?.onData(payload.data as never)
      else if (id === '0') reconnect()
    }

    function subscribe() {
      subscriptions = listener.subscriptions()
      for (const [id, { query, variables }] of subscriptions.entries()) {
        send({ id: String(id), type: 'subscribe', payload: { query, variables } })
      }
      listener.onConnected()
    }

    function reconnect() {
      clearInterval(watchdog)
      socket.onclose = socket.onmessage = null
      socket.close()
      listener.onDisconnected()
      if (lastMessageAt - openedAt > SUCCESS_AFTER_MS) delay = MIN_DELAY_MS
      // Jitter keeps a restarted server from being hit by all clients at once.
      setTimeout(connect, delay * (0.5 + Math.random()))
      delay = Math.min(2 * delay, MAX_DELAY_MS)
    }
  }
}
