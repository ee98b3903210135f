import { describe, expect, test } from 'vitest'
import { readAttempts, verdictOf } from '../../src/notification/attempt.ts'
import type { Outcome } from '../../src/notification/channel/channel.ts'
import { DAY, SECOND } from '../../src/time.ts'
import { noon } from '../support/context.ts'

const failed = (lasts: 'PASSING' | 'REFUSED' | 'GONE'): Outcome => ({
  kind: 'failed',
  status: 500,
  message: 'No.',
  lasts,
  retryAfterMs: null,
})
const delivery = { triedSince: noon, failed: 0 }
const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds)

describe('after an attempt a delivery', () => {
  test('that arrived is over', () => {
    const outcome = { kind: 'delivered', status: 200, message: 'Yes.' } as const
    expect(verdictOf(outcome, delivery, noon, 0.5)).toEqual({ status: 'DELIVERED', dueAt: null })
  })

  test('that failed for now is tried again', () => {
    expect(verdictOf(failed('PASSING'), delivery, noon, 0.5)).toEqual({ status: 'PENDING', dueAt: later(10 * SECOND) })
    expect(verdictOf(failed('PASSING'), { ...delivery, failed: 1 }, noon, 0.5).dueAt).toEqual(later(20 * SECOND))
  })

  test('that failed for now for a whole day is given up', () => {
    expect(verdictOf(failed('PASSING'), { ...delivery, failed: 20 }, later(DAY), 0.5)).toEqual({
      status: 'FAILED',
      dueAt: null,
    })
  })

  test.each(['REFUSED', 'GONE'] as const)('that is %s is given up at once', (lasts) => {
    expect(verdictOf(failed(lasts), delivery, noon, 0.5)).toEqual({ status: 'FAILED', dueAt: null })
  })
})

test('attempts are read as they were written, and nothing else is', () => {
  const attempt = { at: noon, delivered: false, status: null, message: 'No connection.', durationMs: 12 }
  expect(readAttempts(JSON.parse(JSON.stringify([attempt])))).toEqual([attempt])
  expect(() => readAttempts([{ at: 'never' }])).toThrow()
})
