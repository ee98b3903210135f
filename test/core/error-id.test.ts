import { expect, test } from 'vitest'
import { errorIdStart, newErrorId } from '../../src/core/error-id.ts'

const thrown = (text: string, more: object = {}) => Object.assign(new RangeError(text), more)

test('errors of one kind have different ids with the same start', () => {
  const ids = ['one', 'two', `${'\n'.repeat(1000)}three`].map((text) => newErrorId(thrown(text)))
  expect(new Set(ids).size).toBe(3)
  expect(new Set(ids.map(errorIdStart)).size).toBe(1)
  for (const id of ids) expect(id).toMatch(/^[0-9a-z]{12}$/)
})

test('errors of other types, codes and places start differently', () => {
  const errors = [
    thrown('a'),
    thrown('a', { code: 'X' }),
    new RangeError('a'),
    new TypeError('a'),
    'a',
    null,
    undefined,
  ]
  const starts = new Set(errors.map((error) => errorIdStart(newErrorId(error))))
  expect(starts.size).toBe(errors.length)
})
