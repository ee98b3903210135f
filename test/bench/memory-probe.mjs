/**
 * Loaded before the service: says, when asked, what the main thread knows of its memory, and for how long it kept everybody
 * waiting at most since it was asked for that last, in milliseconds of processor: what else the machine does is not in it.
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
