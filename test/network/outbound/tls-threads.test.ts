import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, Socket } from 'node:net'
import { createServer, type TlsOptions } from 'node:tls'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { startWorker } from '../../../src/core/thread/worker-thread.ts'
import type { SecuredSocket } from '../../../src/network/outbound/secured-socket.ts'
import type { TlsRequest } from '../../../src/network/outbound/tls-message.ts'
import { createTlsThreads } from '../../../src/network/outbound/tls-threads.ts'
import { createAuthority } from '../../support/certificate.ts'

/** Creates TLS threads that are recorded. */
function recorded() {
  const started: Worker[] = []
  const threads = createTlsThreads({ ca: undefined }, () => {
    const thread = startWorker('network/outbound/tls-worker', { workerData: { ca: undefined } })
    started.push(thread)
    return thread
  })
  /** Connects to an address, and completes the handshake. */
  async function open(host: string, port: number): Promise<SecuredSocket> {
    await threads.ready(host)
    const socket = threads.start(connect({ host, port }), host, { host })
    onTestFinished(() => void socket.on('error', () => {}).destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  onTestFinished(async () => void (await Promise.all(started.map((thread) => thread.terminate()))))
  return { started, open }
}

async function startServer(options: TlsOptions): Promise<number> {
  const server = createServer(options, (socket) => socket.on('error', () => {})).listen(0, '0.0.0.0')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const usual = createAuthority().issue(['127.0.0.1'])

/** A thread that has loaded, and records the hosts of its connections. */
class FakeThread extends EventEmitter {
  readonly opened: { readonly id: number; readonly host: string }[] = []

  constructor() {
    super()
    setImmediate(() => this.emit('message', { kind: 'ready' }))
  }

  postMessage(request: TlsRequest): void {
    if (request.kind === 'open') this.opened.push({ id: request.id, host: request.settings.host })
  }

  readonly ref = () => {}
  readonly unref = () => {}
  readonly terminate = async () => 0
}

test('an address whose handshake took long is moved to a second thread, and no other address', async () => {
  const started: FakeThread[] = []
  const threads = createTlsThreads({ ca: undefined }, () => {
    const thread = new FakeThread()
    started.push(thread)
    return thread as unknown as Worker
  })
  async function open(host: string, busyMs: number): Promise<void> {
    await threads.ready(host)
    const socket = threads.start(new Socket(), host, { host })
    const [thread] = started.filter(({ opened }) => opened.at(-1)?.host === host).slice(-1)
    thread?.emit('message', { kind: 'busy', id: thread.opened.at(-1)?.id, ms: busyMs })
    socket.destroy()
  }
  for (const [host, busyMs] of [
    ['127.0.0.1', 20],
    ['127.0.0.2', 49],
    ['127.0.0.1', 50],
    ['127.0.0.1', 0],
    ['127.0.0.2', 0],
  ] as const)
    await open(host, busyMs)
  const hosts = started.map(({ opened }) => opened.map(({ host }) => host))
  expect(hosts).toEqual([['127.0.0.1', '127.0.0.2', '127.0.0.1', '127.0.0.2'], ['127.0.0.1']])
})

test('a thread that ends closes its connections, and the next connection starts another', async () => {
  const port = await startServer(usual)
  const { started, open } = recorded()
  const socket = await open('127.0.0.1', port)
  const closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve))
  await started[0]?.terminate()
  await closed
  await open('127.0.0.1', port)
  expect(started).toHaveLength(2)
})
