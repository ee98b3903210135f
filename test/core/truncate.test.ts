import { expect, test } from 'vitest'
import { closingDirections, cutAtWord, truncate } from '../../src/core/truncate.ts'

test.each([
  ['one two three', 13, 'one two three'],
  ['one two three', 10, 'one two…'],
  ['one two three', 8, 'one two…'],
  // No word ends in the last third.
  ['one twothreefour', 12, 'one twothre…'],
  ['ab🙂cd', 4, 'ab…'],
  ['ab👩‍👩‍👧‍👦cd', 8, 'ab…'],
  ['abe\u0301\u0301cd', 5, 'ab…'],
  ['ab👍🏽cd', 5, 'ab…'],
  ['abc', 1, '…'],
])('%j is cut to %i', (text, most, cut) => {
  expect(cutAtWord(text, most)).toBe(cut)
})

test('a cut text closes the directions that it opens', () => {
  expect(cutAtWord('\u202eabc \u2067def ghi', 11)).toBe('\u202eabc \u2067def…\u2069\u202c')
  expect(closingDirections('\u2067a\u2069 \u202ab\u202c')).toBe('')
})

test('a text is never cut within a surrogate pair, however many marks follow a letter', () => {
  for (const text of ['🙂'.repeat(50), `a${'\u0301'.repeat(200)}`, '👩‍'.repeat(50)])
    for (let most = 1; most < 60; most++) {
      expect(truncate(text, most).isWellFormed()).toBe(true)
      expect(cutAtWord(text, most).length).toBeLessThanOrEqual(most)
    }
})
