// Hears of a page's changes over a websocket, in the protocol graphql-transport-ws
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md), for as long as the page is open.

/** What is told of an event: where it stands in the page's log, and what kind it is. */
export interface LiveEvent {
  readonly cursor: string
  readonly kind: string
}

interface Follower {
  /** The position from which to be told, asked at each connection. */
  after(): string
  onConnected(): void
  onEvent(event: LiveEvent): void
  /** The server has been heard of. */
  onAlive(): void
  onLost(): void
}

/** Milliseconds of silence after which the server is asked whether it is there, and after which it is taken to be gone. */
const QUIET = 20_000
const GONE = 30_000
/** Milliseconds of the first and the longest wait before connecting again; each wait doubles the one before. */
const FIRST_WAIT = 500
const LONGEST_WAIT = 10_000

const query = 'subscription($slug:String!,$after:String){statusPageEvents(slug:$slug,after:$after){cursor kind}}'

/** Connects, and connects again whenever the connection is lost. */
export function follow(slug: string, follower: Follower): void {
  let wait = FIRST_WAIT
  connect()

  function connect() {
    const socket = new WebSocket(new URL('/graphql', location.href.replace(/^http/, 'ws')), 'graphql-transport-ws')
    const send = (message: object) => socket.send(JSON.stringify(message))
    let acknowledged = false
    const opened = Date.now()
    let heard = opened
    const watch = setInterval(() => {
      const silence = Date.now() - heard
      // A connection that broke on the way may take minutes to be closed by itself.
      if (silence > GONE) lose()
      else if (silence > QUIET && acknowledged) send({ type: 'ping' })
    }, QUIET / 4)

    socket.onopen = () => send({ type: 'connection_init' })
    socket.onclose = lose
    socket.onmessage = ({ data }) => {
      heard = Date.now()
      const message = JSON.parse(data)
      follower.onAlive()
      switch (message.type) {
        case 'connection_ack':
          acknowledged = true
          send({ id: '1', type: 'subscribe', payload: { query, variables: { slug, after: follower.after() } } })
          follower.onConnected()
          break
        case 'ping':
          send({ type: 'pong' })
          break
        case 'next':
          if (message.payload.data) follower.onEvent(message.payload.data.statusPageEvents)
          else lose()
          break
        case 'error':
        case 'complete':
          lose()
      }
    }

    function lose() {
      clearInterval(watch)
      socket.onclose = socket.onmessage = null
      socket.close()
      follower.onLost()
      // One that lasted was no failure to connect.
      if (heard - opened > LONGEST_WAIT) wait = FIRST_WAIT
      // Spread, so that a server that starts again is not met by everybody at once.
      setTimeout(connect, wait * (0.5 + Math.random()))
      wait = Math.min(2 * wait, LONGEST_WAIT)
    }
  }
}
