import pg from 'pg'
import { vi } from 'vitest'

/**
 * How many statements some work takes, done six times: the fewest, for what else runs in this process, such as a service's
 * rounds, sends its own meanwhile.
 */
export async function fewestStatements(work: () => Promise<void>): Promise<number> {
  const counts: number[] = []
  for (let turn = 0; turn < 6; turn++) {
    const sent = vi.spyOn(pg.Client.prototype, 'query')
    await work()
    counts.push(sent.mock.calls.length)
    sent.mockRestore()
  }
  return Math.min(...counts)
}

/** The texts of the statements that some work takes; of what else runs in this process as well. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    return sent.mock.calls.map(([statement]) => {
      const text: unknown = typeof statement === 'string' ? statement : (statement as { text?: unknown }).text
      return String(text)
    })
  } finally {
    sent.mockRestore()
  }
}
