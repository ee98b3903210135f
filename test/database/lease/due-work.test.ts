import { expect, test } from 'vitest'
import { notDeleted } from '../../../src/account/not-deleted.ts'
import { SECOND } from '../../../src/core/time.ts'
import { runDue } from '../../../src/database/lease/due-work.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma: db } = await testDatabase()
const tenant = tenantsOf(db)
const after = (ms: number) => new Date(noon.getTime() + ms)

test.each([false, true])('works on due rows, and says when the next is due (at once: %s)', async (isParallel) => {
  await db.customDomain.deleteMany()
  const { id: organizationId } = await tenant('TEAM')
  const { pageId } = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  for (const [id, ms] of [
    ['late', -SECOND],
    ['early', -2 * SECOND],
    ['later', 5 * SECOND],
  ] as const) {
    const own = id === 'late' ? pageId : `${pageId}-${id}`
    if (own !== pageId) {
      const page = await db.page.findUniqueOrThrow({ where: { id: pageId } })
      await db.page.create({ data: { ...page, id: own, slug: `${page.slug}-${id}`, isFirst: false } as never })
    }
    const state = 'PENDING' as const
    await db.customDomain.create({
      data: {
        ...{ id, organizationId, pageId: own, name: `${id}.example`, token: id, state },
        ...{ requestedAt: noon, dueAt: after(ms) },
      },
    })
  }
  const errors: unknown[] = []
  const log = { ...testContext(db).log, error: (...of: unknown[]) => void errors.push(of) } as never
  const seen: string[] = []
  const run = () =>
    runDue(
      { db, now: () => noon, log },
      {
        ...{ table: 'CustomDomain', dueColumn: 'dueAt', where: notDeleted, limit: 10, leaseMs: 60 * SECOND },
        ...{ isParallel, subject: 'domain', failureMessage: 'failed' },
        async each({ id, until }) {
          seen.push(id)
          expect(until).toEqual(after(60 * SECOND))
          if (id === 'early') throw new Error('no')
          await db.customDomain.update({ where: { id }, data: { dueAt: after(9 * SECOND) } })
        },
      },
    )
  expect(await run()).toEqual(after(5 * SECOND))
  expect(seen).toEqual(['early', 'late'])
  expect(errors).toEqual([[{ err: new Error('no'), domain: 'early' }, 'failed']])
  // The one that failed is due when its lease ends.
  expect((await db.customDomain.findUniqueOrThrow({ where: { id: 'early' } })).dueAt).toEqual(after(60 * SECOND))
  await db.customDomain.deleteMany()
  expect(await run()).toBeNull()
})
