import { describe, expect, test } from 'vitest'
import { DAY, SECOND } from '../../../src/core/time.ts'
import type { SendOutcome } from '../../../src/notification/channel/channel.ts'
import { progressAfter, readAttempts } from '../../../src/notification/queue/attempt.ts'
import { noon } from '../../support/context.ts'

const failed = (permanence: 'TEMPORARY' | 'REFUSED' | 'GONE'): SendOutcome => ({
  kind: 'failed',
  status: 500,
  message: 'No.',
  permanence,
  retryAfterMs: null,
})
const delivery = { triedSince: noon, failed: 0 }
const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds)

describe('after an attempt a delivery', () => {
  test('that succeeded has ended', () => {
    const outcome = { kind: 'delivered', status: 200, message: 'Yes.' } as const
    expect(progressAfter(outcome, delivery, noon, 0.5)).toEqual({ status: 'DELIVERED', dueAt: null })
  })

  test('that failed temporarily is retried', () => {
    expect(progressAfter(failed('TEMPORARY'), delivery, noon, 0.5)).toEqual({
      status: 'PENDING',
      dueAt: later(10 * SECOND),
    })
    expect(progressAfter(failed('TEMPORARY'), { ...delivery, failed: 1 }, noon, 0.5).dueAt).toEqual(later(20 * SECOND))
  })

  test('that failed temporarily for a day is given up', () => {
    expect(progressAfter(failed('TEMPORARY'), { ...delivery, failed: 20 }, later(DAY), 0.5)).toEqual({
      status: 'FAILED',
      dueAt: null,
    })
  })

  test.each(['REFUSED', 'GONE'] as const)('that is %s is given up at once', (permanence) => {
    expect(progressAfter(failed(permanence), delivery, noon, 0.5)).toEqual({ status: 'FAILED', dueAt: null })
  })
})

test('attempts are read as written, and malformed ones are ignored', () => {
  const attempt = { at: noon, delivered: false, status: null, message: 'No connection.', durationMs: 12 }
  expect(readAttempts(JSON.parse(JSON.stringify([attempt])))).toEqual([attempt])
  expect(() => readAttempts([{ at: 'never' }])).toThrow()
})
