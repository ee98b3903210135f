import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { inAscii } from '../../src/build/ascii.js'

const evaluate = (code: string): unknown => runInNewContext(code)

describe('code in ASCII', () => {
  test.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a program
    ['a template with a tag', '((texts) => [...texts])`Page d’état par ${1}，${2}🎉`'],
    ['a template whose characters are escaped', '((texts) => [...texts])`\\é \\\\é \\\\\\é \\n`'],
    ['a class', "'。'.replace(/[.。]$/, '')"],
    ['an escaped character', "'é'.replace(/\\é/, '')"],
    ['a backslash before a character', "'\\\\é'.replace(/\\\\é/, '')"],
    ['a range of characters beyond the first plane', "'😀😅🙂'.replace(/[😀-😎]/gu, '.')"],
    ['a set of strings', "'👩‍🚀 x'.replace(/[\\q{👩‍🚀}]/v, '.')"],
    ['code units without a flag', "'😀'.replace(/[😀]/, '.')"],
    ['a group with a name', "'5'.match(/(?<größe>\\d)/).groups"],
    ['a comment', '1 /* © 2026 – “all rights” */ + 1 // …'],
    ['quantifiers', "'ééé…'.replace(/é{2}…?|(?<=é)…/g, '.')"],
  ])('keeps the meaning of %s', (_, code) => {
    const ascii = inAscii(code)
    expect(ascii).toMatch(/^\p{ASCII}+$/u)
    expect(evaluate(ascii)).toEqual(evaluate(code))
  })

  test('leaves ASCII as it is', () => {
    const code = 'const a = "\\u00e9"; const b = /\\?[?]/'
    expect(inAscii(code)).toBe(code)
  })

  test('refuses what no escape can say', () => {
    expect(() => inAscii('tag`\\\u2028`')).toThrow('line separator')
  })
})
