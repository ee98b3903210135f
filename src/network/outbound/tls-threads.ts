import type { Socket } from 'node:net'
import type { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { startWorker } from '../../core/thread/worker-thread.ts'
import { HOUR, MINUTE } from '../../core/time.ts'
import { thirdParty } from '../destination.ts'
import { SecuredSocket } from './secured-socket.ts'
import type { TlsReply, TlsRequest, TlsSettings, TlsThreadSettings } from './tls-message.ts'

/** Speaks TLS over connections, in threads. */
export interface TlsThreads {
  /**
   * Resolves when the thread for an address has loaded. The first connection of a minute starts it.
   * @throws Error when it cannot be started.
   */
  ready(address: string): Promise<void>
  /** Starts TLS over a connection to an address; `ready` has resolved. Its socket emits `secureConnect` or `error`. */
  start(connection: Socket, address: string, settings: TlsSettings): SecuredSocket
}

/** An address whose server has kept a thread busy for so long with one message shares a thread with others like it. */
const SLOW_MS = 50
const SLOW_FOR_MS = HOUR
const MAX_SLOW_PLACES = 10_000

/**
 * Creates the threads: one for all addresses, and one for those whose handshakes take long.
 * @param startThread starts a thread; absent: that of `tls-worker.ts`.
 */
export function createTlsThreads(
  settings: TlsThreadSettings,
  startThread = () => startWorker('network/outbound/tls-worker', { workerData: settings }),
): TlsThreads {
  const slowPlaces = new LRUCache<string, true>({ max: MAX_SLOW_PLACES, ttl: SLOW_FOR_MS })
  const usual = createTlsThread(startThread)
  const slow = createTlsThread(startThread)
  const placeOf = (address: string) => thirdParty(address) ?? address
  const threadOf = (address: string) => (slowPlaces.has(placeOf(address)) ? slow : usual)
  return {
    ready: (address) => threadOf(address).ready(),
    start(connection, address, tls) {
      const onBusy = (ms: number) => void (ms >= SLOW_MS && slowPlaces.set(placeOf(address), true))
      return threadOf(address).start(connection, tls, onBusy)
    },
  }
}

interface TlsThread {
  ready(): Promise<void>
  start(connection: Socket, settings: TlsSettings, onBusy: (ms: number) => void): SecuredSocket
}

/** How long an unused thread is kept. */
const IDLE_TIMEOUT_MS = MINUTE

/** A thread and its open connections. */
interface RunningThread {
  readonly worker: Worker
  readonly loaded: Promise<void>
  /** Those that the thread knows, by number. It may still be busy with one that has been closed. */
  readonly connections: Map<number, { readonly socket: SecuredSocket; onBusy(ms: number): void }>
}

/** Creates a thread that only runs while it is needed. */
function createTlsThread(startThread: () => Worker): TlsThread {
  let running: RunningThread | null = null
  let timer: NodeJS.Timeout | undefined
  let lastId = 0

  function run(): RunningThread {
    const worker = startThread()
    const connections: RunningThread['connections'] = new Map()
    const forget = (id: number) => {
      connections.delete(id)
      if (connections.size === 0 && running?.worker === worker) idle(running)
    }
    const loaded = new Promise<void>((resolve, reject) => {
      worker.on('message', (reply: TlsReply) => {
        if (reply.kind === 'ready') resolve()
        else if (reply.kind === 'busy') connections.get(reply.id)?.onBusy(reply.ms)
        else if (reply.kind === 'closed') forget(reply.id)
        else connections.get(reply.id)?.socket.onReply(reply)
      })
      const onEnd = (error: Error) => {
        if (running?.worker === worker) running = null
        for (const { socket } of connections.values()) socket.destroy(error)
        reject(error)
      }
      worker.on('error', onEnd)
      worker.on('exit', () => onEnd(new Error('The thread of TLS connections ended unexpectedly.')))
    })
    // Whoever waits for the thread handles this; after it has loaded, nobody does.
    loaded.catch(() => {})
    return { worker, loaded, connections }
  }

  function idle({ worker }: RunningThread): void {
    // An idle thread does not keep the process alive.
    worker.unref()
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (running?.worker === worker) running = null
      void worker.terminate()
    }, IDLE_TIMEOUT_MS).unref()
  }

  return {
    async ready() {
      running ??= run()
      clearTimeout(timer)
      running.worker.ref()
      const awaited = running
      await awaited.loaded
      if (awaited.connections.size === 0) idle(awaited)
    },
    start(connection, tls, onBusy) {
      running ??= run()
      clearTimeout(timer)
      const { worker, connections } = running
      const id = ++lastId
      worker.ref()
      worker.postMessage({ id, kind: 'open', settings: tls } satisfies TlsRequest)
      const socket = new SecuredSocket(connection, (request) => {
        worker.postMessage({ id, ...request }, 'bytes' in request ? [request.bytes.buffer as ArrayBuffer] : [])
      })
      connections.set(id, { socket, onBusy })
      return socket
    },
  }
}
