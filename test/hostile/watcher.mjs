/**
 * The second client, in its own thread: sends a request every 10 ms, and reports the longest latency since the previous
 * report.
 */
import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const agent = new Agent({ keepAlive: true })
/** When the unanswered requests were sent. */
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
