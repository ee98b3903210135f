import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { readMonitorPageHistory } from '../../../src/monitoring/uptime/monitor-page-history.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { fewestStatements } from '../../support/statements.ts'
import { writeMonitor } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const ago = (milliseconds: number) => new Date(noon.getTime() - milliseconds)
const utc = { timeZone: 'UTC', tier: 'FREE' } as const

test('returns the uptime and the outages of a monitor, and the cause of its state', async () => {
  const id = await writeMonitor(prisma, {
    organizationId: (await tenant()).id,
    states: [
      ['UP', ago(8 * DAY)],
      ['DOWN', ago(3 * DAY)],
      ['UP', ago(3 * DAY - 6 * HOUR)],
      ['DOWN', ago(12 * MINUTE)],
    ],
    lastKnownAt: noon,
  })
  const { uptimes, outages, cause } = await readMonitorPageHistory(prisma, utc, id, [1, 7, 90], noon)
  expect(uptimes.map(({ tally }) => tally.down)).toEqual([12 * MINUTE, 6 * HOUR + 12 * MINUTE, 6 * HOUR + 12 * MINUTE])
  expect(uptimes[2]?.tally).toMatchObject({ up: 8 * DAY - 6 * HOUR - 12 * MINUTE })
  expect(outages).toEqual([
    { startedAt: ago(12 * MINUTE), endedAt: null, cause: 'DOWN it was.', downMs: 12 * MINUTE },
    { startedAt: ago(3 * DAY), endedAt: ago(3 * DAY - 6 * HOUR), cause: 'DOWN it was.', downMs: 6 * HOUR },
  ])
  expect(cause).toBe('DOWN it was.')
})

test('returns nothing for a monitor that does not exist, and runs two statements', async () => {
  const organizationId = (await tenant()).id
  const id = await writeMonitor(prisma, { organizationId, states: [['UP', ago(HOUR)]], lastKnownAt: noon })
  const { uptimes, outages } = await readMonitorPageHistory(prisma, utc, 'mon_unknown', [1], noon)
  expect([uptimes[0]?.percent, outages]).toEqual([null, []])
  expect(await fewestStatements(async () => void (await readMonitorPageHistory(prisma, utc, id, [1, 30], noon)))).toBe(
    2,
  )
})
