import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** How a connection treats bytes: forwards them, forwards them later, or holds them forever. */
type Mode = 'passing' | 'silent'

interface Pair {
  readonly client: Socket
  readonly server: Socket
  mode: Mode
  /** The text that the client has sent, limited in length. */
  sent: string
}

/** A TCP proxy in front of a database that can fail as networks and proxies do. */
export interface DatabaseProxy {
  readonly port: number
  /** The URL of the database, through the proxy. */
  readonly url: string
  /** Makes open connections stop forwarding, all of them or those whose client has sent this text. */
  silence(matches?: (sent: string) => boolean): number
  /** Makes open and new connections stop forwarding. */
  stall(): void
  /** Delays everything that either side sends by so many milliseconds. */
  slow(milliseconds: number): void
  /** Resets every open connection. */
  cut(): void
  /** Refuses new connections and resets open ones. */
  refuse(): Promise<void>
  /** Forwards again; silenced connections stay silent. */
  resume(): Promise<void>
  close(): Promise<void>
}

/** How much of a client's text is kept. */
const LOOKED_AT = 64 * 1024

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const pairs = new Set<Pair>()
  let mode: Mode = 'passing'
  let delay = 0
  let open = true

  const server = createServer((client) => {
    const upstream = connect(Number(targetPort || 5432), hostname)
    const pair: Pair = { client, server: upstream, mode, sent: '' }
    pairs.add(pair)
    forward(pair, client, upstream)
    forward(pair, upstream, client)
  })

  function forward(pair: Pair, from: Socket, to: Socket): void {
    let last = Promise.resolve()
    const end = (how: () => void) => {
      last = last.then(() => {
        if (pair.mode === 'silent') return
        pairs.delete(pair)
        how()
      })
    }
    from.on('error', () => end(() => to.destroy()))
    from.on('end', () => end(() => to.end()))
    from.on('close', () => end(() => to.destroy()))
    from.on('data', (bytes) => {
      if (from === pair.client && pair.sent.length < LOOKED_AT) pair.sent += bytes.toString('latin1')
      if (delay === 0 && pair.mode === 'passing') to.write(bytes)
      else
        last = last.then(async () => {
          if (delay > 0) await sleep(delay)
          if (pair.mode === 'passing') to.write(bytes)
        })
    })
  }

  function reset(pair: Pair): void {
    pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.destroy()
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const own = new URL(target)
  own.host = `127.0.0.1:${port}`
  const proxy: DatabaseProxy = {
    port,
    url: own.href,
    silence(matches = () => true) {
      const chosen = [...pairs].filter(({ sent, mode: present }) => present === 'passing' && matches(sent))
      for (const pair of chosen) pair.mode = 'silent'
      return chosen.length
    },
    stall() {
      mode = 'silent'
      proxy.silence()
    },
    slow(milliseconds) {
      delay = milliseconds
    },
    cut() {
      for (const pair of [...pairs]) reset(pair)
    },
    async refuse() {
      proxy.cut()
      if (!open) return
      open = false
      server.close()
    },
    async resume() {
      mode = 'passing'
      delay = 0
      if (open) return
      open = true
      await once(server.listen(port, '127.0.0.1'), 'listening')
    },
    async close() {
      proxy.cut()
      if (open) server.close()
    },
  }
  return proxy
}
