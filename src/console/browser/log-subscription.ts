// Follows an organization's log over a WebSocket, in the protocol graphql-transport-ws. The session's cookie says who reads.

interface LogListener {
  onEvent(): void
  onState(state: 'live' | 'lost'): void
}

const MIN_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
const PING_AFTER_MS = 20_000
const CLOSE_AFTER_MS = 30_000

const query =
  'subscription($organizationId:ID!,$after:String){organizationEvents(organizationId:$organizationId,after:$after){cursor}}'
const checksQuery = 'subscription($id:ID!){monitorChecks(id:$id){cursor}}'

/** What is followed: a log from a position on, and the results of a monitor's probes; null: of none. */
export interface Followed {
  readonly organization: string
  readonly after: string
  readonly monitor: string | null
}

/** Connects, and reconnects whenever the connection is lost. @param position returns what to follow, for each connection. */
export function followLog(position: () => Followed, listener: LogListener): void {
  let delay = MIN_DELAY_MS
  connect()

  function connect(): void {
    const socket = new WebSocket(new URL('/graphql', location.href.replace(/^http/, 'ws')), 'graphql-transport-ws')
    const send = (message: object) => socket.send(JSON.stringify(message))
    let lastMessageAt = Date.now()
    const watchdog = setInterval(() => {
      const silence = Date.now() - lastMessageAt
      if (silence > CLOSE_AFTER_MS) reconnect()
      else if (silence > PING_AFTER_MS && socket.readyState === WebSocket.OPEN) send({ type: 'ping' })
    }, PING_AFTER_MS / 4)
    socket.onopen = () => send({ type: 'connection_init' })
    socket.onclose = reconnect
    socket.onmessage = ({ data }) => {
      lastMessageAt = Date.now()
      const message = JSON.parse(data)
      if (message.type === 'connection_ack') begin()
      else if (message.type === 'ping') send({ type: 'pong' })
      else if (message.type === 'next') listener.onEvent()
      else if (endsLog(message)) reconnect()
    }

    function begin(): void {
      for (const operation of operationsOf(position())) send(operation)
      delay = MIN_DELAY_MS
      listener.onState('live')
    }

    function reconnect(): void {
      clearInterval(watchdog)
      socket.onclose = socket.onmessage = null
      socket.close()
      listener.onState('lost')
      setTimeout(connect, delay * (0.5 + Math.random()))
      delay = Math.min(2 * delay, MAX_DELAY_MS)
    }
  }
}

const LOG = 'log'

/** Returns the messages that start what is followed. */
function operationsOf({ organization: organizationId, after, monitor: id }: Followed): object[] {
  const start = (name: string, payload: object) => ({ id: name, type: 'subscribe', payload })
  const log = start(LOG, { query, variables: { organizationId, after } })
  return id === null ? [log] : [log, start('checks', { query: checksQuery, variables: { id } })]
}

/** The results of a monitor end with it, which the log says as well. */
const endsLog = ({ type, id }: { readonly type: string; readonly id?: string }) =>
  id === LOG && (type === 'error' || type === 'complete')
