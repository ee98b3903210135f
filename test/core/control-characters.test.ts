import { expect, test } from 'vitest'
import { escapeControls, showControls } from '../../src/core/control-characters.ts'

const hostile = [
  'a\u001b]0;title\u0007b',
  'a\u009b2Jb',
  'a\u007f\u0085\u0000b',
  'a\u202eb\u2066c\u200f',
  'a\u2028b\u2029c\u00adc',
  'tags \u{e0001}\u{e0041}',
  'a\rb\bc\fd',
  '\\u001b is only text, and so is \\\\u009b',
]

test.each(hostile)('JSON of %j has the same value without control characters', (text) => {
  const json = escapeControls(JSON.stringify({ text }))
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
  expect(JSON.parse(json)).toEqual({ text })
})

test.each(hostile)('a reader of the JSON of %j gets no control character', (text) => {
  const { text: shown } = JSON.parse(showControls(JSON.stringify({ text })))
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
  expect(shown.startsWith(text.slice(0, 1))).toBe(true)
})

test('a reader of JSON gets other texts unchanged', () => {
  const text = 'Näme "日本" 🙂\n\tat line\\n \\u001b'
  expect(JSON.parse(showControls(JSON.stringify({ text })))).toEqual({ text })
  expect(JSON.parse(showControls(JSON.stringify({ text: '\u001b[2J' })))).toEqual({ text: '\\u001b[2J' })
})
