/**
 * Loaded before the service: reports on request the memory of the main thread, and the longest time for which it was blocked
 * since the previous request, in milliseconds of processor time, which excludes the rest of the machine's load.
 */
import { readFileSync } from 'node:fs'

const thread = `/proc/self/task/${process.pid}/schedstat`
const used = () => Number(readFileSync(thread, 'utf8').split(' ')[0]) / 1e6
let longest = 0
let before = 0

const watch = () => {
  const now = used()
  longest = Math.max(longest, now - before)
  before = now
}

process.on('message', (asked) => {
  if (asked === 'memory') return process.send?.(process.memoryUsage())
  if (before === 0) {
    before = used()
    setInterval(watch, 1).unref()
  }
  watch()
  process.send?.(longest)
  longest = 0
})
process.channel?.unref()
