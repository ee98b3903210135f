import { describe, expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import { DAY } from '../../../src/core/time.ts'
import { importHistories, readImportedDays } from '../../../src/monitoring/uptime/imported-history.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const day = (ago: number) => new Date(Math.floor(noon.getTime() / DAY) * DAY - ago * DAY)
const dateOf = (ago: number) => day(ago).toISOString().slice(0, 10)

async function owner() {
  const own = await tenant()
  const { ctx } = own
  const [id = ''] = await own.services('API')
  const give = (of: object, more: object = {}) =>
    importHistories(ctx, {
      source: 'Uptime Kuma',
      dryRun: false,
      histories: [{ serviceId: id, since: dateOf(2), up: [10, 0, 9], down: [0, 0, 1], maintenance: [0, 0, 2], ...of }],
      ...more,
    })
  const days = async () => [...((await readImportedDays(prisma, [id], day(500), day(0))).get(id) ?? [])]
  return { own, ctx, id, give, days }
}

describe('imported history', () => {
  test('is stored once, merged by day, and logged as one event without a notification', async () => {
    const { give, days, own, id } = await owner()
    const dry = await give({}, { dryRun: true })
    expect([dry, await days()]).toEqual([[{ serviceId: id, outcome: 'CREATED', reason: '' }], []])
    expect((await give({})).map(({ outcome }) => outcome)).toEqual(['CREATED'])
    const source = 'Uptime Kuma'
    const first = [
      [+day(2), { source, up: 10, down: 0, maintenance: 0 }],
      // Days without checks are left out.
      [+day(0), { source, up: 9, down: 1, maintenance: 2 }],
    ]
    expect(await days()).toEqual(first)
    expect((await give({})).map(({ outcome }) => outcome)).toEqual(['UNCHANGED'])
    const changed = { since: dateOf(1), up: [7, 20], down: [0, 1], maintenance: [0, 2] }
    expect((await give(changed)).map(({ outcome }) => outcome)).toEqual(['CHANGED'])
    expect(await days()).toEqual([
      first[0],
      [+day(1), { source, up: 7, down: 0, maintenance: 0 }],
      [+day(0), { source, up: 20, down: 1, maintenance: 2 }],
    ])
    const events = await prisma.event.findMany({ where: { organizationId: own.id, kind: 'HISTORY_IMPORTED' } })
    expect(events.map(({ subjectName }) => subjectName)).toEqual(['Uptime Kuma: 1 service', 'Uptime Kuma: 1 service'])
    expect(await prisma.delivery.count()).toBe(0)
  })

  test('keeps the newest days, up to a limit', async () => {
    const { give, days } = await owner()
    const full = (length: number, count: number) => Array.from({ length }, () => count)
    const of = { up: full(400, 1), down: full(400, 0), maintenance: full(400, 0) }
    await give({ since: dateOf(499), ...of })
    await give({ since: dateOf(399), ...of })
    const kept = await days()
    expect([kept.length, kept[0]?.[0]]).toEqual([400, +day(399)])
  })

  test('is refused if it is invalid, and skipped for services of other organizations', async () => {
    const { give, days } = await owner()
    const other = await owner()
    const wrong = [
      { since: '2026-13-01' },
      { since: '1999-01-01' },
      { up: [1] },
      { up: [-1, 0, 0] },
      { up: [1.5, 0, 0] },
      { up: [10 ** 9, 0, 0] },
      { up: [], down: [], maintenance: [] },
    ]
    for (const each of wrong) await expect(give(each)).rejects.toThrow(Invalid)
    const twice = { serviceId: 'svc_x', since: dateOf(0), up: [1], down: [0], maintenance: [0] }
    await expect(give({}, { histories: [twice, twice] })).rejects.toThrow(Invalid)
    const skipped = [...(await give({ serviceId: other.id })), ...(await give({ since: '2099-01-01' }))]
    expect(skipped.map(({ outcome, reason }) => `${outcome} ${reason}`)).toEqual([
      'SKIPPED The service does not exist.',
      'SKIPPED Its days are in the future.',
    ])
    expect([await days(), await other.days()]).toEqual([[], []])
  })
})
