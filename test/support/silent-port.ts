import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

/** Listens, reports its port, and then blocks forever. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads')
  const server = require('node:net').createServer()
  server.listen({ ...workerData, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
  })
`

/**
 * A port of an address of this machine that is as silent as a host that drops packets: its queue of connections is
 * full, and nothing accepts them.
 */
export async function silentPort(host: string, port = 0): Promise<number> {
  const worker = new Worker(program, { eval: true, workerData: { host, port } })
  const [listening] = await once(worker, 'message')
  const queued = Array.from({ length: 4 }, () => connect({ host, port: listening }).on('error', () => undefined))
  onTestFinished(async () => {
    for (const socket of queued) socket.destroy()
    await worker.terminate()
  })
  // A queue of one holds two; further connections wait behind them.
  await Promise.all(queued.slice(0, 2).map((socket) => once(socket, 'connect')))
  return listening
}
