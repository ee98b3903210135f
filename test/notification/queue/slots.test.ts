import { expect, test } from 'vitest'
import { createThirdPartyRate } from '../../../src/network/third-party-rate.ts'
import type { DueRow } from '../../../src/notification/queue/kind.ts'
import { createSlots } from '../../../src/notification/queue/slots.ts'

/** The slots of a kind that sends this many messages to a host at once. */
const slotsOf = (rate: ReturnType<typeof createThirdPartyRate>, perDestination: number) =>
  createSlots<DueRow>(
    {
      limits: { claimed: 1000, batch: 1000, atOnce: 1000, perDestination: () => perDestination },
      receiverOf: ({ id }) => id,
      isRated: () => true,
    },
    rate,
    () => {},
  )

let rows = 0
const rowOf = (organizationId: string): DueRow => ({
  ...{ id: `row ${++rows}`, organizationId, destination: 'victim.com' },
  ...{ dueAt: new Date(0), failed: 0, triedSince: new Date(0) },
})

test('a kind has a limit of its own, half of it per organization, and a refused message counts nowhere', () => {
  const rate = createThirdPartyRate()
  const [mine, others] = [slotsOf(rate, 4), slotsOf(rate, 100)]
  const [first, second, third] = [1, 2, 3].map(() => mine.acquire(rowOf('org_1')))
  expect([first === null, second === null, third]).toEqual([false, false, null])
  const running = Array.from({ length: 63 }, (_, index) => others.acquire(rowOf(`org_${index % 3}`)))
  expect(running.filter((slot) => slot === null)).toHaveLength(1)
  first?.leaveDestination()
  expect(others.acquire(rowOf('org_3'))).not.toBeNull()
  // The shared limit is used up, so the message does not occupy a place of its own kind either.
  expect(mine.acquire(rowOf('org_1'))).toBeNull()
  running[0]?.leaveDestination()
  expect(mine.acquire(rowOf('org_1'))).not.toBeNull()
  mine.close()
  others.close()
})

test('a receiver gets one message at a time, also when its destination is free again', () => {
  const slots = slotsOf(createThirdPartyRate(), 4)
  const row = rowOf('org_1')
  const slot = slots.acquire(row)
  slot?.leaveDestination()
  expect(slots.acquire(row)).toBeNull()
  slot?.leave()
  expect(slots.acquire(row)).not.toBeNull()
  slots.close()
})
