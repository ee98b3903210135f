import { describe, expect, test } from 'vitest'
import { lineText, nameText, proseText } from '../../src/core/validation.ts'

describe('a name', () => {
  test.each([
    ['a line break', 'a\nb'],
    ['a line separator', 'a\u2028b'],
    ['a paragraph separator', 'a\u2029b'],
    ['an override of direction', 'invoice\u202efdp.exe'],
    ['an embedding', 'a\u202ab\u202c'],
    ['an isolate', 'a\u2067b\u2069'],
    ['a mark of direction', 'a\u200fb'],
    ['the mark of Arabic letters', 'a\u061cb'],
    ['a control character of Latin-1', 'a\u0085b'],
    ['half a character', 'a\ud800b'],
  ])('has no %s', (_, text) => {
    expect(nameText.safeParse(text).success).toBe(false)
    expect(lineText(200).safeParse(text).success).toBe(false)
  })

  test.each(['Zürich', 'שלום', 'مرحبا', '東京', 'a 👩‍👩‍👧 b', 'नमस्ते'])('accepts %s', (text) => {
    expect(nameText.parse(text)).toBe(text)
  })
})

describe('prose', () => {
  test('accepts lines and directional marks, but no overrides', () => {
    const prose = proseText(100)
    expect(prose.parse('one\n\ttwo\r\nשלום\u200f!')).toBe('one\n\ttwo\r\nשלום\u200f!')
    for (const turning of ['\u202e', '\u202d', '\u2066', '\u2069', '\u0000', '\u0085']) {
      expect(prose.safeParse(`a${turning}b`).success).toBe(false)
    }
  })
})
