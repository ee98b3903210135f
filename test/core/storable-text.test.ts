import { expect, test } from 'vitest'
import { unstorable } from '../../src/core/storable-text.ts'

test.each([
  ['', null],
  ['Zürich 💥', null],
  ['\ufffd\ufffe', null],
  ['a\0', /NUL/],
  ['\ud83d', /surrogate/],
  ['a\udca5b', /surrogate/],
  ['\udca5\ud83d', /surrogate/],
])('of %j, the database can store what it should', (text, expected) => {
  if (expected === null) expect(unstorable(text)).toBeNull()
  else expect(unstorable(text)).toMatch(expected)
})
