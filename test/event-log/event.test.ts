import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { transaction } from '../../src/core/context.ts'
import { openDatabase } from '../../src/database/client.ts'
import { appendEvents, decodeCursor, encodeCursor, readEventsAfter } from '../../src/event-log/event.ts'
import { startChild } from '../support/child.ts'
import { noon, testContext } from '../support/context.ts'
import { copyDataDir, serverDatabase, serverUrl, testDatabase } from '../support/database.ts'
import { newTenant, writeAtOnce } from '../support/log-writers.ts'
import { silent, temporaryDirectory } from '../support/scratch.ts'

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

describe('a process that is killed while 50 writers append 1000 events', () => {
  const removals: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const remove of removals) await remove()
  })

  async function place(): Promise<string> {
    if (serverUrl !== undefined) {
      const { url, remove } = await serverDatabase(serverUrl, inject('databaseTemplate'))
      removals.push(remove)
      return url
    }
    const { path, remove } = await temporaryDirectory()
    removals.push(remove)
    copyDataDir(inject('databaseTemplate'), join(path, 'data'))
    return join(path, 'data')
  }

  test('leaves a log with every acknowledged event, in order and once', async () => {
    const where = await place()
    const open = () =>
      openDatabase({
        dataDir: where,
        databaseUrl: where.startsWith('postgresql:') ? where : undefined,
        log: silent,
      })
    const before = await open()
    const id = await newTenant(before.prisma)
    await before.close()

    const reported: string[] = []
    for (const [run, enough] of [300, 1].entries()) {
      const child = startChild('log-child', [where, id, `run${run}`, '50', '20'])
      expect(await child.line()).toBe('open')
      for (let count = 0; count < enough; count++) reported.push((await child.line()) ?? '')
      await child.kill()
      for (let line = await child.line(); line !== null; line = await child.line()) reported.push(line)
    }

    const after = await open()
    const events = await readEventsAfter(after.prisma, id, 0, 10_000)
    const organization = await after.prisma.organization.findUnique({ where: { id } })
    await after.close()
    const written = events.map(({ subjectId }) => subjectId)
    expect(events.map(({ seq }) => seq)).toEqual(Array.from(events, (_, index) => index + 1))
    expect(organization?.lastSeq).toBe(events.length)
    expect(new Set(written).size).toBe(written.length)
    expect(reported.filter((subject) => !written.includes(subject))).toEqual([])
    expectInOrder(written)
  })
})

/** Asserts that each writer's events are in the order in which it wrote them. */
function expectInOrder(subjects: readonly string[]): void {
  const last = new Map<string, number>()
  for (const subject of subjects) {
    const [, writer = '', number] = /^(.*)-(\d+)$/.exec(subject) ?? []
    expect(Number(number)).toBe((last.get(writer) ?? -1) + 1)
    last.set(writer, Number(number))
  }
}
