import { expect, test, vi } from 'vitest'
import { createAdvisoryHealth } from '../../src/app/advisory-health.ts'
import type { Checker } from '../../src/blacklist/checker.ts'
import type { HealthStatus } from '../../src/blacklist/list-health.ts'
import { createMailer } from '../../src/notification/channel/mailer.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { noon } from '../support/context.ts'
import { borrowDatabase } from '../support/database.ts'

const { database, release } = await borrowDatabase()
atTheEnd(release)

/** A checker whose lists have these states; nothing else of it is read. */
const checkerWith = (...states: HealthStatus[]) =>
  ({ lists: states, lookup: { health: { get: (status: HealthStatus) => ({ status }) } } }) as unknown as Checker

const advisoryHealth = (options: Partial<Parameters<typeof createAdvisoryHealth>[0]>) =>
  createAdvisoryHealth({
    ...{ mailer: null, checker: checkerWith('ok'), pool: database.pool, region: 'local', now: () => noon },
    ...options,
  })()

test('email is off without a server, and fails while its server is down', async () => {
  expect(await advisoryHealth({})).toEqual({ mail: 'off', resolver: 'ok', lateness: 'ok' })
  const mailer = createMailer(
    { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@example.com' },
    { baseUrl: 'http://x.test' },
  )
  expect(await advisoryHealth({ mailer })).toMatchObject({ mail: 'ok' })
  const mail = { to: 'b@example.com', fromName: 'A', subject: 'S', text: 'T', html: 'H', messageId: '1@x' }
  await mailer?.send({ ...mail, inReplyTo: null, list: null, date: noon })
  expect(await advisoryHealth({ mailer })).toMatchObject({ mail: 'failing' })
  mailer?.close()
})

test.each<[HealthStatus[], string]>([
  [['unknown', 'refusing'], 'ok'],
  [['ok', 'refusing'], 'ok'],
  [['refusing', 'unreachable'], 'failing'],
])('lists that are %j: the resolver is %s', async (states, resolver) => {
  expect(await advisoryHealth({ checker: checkerWith(...states) })).toMatchObject({ resolver })
})

test('an instance without probes does not report their delay', async () => {
  expect(await advisoryHealth({ region: null })).not.toHaveProperty('lateness')
})

test('a probe that is due for over a minute is late', async () => {
  const pool = {
    query: async (statement: { values: unknown[] }) => ({ rows: [{ isLate: statement.values[0] === 'local' }] }),
  }
  // The test above covers the statement; this fake answers it.
  expect(await advisoryHealth({ pool: pool as never })).toMatchObject({ lateness: 'late' })
})

test('a database that does not respond is awaited for two seconds, and not queried again meanwhile', async () => {
  vi.useFakeTimers()
  try {
    const query = vi.fn(() => new Promise<never>(() => {}))
    const read = createAdvisoryHealth({
      ...{ mailer: null, checker: checkerWith('ok'), pool: { query } as never, region: 'local', now: () => noon },
    })
    const asked = read()
    await vi.advanceTimersByTimeAsync(2000)
    expect(await asked).toMatchObject({ lateness: 'unknown' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await read()).toMatchObject({ lateness: 'unknown' })
    expect(query).toHaveBeenCalledTimes(1)
  } finally {
    vi.useRealTimers()
  }
})
