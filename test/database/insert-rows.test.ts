import { expect, test } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { insertRows } from '../../src/database/insert-rows.ts'
import { updateRows } from '../../src/database/update-rows.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const rowOf = (organizationId: string, title: string) => ({
  ...{ id: newId('Maintenance'), organizationId, title, status: 'SCHEDULED', startsAt: noon, endsAt: noon },
  ...{ notifySubscribers: false, createdAt: noon, dueAt: noon },
})

test('rows are inserted and updated by the names of their fields, also where columns have others', async () => {
  const { id: organizationId } = await tenant()
  const rows = [rowOf(organizationId, 'A'), rowOf(organizationId, 'B')]
  await insertRows(prisma, 'Maintenance', rows)
  const read = () => prisma.maintenance.findMany({ where: { organizationId }, orderBy: { title: 'asc' } })
  expect(await read()).toMatchObject([
    { title: 'A', notifySubscribers: false, startsAt: noon, version: 1 },
    { title: 'B', notifySubscribers: false, startsAt: noon, version: 1 },
  ])
  const [first] = rows
  await updateRows(prisma, 'Maintenance', [{ id: first?.id ?? '', notifySubscribers: true }])
  expect((await read()).map(({ notifySubscribers, version }) => [notifySubscribers, version])).toEqual([
    [true, 2],
    [false, 1],
  ])
})

test('more rows than one statement takes are inserted', async () => {
  const { id: organizationId } = await tenant()
  await insertRows(
    prisma,
    'Maintenance',
    Array.from({ length: 450 }, (_, index) => rowOf(organizationId, String(index))),
  )
  expect(await prisma.maintenance.count({ where: { organizationId } })).toBe(450)
  await insertRows(prisma, 'Maintenance', [])
})
