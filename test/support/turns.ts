import { setImmediate as nextTurn } from 'node:timers/promises'
import { vi } from 'vitest'

/**
 * Runs work as if each time slice ended as soon as it began. Returns its result, and the number of turns of the event
 * loop that it took: at least one for each time that it yielded.
 */
export async function countTurns<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 100
    return now
  })
  let turns = 0
  let isOver = false
  setImmediate(function count() {
    turns += 1
    if (!isOver) setImmediate(count)
  })
  try {
    const result = await work()
    return { result, turns }
  } finally {
    isOver = true
    // Ends the last slice, which began at a time that is still to come.
    await nextTurn()
    await nextTurn()
    clock.mockRestore()
  }
}
