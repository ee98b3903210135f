import { expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from '../../src/core/validation.ts'

test.each([
  [z.int().min(1), 0, 'must be at least 1'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  [z.string().min(3), 'a', 'must have at least 3 characters'],
  [z.string(), 1, 'must be a string'],
  [z.int(), 1.5, 'must be an integer'],
  [z.string(), undefined, 'is required'],
  [z.enum(['UP', 'DOWN']), 'LEFT', 'must be one of UP, DOWN'],
  [z.email(), 'a', 'must be an email address'],
  [z.strictObject({}), { a: 1 }, 'must not contain a'],
  [z.union([z.string(), z.int()]), true, 'is not valid'],
  [z.string().max(1, 'is too long'), 'ab', 'is too long'],
])('an invalid value has a message in our own words (%#)', (schema, value, message) => {
  expect(() => validate(z.object({ field: schema }), { field: value })).toThrow(`field: ${message}.`)
})
