/** The second client, in a thread of its own: asks every 10 ms, and tells the longest wait since it was asked for it last. */
import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const agent = new Agent({ keepAlive: true })
/** When the requests that are not answered yet were sent. */
const open = new Set()
let longest = 0

setInterval(() => {
  const sent = performance.now()
  open.add(sent)
  const done = () => {
    open.delete(sent)
    longest = Math.max(longest, performance.now() - sent)
  }
  get(workerData, { agent }, (answer) => answer.resume().on('end', done)).on('error', done)
}, 10)

parentPort?.on('message', () => {
  const now = performance.now()
  parentPort?.postMessage(Math.max(longest, ...[...open].map((sent) => now - sent)))
  longest = 0
})
