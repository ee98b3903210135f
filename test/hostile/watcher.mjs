/**
 * The second client, in its own thread: sends a request every 10 ms, and reports the longest latency since the previous
 * report. Time in which this thread itself did not run, because the machine was busy, does not count.
 */
import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const agent = new Agent({ keepAlive: true })
/** When the unanswered requests were sent. */
const open = new Set()
let longest = 0
const PERIOD_MS = 10
/** How much later than due this thread has run, in total, and when it ran last. */
let late = 0
let ran = performance.now()
const ownTime = () => performance.now() - late

setInterval(() => {
  const now = performance.now()
  late += Math.max(0, now - ran - PERIOD_MS)
  ran = now
  const sent = ownTime()
  open.add(sent)
  const done = () => {
    open.delete(sent)
    longest = Math.max(longest, ownTime() - sent)
  }
  get(workerData, { agent }, (answer) => answer.resume().on('end', done)).on('error', done)
}, PERIOD_MS)

parentPort?.on('message', () => {
  const now = ownTime()
  parentPort?.postMessage(Math.max(longest, ...[...open].map((sent) => now - sent)))
  longest = 0
})
