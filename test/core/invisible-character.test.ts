import { expect, test } from 'vitest'
import { invisibleCharacterIn } from '../../src/core/invisible-character.ts'

test.each([
  ['a\u200bb', 'U+200B ZERO WIDTH SPACE'],
  ['a\ufeffb', 'U+FEFF ZERO WIDTH NO-BREAK SPACE'],
  ['a\u00a0b', 'U+00A0 NO-BREAK SPACE'],
  ['a\u0007b', 'U+0007'],
  ['a\u{e0041}b', 'U+E0041'],
  ['a\u2800b', 'U+2800 BRAILLE PATTERN BLANK'],
  ['a\u115fb', 'U+115F HANGUL CHOSEONG FILLER'],
  ['a\u200d\u2060b', 'U+2060 WORD JOINER'],
  ['a b', null],
  ['bücher 日本語 e\u0301 👍', null],
  ['', null],
])('the first invisible character of %j is %s', (text, found) => {
  expect(invisibleCharacterIn(text, { joiners: false })).toBe(found)
})

test('joiners count on demand', () => {
  expect(invisibleCharacterIn('a\u200db', { joiners: false })).toBeNull()
  expect(invisibleCharacterIn('a\u200db', { joiners: true })).toBe('U+200D ZERO WIDTH JOINER')
})
