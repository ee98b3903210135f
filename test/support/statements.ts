import pg from 'pg'
import { vi } from 'vitest'

/**
 * Returns the number of statements of some work, the minimum of six runs, because background jobs of the process send
 * statements too.
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

/** Returns the statements sent during some work, including those of background jobs. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    const texts = sent.mock.calls.map(([statement]) => {
      const text: unknown = typeof statement === 'string' ? statement : (statement as { text?: unknown }).text
      return String(text)
    })
    // The embedded database is vacuumed now and then.
    return texts.filter((text) => !text.startsWith('VACUUM'))
  } finally {
    sent.mockRestore()
  }
}
