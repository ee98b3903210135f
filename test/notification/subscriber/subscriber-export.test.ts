import { expect, test } from 'vitest'
import { Unauthenticated } from '../../../src/core/errors.ts'
import { readCsv } from '../../../src/notification/subscriber/csv.ts'
import { unsubscribe } from '../../../src/notification/subscriber/subscriber.ts'
import { exportSubscribers } from '../../../src/notification/subscriber/subscriber-export.ts'
import { importSubscribers } from '../../../src/notification/subscriber/subscriber-import.ts'
import { createService } from '../../../src/status/service/service.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const notified = notifiedIn(database)

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of lines) text += part
  return text
}

async function rowsOf(text: string): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = []
  for await (const { fields } of readCsv(text)) rows.push(fields)
  return rows
}

test('an export has a line per subscriber, with its state, topics and services', async () => {
  const tenant = await notified.tenant()
  const owner = notified.owner(tenant)
  const { id } = await createService(owner, { name: 'Shop, "Europe"' })
  await notified.subscriber(tenant, { email: 'ada@a.example', serviceIds: [id] })
  const gone = await notified.subscriber(tenant, { email: 'gone@a.example' })
  await unsubscribe(notified.system, notified.token(gone))
  const [head, ...rows] = await rowsOf(await textOf(exportSubscribers(owner, {})))
  expect(head?.slice(0, 3)).toEqual(['email', 'channel', 'state'])
  expect(head?.at(-1)).toBe('page')
  expect(rows.map((row) => row.slice(0, 5)).sort()).toEqual([
    ['ada@a.example', 'EMAIL', 'ACTIVE', 'INCIDENTS; MAINTENANCES', 'Shop, "Europe"'],
    ['gone@a.example', 'EMAIL', 'STOPPED', 'INCIDENTS; MAINTENANCES', ''],
  ])
  const active = await rowsOf(await textOf(exportSubscribers(owner, { state: ['ACTIVE'] })))
  expect(active.map(([address]) => address)).toEqual(['email', 'ada@a.example'])
})

test('an import can read an export of many statements', async () => {
  const [one, other] = [await notified.tenant('PRO'), await notified.tenant('PRO')]
  const csv = Array.from({ length: 900 }, (_, each) => `reader${each}@a.example`).join('\n')
  await importSubscribers(notified.owner(one), { csv })
  const text = await textOf(exportSubscribers(notified.owner(one), {}))
  expect(await importSubscribers(notified.owner(other), { csv: text })).toMatchObject({ imported: 900, problems: [] })
})

test('spreadsheets evaluate no field', async () => {
  const tenant = await notified.tenant()
  const owner = notified.owner(tenant)
  const { id } = await createService(owner, { name: '=1+1' })
  await notified.subscriber(tenant, { email: 'ada@a.example', serviceIds: [id] })
  expect(await textOf(exportSubscribers(owner, {}))).toContain(",'=1+1,")
})

test('it is for members and keys of the organization', async () => {
  const visitor = testContext(database.prisma, { actor: { kind: 'visitor' } })
  expect(() => exportSubscribers(visitor, {})).toThrow(Unauthenticated)
})
