import { describe, expect, test } from 'vitest'
import { nextReminder, reminderDue } from '../../../src/billing/check-plan/reminder.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { noon } from '../../support/context.ts'

const fromEnd = (milliseconds: number) => new Date(noon.getTime() + milliseconds)

describe('for a plan that ends at noon', () => {
  test.each([
    ['long before', -300 * DAY, null, -7 * DAY],
    ['just before the last week', -7 * DAY - 1, null, -7 * DAY],
    ['as the last week begins', -7 * DAY, 'WEEK', -1 * DAY],
    ['within the last week', -3 * DAY, 'WEEK', -1 * DAY],
    ['just before the last day', -1 * DAY - 1, 'WEEK', -1 * DAY],
    ['as the last day begins', -1 * DAY, 'DAY', 0],
    ['a minute before the end', -1 * MINUTE, 'DAY', 0],
    ['at the end', 0, 'ENDED', null],
    ['a day after', 1 * DAY, 'ENDED', null],
    ['three days after', 3 * DAY, 'ENDED', null],
    ['more than three days after', 3 * DAY + 1, null, null],
    ['long after', 300 * DAY, null, null],
  ] as const)('%s (%i ms) the reminder is %s, and the next one at %s ms', (_, at, reminder, next) => {
    expect(reminderDue(noon, fromEnd(at))).toBe(reminder)
    expect(nextReminder(noon, fromEnd(at))).toEqual(next === null ? null : fromEnd(next))
  })

  test('for any pauses between runs, each reminder is due at most once', () => {
    for (const pause of [HOUR, 5 * HOUR, DAY, 2 * DAY, 8 * DAY, 40 * DAY]) {
      const reminders: unknown[] = []
      let dueAt = nextReminder(noon, fromEnd(-30 * DAY))
      for (let at = -30 * DAY; at < 30 * DAY; at += pause) {
        if (dueAt === null || dueAt > fromEnd(at)) continue
        reminders.push(reminderDue(noon, fromEnd(at)))
        dueAt = nextReminder(noon, fromEnd(at))
      }
      const sent = reminders.filter((reminder) => reminder !== null)
      expect(new Set(sent).size).toBe(sent.length)
      if (pause <= DAY) expect(sent).toEqual(['WEEK', 'DAY', 'ENDED'])
    }
  })
})
