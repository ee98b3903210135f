// @slow
import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** The statement that asks for all due work, every five seconds (database/lease/agenda.ts). */
const isAgenda = (text: string) => text.startsWith('SELECT ARRAY[')

test('a service with nothing due sends at most one statement every two seconds', async () => {
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  await testApp({ dns: await startDnsServer(scriptedLists()) })
  const calls = () =>
    sent.mock.calls.map(([statement], index) => ({
      text: String(typeof statement === 'string' ? statement : (statement as { text?: unknown }).text),
      database: (sent.mock.contexts[index] as pg.Client | undefined)?.database,
    }))
  /** Only statements of the service: other databases of this process have connections of their own. */
  const texts = () => {
    const all = calls()
    const own = all.find(({ text }) => isAgenda(text))?.database
    return all.flatMap(({ text, database }) => (database === own ? [text] : []))
  }
  const agendas = () => texts().flatMap((text, index) => (isAgenda(text) ? [index] : []))
  // From the second one on, because everything looks for work at the start.
  await expect.poll(() => agendas().length).toBeGreaterThanOrEqual(4)
  const [, first, , third] = agendas()
  const between = texts().slice(first, third)
  expect(between.length, between.join('\n')).toBeLessThanOrEqual(5)
})
