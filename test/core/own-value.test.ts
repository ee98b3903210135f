import { expect, test } from 'vitest'
import { ownValue } from '../../src/core/own-value.ts'

const statuses: Readonly<Record<string, string>> = { up: 'OPERATIONAL', ['__proto__']: 'own' }

test('returns the value of a table under a name', () => {
  expect(ownValue(statuses, 'up')).toBe('OPERATIONAL')
  expect(ownValue(statuses, '__proto__')).toBe('own')
})

test.each(['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', ''])(
  'finds no inherited %j',
  (name) => {
    expect(ownValue({ up: 'OPERATIONAL' }, name)).toBeUndefined()
  },
)
