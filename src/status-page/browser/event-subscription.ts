// Subscribes to a page's events over a WebSocket, in the protocol graphql-transport-ws
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md), while the page is open.

/** What turns the page into a newer version, if it shows one of the versions of parts `since`. */
export interface Patch {
  readonly since: readonly string[]
  readonly html: string
}

/** An event of the page's log. */
export interface PageEvent {
  readonly cursor: string
  /** Whether events are missing before it. */
  readonly isReload: boolean
  /** Null or absent: what changed is to be fetched, unless an earlier event has brought it. */
  readonly patch?: Patch | null
}

interface EventListener {
  /** Returns the position to subscribe from; called for each connection. */
  after(): string
  onConnected(): void
  onEvent(event: PageEvent): void
  /** Called for each message from the server. */
  onAlive(): void
  onDisconnected(): void
}

/** Milliseconds of silence after which the client pings the server, and after which it closes the connection. */
const PING_AFTER_MS = 20_000
const CLOSE_AFTER_MS = 30_000
/** The first and the maximum delay before a reconnect; each delay doubles the previous one. Meanwhile the page is polled. */
const MIN_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
/** How long a connection must last to count as a success. */
const SUCCESS_AFTER_MS = 10_000

const query = (fields: string) =>
  `subscription($slug:String!,$host:String,$after:String){statusPageChanges(slug:$slug,host:$host,after:$after){cursor isReload${fields}}}`

/** Connects, and reconnects whenever the connection is lost. Only the overview gets patches. */
export function subscribeToEvents(slug: string, listener: EventListener): void {
  const path = `/status/${slug}`
  const isOverview = location.pathname === path || location.pathname === '/'
  const operation = query(isOverview && 'DecompressionStream' in window ? ' patch{since html}' : '')
  const host = location.pathname.startsWith(path) ? null : location.host
  let delay = MIN_DELAY_MS
  connect()

  function connect() {
    const socket = new WebSocket(new URL('/graphql', location.href.replace(/^http/, 'ws')), 'graphql-transport-ws')
    const send = (message: object) => socket.send(JSON.stringify(message))
    let acknowledged = false
    const openedAt = Date.now()
    let lastMessageAt = openedAt
    const watchdog = setInterval(() => {
      const silence = Date.now() - lastMessageAt
      // The browser may take minutes to close a broken connection.
      if (silence > CLOSE_AFTER_MS) reconnect()
      else if (silence > PING_AFTER_MS && acknowledged) send({ type: 'ping' })
    }, PING_AFTER_MS / 4)

    socket.onopen = () => send({ type: 'connection_init' })
    socket.onclose = reconnect
    socket.onmessage = ({ data }) => {
      lastMessageAt = Date.now()
      const message = JSON.parse(data)
      listener.onAlive()
      switch (message.type) {
        case 'connection_ack':
          acknowledged = true
          send({
            id: '1',
            type: 'subscribe',
            payload: { query: operation, variables: { slug, host, after: listener.after() } },
          })
          listener.onConnected()
          break
        case 'ping':
          send({ type: 'pong' })
          break
        case 'next':
          if (message.payload.data) listener.onEvent(message.payload.data.statusPageChanges)
          else reconnect()
          break
        case 'error':
        case 'complete':
          reconnect()
      }
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
