// @slow
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { transaction } from '../../src/core/context.ts'
import { openDatabase } from '../../src/database/client.ts'
import { appendEvents, readEventsAfter } from '../../src/event-log/event.ts'
import type { EventLog, Follower } from '../../src/event-log/tail.ts'
import { openEventLog, startPosition } from '../../src/event-log/tail.ts'
import { startChild } from '../support/child.ts'
import { noon, testContext } from '../support/context.ts'
import { serverUrl, testDatabase } from '../support/database.ts'
import { appendEach, newTenant, writeAtOnce } from '../support/log-writers.ts'
import { silent } from '../support/scratch.ts'

const database = await testDatabase()
const { prisma: db } = database
const ctx = testContext(db)

/** Matches the statements that read events, to count them. */
let readings = 0
const counting = observed(() => {
  readings += 1
})

/**
 * Returns the client, extended to call `before` before each statement that reads events. `$extends` only changes its
 * type.
 */
function observed(before: () => void): typeof db {
  const client = db.$extends({
    query: {
      async $allOperations({ model, args, query }) {
        const text = model ?? (args as { sql?: string }).sql ?? ''
        if (model === 'Event' || text.includes('FROM "Event"')) before()
        return query(args)
      },
    },
  })
  return client as unknown as typeof db
}

let eventLog: EventLog
/** Simulates a lost notification. */
let deaf = false
let listeners = 0

beforeEach(async () => {
  deaf = false
  readings = 0
  eventLog = await openEventLog({
    database: {
      prisma: counting,
      async listen(channel, listener) {
        listeners += 1
        const stop = await database.listen(channel, (payload) => {
          if (!deaf) listener(payload)
        })
        return async () => {
          listeners -= 1
          await stop()
        }
      },
    },
    now: () => noon,
    log: silent,
  })
})
afterEach(() => eventLog.close())
afterAll(() => expect(listeners).toBe(0))

const named = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `e${from + index}`)

/** Creates a log with the events e1 to e{count}. */
async function tenantWith(count: number): Promise<string> {
  const id = await newTenant(db)
  if (count > 0) {
    const events = named(1, count).map((subjectId, index) => ({
      organizationId: id,
      seq: index + 1,
      kind: 'SERVICE_UPDATED' as const,
      at: noon,
      actorKind: 'SYSTEM' as const,
      subjectId,
      subjectName: subjectId,
    }))
    await db.event.createMany({ data: events })
    await db.organization.update({ where: { id }, data: { lastSeq: count } })
  }
  return id
}

/** Reads the next `count` values of a follower: subjects, and gaps as their positions. */
async function next(follower: Follower, count: number): Promise<(string | number)[]> {
  const got: (string | number)[] = []
  while (got.length < count) {
    const { value } = await follower.next()
    if (!value) throw new Error('The log has ended.')
    got.push(value.kind === 'GAP' ? value.seq : value.subjectId)
  }
  return got
}

describe('following a log', () => {
  test.each([0, 1, 99, 100, 101, 599, 600, 700, 749, 750])(
    'of 750 events after %i returns the rest, then new events',
    async (after) => {
      const id = await tenantWith(750)
      const follower = await eventLog.follow(id, after)
      expect(await next(follower, 750 - after)).toEqual(named(after + 1, 750))
      expect(follower.position).toBe(750)
      await appendEach(ctx, id, ['new'])
      expect(await next(follower, 1)).toEqual(['new'])
    },
  )

  test('without a position skips existing events', async () => {
    const id = await tenantWith(3)
    const follower = await eventLog.follow(id, null)
    await appendEach(ctx, id, ['new'])
    expect(await next(follower, 1)).toEqual(['new'])
  })

  test('waits for the first event of an empty log', async () => {
    const id = await tenantWith(0)
    const follower = await eventLog.follow(id, 0)
    await appendEach(ctx, id, ['first'])
    expect(await next(follower, 1)).toEqual(['first'])
  })

  test('returns only wanted events and advances past the others', async () => {
    const id = await tenantWith(10)
    const follower = await eventLog.follow(id, 0, ({ subjectId }) => subjectId === 'e3' || subjectId === 'new')
    expect(await next(follower, 1)).toEqual(['e3'])
    expect(await follower.poll()).toBeNull()
    expect(follower.position).toBe(10)
    await appendEach(ctx, id, ['other', 'new'])
    expect(await next(follower, 1)).toEqual(['new'])
    expect(follower.position).toBe(12)
  })

  test('separates organizations', async () => {
    const [one, other] = [await tenantWith(0), await tenantWith(0)]
    const follower = await eventLog.follow(one, 0)
    await appendEach(ctx, other, ['theirs'])
    await appendEach(ctx, one, ['ours'])
    expect(await next(follower, 1)).toEqual(['ours'])
  })

  test('reads events once for all followers', async () => {
    const id = await tenantWith(5)
    const followers = await Promise.all(Array.from({ length: 200 }, () => eventLog.follow(id, 0)))
    const first = await Promise.all(followers.map((follower) => follower.next()))
    expect(new Set(first.map(({ value }) => value)).size).toBe(1)
    expect(readings).toBe(1)
    const waiting = followers.map((follower) => next(follower, 5))
    await appendEach(ctx, id, ['new'])
    expect(await Promise.all(waiting)).toEqual(followers.map(() => ['e2', 'e3', 'e4', 'e5', 'new']))
    expect(readings).toBeLessThanOrEqual(3)
  })

  test('returns announced events exactly as the log has them', async () => {
    const id = await tenantWith(0)
    const follower = await eventLog.follow(id, 0)
    const before = readings
    const since = new Date(noon.getTime() - 1)
    const service = { kind: 'SERVICE_UNKNOWN', subjectId: 's', subjectName: 'Überwachung “A”', since } as const
    const update = { kind: 'INCIDENT_UPDATE_POSTED', subjectId: 'i', subjectName: 'Slow', updateId: 'u' } as const
    await transaction(ctx, (tx) => appendEvents(tx, id, [service, update]))
    const events = [(await follower.next()).value, (await follower.next()).value]
    expect(readings).toBe(before)
    expect(events).toEqual(await readEventsAfter(db, id, 0, 10))
  })

  test('reads events that are too long for an announcement', async () => {
    const id = await tenantWith(0)
    const follower = await eventLog.follow(id, 0)
    const before = readings
    const names = Array.from({ length: 40 }, (_, index) => `${index}${'ß'.repeat(200)}`)
    const events = names.map((name) => ({ kind: 'SERVICE_UPDATED', subjectId: name, subjectName: name }) as const)
    await transaction(ctx, (tx) => appendEvents(tx, id, events))
    expect(await next(follower, names.length)).toEqual(names)
    expect(readings).toBeGreaterThan(before)
  })

  test('continues after a lost notification', async () => {
    const id = await tenantWith(0)
    const follower = await eventLog.follow(id, 0)
    deaf = true
    await appendEach(ctx, id, ['unheard'])
    deaf = false
    await appendEach(ctx, id, ['heard'])
    expect(await next(follower, 2)).toEqual(['unheard', 'heard'])
  })

  test('continues without notifications, and reports the organization', async () => {
    const [id, quiet] = [await tenantWith(0), await tenantWith(0)]
    const missed: string[] = []
    const log = await openEventLog({
      database: { prisma: db, listen: async () => async () => {} },
      now: () => noon,
      log: silent,
      onMissed: (organizationId) => missed.push(organizationId),
      pollMs: 10,
    })
    const [follower] = await Promise.all([log.follow(id, 0), log.follow(quiet, 0)])
    await appendEach(ctx, id, ['unheard'])
    expect(await next(follower, 1)).toEqual(['unheard'])
    expect(new Set(missed)).toEqual(new Set([id]))
    await log.close()
  })

  test('checks for growth in one statement for all logs, and not at all without followers', async () => {
    const asked: number[] = []
    const watched = db.$extends({
      query: {
        $allOperations({ operation, args, query }) {
          const [ids] = operation === '$queryRaw' ? (args as { values: unknown[] }).values : []
          if (Array.isArray(ids)) asked.push(ids.length)
          return query(args)
        },
      },
    })
    const log = await openEventLog({
      // The same client, which records its statements. `$extends` only changes its type.
      database: { prisma: watched as unknown as typeof db, listen: async () => async () => {} },
      now: () => noon,
      log: silent,
      pollMs: 1,
    })
    for (let tenant = 0; tenant < 3; tenant++) await log.follow(await tenantWith(0), 0)
    await vi.waitUntil(() => asked.includes(3))
    await log.close()
    expect(Math.min(...asked)).toBeGreaterThan(0)
  })

  test('buffers nothing for a slow reader, which still gets every event', async () => {
    const id = await tenantWith(0)
    const follower = await eventLog.follow(id, 0)
    const quick = await eventLog.follow(id, 0)
    for (let round = 0; round < 3; round++) {
      await writeAtOnce(ctx, id, { name: `r${round}`, writers: 10, each: 10 })
      await next(quick, 100)
    }
    expect(new Set(await next(follower, 300)).size).toBe(300)
  })
})

describe('a position outside the log', () => {
  test('before the retained log gives a gap and continues after it', async () => {
    const id = await tenantWith(750)
    await db.event.deleteMany({ where: { organizationId: id, seq: { lte: 400 } } })
    const follower = await eventLog.follow(id, 399)
    expect(await next(follower, 1)).toEqual([750])
    await appendEach(ctx, id, ['new'])
    expect(await next(follower, 1)).toEqual(['new'])
    expect(await next(await eventLog.follow(id, 400), 2)).toEqual(['e401', 'e402'])
  })

  test.each([
    ['newer than the log', 11],
    ['of an invalid cursor', startPosition('what?')],
  ])('%s gives a gap', async (_, after) => {
    const id = await tenantWith(10)
    const follower = await eventLog.follow(id, after)
    expect(await next(follower, 1)).toEqual([10])
    await appendEach(ctx, id, ['new'])
    expect(await next(follower, 1)).toEqual(['new'])
  })

  test('gives a gap in an empty log', async () => {
    const id = await tenantWith(10)
    await db.event.deleteMany({ where: { organizationId: id } })
    expect(await next(await eventLog.follow(id, 4), 1)).toEqual([10])
    const follower = await eventLog.follow(id, 10)
    await appendEach(ctx, id, ['new'])
    expect(await next(follower, 1)).toEqual(['new'])
  })
})

describe('return', () => {
  test('releases a waiting reader at once', async () => {
    const follower = await eventLog.follow(await tenantWith(0), null)
    const waiting = follower.next()
    await follower.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await follower.next()).toEqual({ done: true, value: undefined })
    expect(await follower.poll()).toBeNull()
  })

  test('of the last follower stops reading', async () => {
    const id = await tenantWith(0)
    const [one, other] = [await eventLog.follow(id, 0), await eventLog.follow(id, 0)]
    await one.return()
    await one.return()
    await appendEach(ctx, id, ['a'])
    expect(await next(other, 1)).toEqual(['a'])
    await other.return()
    const before = readings
    await appendEach(ctx, id, ['b'])
    const again = await eventLog.follow(await tenantWith(0), 0)
    await again.return()
    expect(readings).toBe(before + 1)
  })

  test('is called for every follower on close', async () => {
    const followers = [await eventLog.follow(await tenantWith(0), 0), await eventLog.follow(await tenantWith(1), 1)]
    const waiting = followers.map((follower) => follower.next())
    await eventLog.close()
    expect(await Promise.all(waiting)).toEqual(followers.map(() => ({ done: true, value: undefined })))
    eventLog = await openEventLog({ database, now: () => noon, log: silent })
  })
})

test('a failed read rejects the follower, and the log can be followed again', async () => {
  const id = await tenantWith(750)
  let broken = true
  const flaky = observed(() => {
    if (broken) throw new Error('no connection')
  })
  const log = await openEventLog({
    database: { prisma: flaky, listen: database.listen },
    now: () => noon,
    log: silent,
  })
  await expect(log.follow(id, 0)).rejects.toThrow('no connection')
  broken = false
  const follower = await log.follow(id, 0)
  const live = await log.follow(id, 750)
  broken = true
  await expect(follower.next()).rejects.toThrow('no connection')
  expect(await follower.next()).toEqual({ done: true, value: undefined })
  await appendEach(ctx, id, ['new'])
  broken = false
  expect(await next(live, 1)).toEqual(['new'])
  await log.close()
})

describe('while 50 writers append', () => {
  async function followWhile(id: string, total: number, writing: () => Promise<unknown>): Promise<void> {
    const positions = [0, null, 0, null, 0]
    const followers = await Promise.all(positions.map((after) => eventLog.follow(id, after)))
    const following = Promise.all(followers.map((follower) => next(follower, total)))
    const joined = writing()
    // Another follower starts in the middle, from the position of an existing one.
    const [first] = followers
    const late = await eventLog.follow(id, first?.position ?? 0)
    const from = late.position
    const [seen, lateSeen] = await Promise.all([following, next(late, total - from), joined])
    const logged = (await readEventsAfter(db, id, 0, 10_000)).map(({ subjectId }) => subjectId)
    expect(logged).toHaveLength(total)
    for (const each of seen) expect(each).toEqual(logged)
    expect(lateSeen).toEqual(logged.slice(from))
  }

  test('followers in this process get every event once and in order', async () => {
    const id = await tenantWith(0)
    await followWhile(id, 500, () => writeAtOnce(ctx, id, { name: 'w', writers: 50, each: 10 }))
  })

  test.skipIf(serverUrl === undefined)('followers in two processes get every event once and in order', async () => {
    const id = await tenantWith(0)
    const rows = await database.pool.query<{ name: string }>('SELECT current_database() AS name')
    const url = new URL(serverUrl ?? '')
    url.pathname = rows.rows[0]?.name ?? ''
    await followWhile(id, 1000, async () => {
      const children = ['one', 'two'].map((name) => startChild('log-child', [url.href, id, name, '25', '20']))
      for (const child of children) while ((await child.line()) !== null);
    })
  })
})

test.skipIf(serverUrl === undefined)('followers continue after the server closes all connections', async () => {
  const id = await tenantWith(0)
  const rows = await database.pool.query<{ name: string }>('SELECT current_database() AS name')
  const url = new URL(serverUrl ?? '')
  url.pathname = rows.rows[0]?.name ?? ''
  const own = await openDatabase({ dataDir: '', databaseUrl: url.href, log: silent })
  const log = await openEventLog({ database: own, now: () => noon, log: silent })
  const follower = await log.follow(id, 0)
  await db.$executeRaw`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`
  await appendEach(ctx, id, ['while it was away'])
  expect(await next(follower, 1)).toEqual(['while it was away'])
  await log.close()
  await own.close()
})
