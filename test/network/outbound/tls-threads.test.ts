import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createServer, type TlsOptions } from 'node:tls'
import type { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { startWorker } from '../../../src/core/thread/worker-thread.ts'
import type { SecuredSocket } from '../../../src/network/outbound/secured-socket.ts'
import { createTlsThreads } from '../../../src/network/outbound/tls-threads.ts'
import { createAuthority } from '../../support/certificate.ts'
import { longChain, rsaSigner } from '../../support/hostile-certificate.ts'

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

test('an address whose handshake took long is moved to a second thread, and no other address', async () => {
  // Its 70 signatures take some hundred milliseconds of computing on any machine.
  const [slow, fast] = [await startServer(longChain(rsaSigner(3072, 3072))), await startServer(usual)]
  const { started, open } = recorded()
  await open('127.0.0.1', fast)
  await open('127.0.0.1', slow)
  await open('127.0.0.2', fast)
  expect(started).toHaveLength(1)
  await open('127.0.0.1', slow)
  await open('127.0.0.1', fast)
  expect(started).toHaveLength(2)
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
