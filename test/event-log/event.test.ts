import { describe, expect, test } from 'vitest'
import { transaction } from '../../src/core/context.ts'
import { appendEvents, decodeCursor, encodeCursor, readEventsAfter } from '../../src/event-log/event.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { newTenant, writeAtOnce } from '../support/log-writers.ts'

const database = await testDatabase()
const { prisma: db } = database
const ctx = testContext(db)

const event = (subjectId: string) => ({ kind: 'SERVICE_UPDATED', subjectId, subjectName: subjectId }) as const
const subjects = async (organizationId: string, after = 0) =>
  (await readEventsAfter(db, organizationId, after, 10_000)).map(({ subjectId }) => subjectId)

describe('appending', () => {
  test('numbers events from one and stores kind, subject, time and actor', async () => {
    const id = await newTenant(db)
    const actor = { kind: 'apiKey', keyId: 'key_x', organizationId: id, scope: 'WRITE', checkPlan: 'FREE' } as const
    await transaction({ ...ctx, actor }, (tx) => appendEvents(tx, id, [event('a'), event('b')]))
    await transaction(ctx, (tx) => appendEvents(tx, id, [event('c')]))
    expect(await readEventsAfter(db, id, 0, 10)).toMatchObject([
      { seq: 1, subjectId: 'a', subjectName: 'a', at: noon, actorKind: 'API_KEY', actorKeyId: 'key_x' },
      { seq: 2, subjectId: 'b' },
      { seq: 3, subjectId: 'c', actorKind: 'SYSTEM', actorKeyId: null },
    ])
    expect(await readEventsAfter(db, id, 1, 1)).toMatchObject([{ seq: 2 }])
  })

  test('throws outside a transaction', async () => {
    const id = await newTenant(db)
    await expect(appendEvents(ctx, id, [event('a')])).rejects.toThrow('in the transaction')
    expect(await subjects(id)).toEqual([])
  })

  test('leaves neither event nor gap after a rollback', async () => {
    const id = await newTenant(db)
    const failing = transaction(ctx, async (tx) => {
      await appendEvents(tx, id, [event('a'), event('b')])
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await transaction(ctx, (tx) => appendEvents(tx, id, [event('c')]))
    expect(await readEventsAfter(db, id, 0, 10)).toMatchObject([{ seq: 1, subjectId: 'c' }])
  })

  test('does nothing without events', async () => {
    const id = await newTenant(db)
    await transaction(ctx, (tx) => appendEvents(tx, id, []))
    expect(await db.organization.findUnique({ where: { id } })).toMatchObject({ lastSeq: 0 })
  })

  test('numbers each organization separately', async () => {
    const [one, other] = [await newTenant(db), await newTenant(db)]
    await transaction(ctx, (tx) => appendEvents(tx, one, [event('mine')]))
    expect(await subjects(other)).toEqual([])
  })

  test('by 50 concurrent writers gives every event a unique number', async () => {
    const id = await newTenant(db)
    await writeAtOnce(ctx, id, { name: 'w', writers: 50, each: 4 })
    const events = await readEventsAfter(db, id, 0, 1000)
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
    expect(new Set(events.map(({ subjectId }) => subjectId)).size).toBe(200)
  })
})

describe('cursors', () => {
  test('encode positions', () => {
    for (const position of [0, 1, 35, 36, 123_456, 0x7fff_ffff])
      expect(decodeCursor(encodeCursor(position))).toBe(position)
  })

  test.each(['', ' 1', '-1', 'zzzzzzz', '1.5', 'A', '0000000001', '１'])('%j is invalid', (text) => {
    expect(decodeCursor(text)).toBeNull()
  })
})
