import { expect, test } from 'vitest'
import { newId } from '../../../src/core/id.ts'
import { pagesWithReportReaders } from '../../../src/notification/subscriber/report-subscription.ts'
import {
  active,
  activeSql,
  isActive,
  isMemberSql,
  ofPage,
  pageOfSubscriberSql,
} from '../../../src/notification/subscriber/subscriber-conditions.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)

/** Adds active subscribers to reports with these names to an organization. */
async function subscribed(...names: string[]) {
  const tenant = await notified.tenant('TEAM')
  for (const name of names)
    await notified.subscriber(tenant, { email: `${name}@${tenant.slug}.example`, topics: ['REPORTS'] })
  const rows = await prisma.subscriber.findMany({ where: { organizationId: tenant.id } })
  const idOf = (name: string) => rows.find(({ label }) => label.startsWith(`${name}@`))?.id ?? ''
  const nameOf = ({ id }: { readonly id: string }) => rows.find((row) => row.id === id)?.label.split('@')[0] ?? ''
  const { pageId } = await prisma.organization.findUniqueOrThrow({ where: { id: tenant.id } })
  const change = (name: string, data: object) => prisma.subscriber.update({ where: { id: idOf(name) }, data })
  return { tenant, pageId, change, namesOf: (found: readonly { readonly id: string }[]) => found.map(nameOf).sort() }
}

test('a subscriber is active when confirmed and not stopped, in each form of the condition', async () => {
  const { tenant, pageId, change, namesOf } = await subscribed('active', 'pending', 'stopped', 'neither')
  await change('pending', { confirmedAt: null })
  await change('stopped', { stoppedAt: noon })
  await change('neither', { confirmedAt: null, stoppedAt: noon })
  const own = { organizationId: tenant.id }
  expect(namesOf(await prisma.subscriber.findMany({ where: { ...own, ...active } }))).toEqual(['active'])
  expect(namesOf((await prisma.subscriber.findMany({ where: own })).filter(isActive))).toEqual(['active'])
  const found = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Subscriber" AS subscriber WHERE subscriber."organizationId" = ${tenant.id} AND ${activeSql}`
  expect(namesOf(found)).toEqual(['active'])
  expect(await pagesWithReportReaders({ db: prisma }, [pageId])).toEqual(new Set([pageId]))
  await change('active', { topics: ['INCIDENTS'] })
  expect(await pagesWithReportReaders({ db: prisma }, [pageId])).toEqual(new Set())
})

test('a subscriber without a page follows the first one', async () => {
  const { tenant, pageId, change, namesOf } = await subscribed('without', 'first', 'second')
  const other = newId('StatusPage')
  const page = { id: other, organizationId: tenant.id, slug: `${tenant.slug}-other`, createdAt: noon }
  await prisma.page.create({ data: page })
  await change('first', { pageId })
  await change('second', { pageId: other })
  const own = { organizationId: tenant.id }
  const followersOf = async (id: string) => {
    const found = await prisma.$queryRaw<{ id: string }[]>`
      SELECT subscriber.id FROM "Subscriber" AS subscriber
      JOIN "Organization" AS organization ON organization.id = subscriber."organizationId"
      WHERE subscriber."organizationId" = ${tenant.id} AND ${pageOfSubscriberSql} = ${id}`
    expect(namesOf(await prisma.subscriber.findMany({ where: { ...own, ...ofPage(id) } }))).toEqual(namesOf(found))
    return namesOf(found)
  }
  expect(await followersOf(pageId)).toEqual(['first', 'without'])
  expect(await followersOf(other)).toEqual(['second'])
  await change('second', { topics: ['INCIDENTS'] })
  expect(await pagesWithReportReaders({ db: prisma }, [pageId, other])).toEqual(new Set([pageId]))
})

test('a member is a subscriber by email with the address of one', async () => {
  const { tenant, change, namesOf } = await subscribed('member', 'stranger', 'hook')
  for (const name of ['Member', 'hook']) {
    const user = { id: newId('User'), email: `${name}@${tenant.slug}.example`, name, createdAt: noon }
    const memberships = { create: { organizationId: tenant.id, role: 'VIEWER', createdAt: noon } } as const
    await prisma.user.create({ data: { ...user, memberships } })
  }
  await change('hook', { channel: 'WEBHOOK' })
  const found = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Subscriber" AS subscriber WHERE subscriber."organizationId" = ${tenant.id} AND ${isMemberSql}`
  expect(namesOf(found)).toEqual(['member'])
})
