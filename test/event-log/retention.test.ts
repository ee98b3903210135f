import { expect, test } from 'vitest'
import { DAY } from '../../src/core/time.ts'
import { encodeCursor } from '../../src/event-log/event.ts'
import { createEventRetention, NEWEST_KEPT } from '../../src/event-log/retention.ts'
import { openEventLog } from '../../src/event-log/tail.ts'
import type { GraphContext } from '../../src/graphql/schema/builder.ts'
import { requireKept } from '../../src/status/graphql/event-list.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { newTenant } from '../support/log-writers.ts'
import { silent } from '../support/scratch.ts'

const database = await testDatabase()
const { prisma } = database
const ctx = testContext(prisma)
const before = (days: number) => new Date(noon.getTime() - days * DAY)

interface Given {
  readonly kind: string
  readonly subjectId: string
  readonly days: number
  readonly updateId?: string
}

/** Creates a log of these events, followed by as many new events of a service as a log always keeps. */
async function logOf(given: readonly Given[]): Promise<string> {
  const organizationId = await newTenant(prisma)
  const rows = given.map(({ days, ...event }, index) => ({ ...event, seq: index + 1, at: before(days) }))
  await prisma.$executeRaw`
    INSERT INTO "Event" ("organizationId", seq, kind, at, "actorKind", "subjectId", "subjectName", "updateId")
    SELECT ${organizationId}, seq, kind::"EventKind", at, 'SYSTEM'::"ActorKind", "subjectId", '', "updateId"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS event (seq int, kind text, at timestamptz, "subjectId" text, "updateId" text)
    UNION ALL SELECT ${organizationId}, ${rows.length} + n, 'SERVICE_UPDATED'::"EventKind", ${before(1)}::timestamptz, 'SYSTEM'::"ActorKind", 'svc_new', '', NULL
    FROM generate_series(1, ${NEWEST_KEPT}) AS n`
  await prisma.organization.update({ where: { id: organizationId }, data: { lastSeq: rows.length + NEWEST_KEPT } })
  return organizationId
}

async function keptOf(organizationId: string): Promise<number[]> {
  const rows = await prisma.event.findMany({
    where: { organizationId, subjectId: { not: 'svc_new' } },
    orderBy: { seq: 'asc' },
    select: { seq: true },
  })
  return rows.map(({ seq }) => seq)
}

/** Deletes all old events. Returns the number of deleted rows. */
async function run(days: number): Promise<number> {
  const { deleteBatch } = createEventRetention(days)
  let rows = 0
  const count = (_table: string, deleted: number) => {
    rows += deleted
  }
  while (await deleteBatch(ctx, count));
  return rows
}

const many = (count: number, event: Given): Given[] => Array.from({ length: count }, () => event)

test('old events are deleted in batches, except those that pages and authors need', async () => {
  const organizationId = await logOf([
    { kind: 'SERVICE_UPDATED', subjectId: 'svc_a', days: 900 },
    { kind: 'SERVICE_UPDATED', subjectId: 'svc_a', days: 800 },
    { kind: 'INCIDENT_UPDATED', subjectId: 'inc_a', days: 800, updateId: 'upd_a' },
    { kind: 'INCIDENT_UPDATED', subjectId: 'inc_a', days: 799, updateId: 'upd_b' },
    ...many(2500, { kind: 'API_KEY_CREATED', subjectId: 'key_a', days: 798 }),
    { kind: 'API_KEY_CREATED', subjectId: 'key_b', days: 729 },
  ])
  const whole = await logOf([{ kind: 'API_KEY_CREATED', subjectId: 'key_a', days: 100 }])
  expect(await run(730)).toBe(2501)
  expect(await keptOf(organizationId)).toEqual([2, 3, 4, 2505])
  const find = (id: string) => prisma.organization.findUniqueOrThrow({ where: { id }, select: { eventsSince: true } })
  expect((await find(organizationId)).eventsSince).toEqual(new Date(before(798).getTime() + 1))
  expect((await find(whole)).eventsSince).toBe(null)
  expect(await run(730)).toBe(0)
})

test('the newest events and undispatched ones are kept at any age', async () => {
  const quiet = await logOf([{ kind: 'API_KEY_CREATED', subjectId: 'key_a', days: 10 }])
  await prisma.event.updateMany({ where: { organizationId: quiet }, data: { at: before(900) } })
  const behind = await logOf(many(3, { kind: 'API_KEY_CREATED', subjectId: 'key_a', days: 900 }))
  await prisma.dispatch.create({ data: { organizationId: behind, seq: 2 } })
  expect(await run(730)).toBe(3)
  expect(await prisma.event.count({ where: { organizationId: quiet } })).toBe(NEWEST_KEPT)
  expect(await keptOf(behind)).toEqual([3])
})

test('a reader with a position before the retained log gets a gap, and continues after it', async () => {
  const organizationId = await logOf([
    { kind: 'SERVICE_UPDATED', subjectId: 'svc_a', days: 800 },
    ...many(3, { kind: 'API_KEY_CREATED', subjectId: 'key_a', days: 799 }),
    { kind: 'API_KEY_CREATED', subjectId: 'key_b', days: 1 },
  ])
  await run(730)
  const log = await openEventLog({ database, now: () => noon, log: silent })
  atTheEnd(() => log.close())
  const read = async (after: number) => (await (await log.follow(organizationId, after)).next()).value
  expect(await read(0)).toMatchObject({ kind: 'SERVICE_UPDATED', seq: 1 })
  expect(await read(1)).toMatchObject({ kind: 'GAP', seq: 5 + NEWEST_KEPT })
  expect(await read(4)).toMatchObject({ kind: 'API_KEY_CREATED', seq: 5 })

  // A list in log order fails instead of leaving out events.
  const list = (args: Parameters<typeof requireKept>[2]) => requireKept(ctx as GraphContext, organizationId, args)
  const ascending = { orderBy: { field: 'OCCURRED_AT', direction: 'asc' } } as const
  await expect(list({ ...ascending, after: encodeCursor(1) })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['after'], message: expect.stringContaining('events before 2024-') }],
  })
  await expect(list({ before: encodeCursor(2) })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  for (const args of [
    { ...ascending, after: encodeCursor(4) },
    { ...ascending, after: encodeCursor(5 + NEWEST_KEPT) },
    ascending,
    { after: encodeCursor(1) },
  ])
    await list(args)
})
