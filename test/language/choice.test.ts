import { describe, expect, test } from 'vitest'
import type { Language } from '../../src/language/catalogue.ts'
import { languages, wordsOf } from '../../src/language/catalogue.ts'
import { languageOfTag, offeredLanguages, preferredLanguage, segmentOf } from '../../src/language/choice.ts'

const page = (offered: readonly Language[], byDefault: Language = 'EN') => ({ offered, byDefault })

describe('the language of a reader', () => {
  test.each<[string | undefined, Language]>([
    [undefined, 'EN'],
    ['', 'EN'],
    ['*', 'EN'],
    ['de', 'DE'],
    ['de-CH', 'DE'],
    ['DE-at,en;q=0.5', 'DE'],
    ['en-US,en;q=0.9,de;q=0.8', 'EN'],
    ['fr;q=0.4, de;q=0.8', 'DE'],
    ['fr, de', 'FR'],
    ['de;q=0, fr;q=0.1', 'FR'],
    ['de;q=0', 'EN'],
    ['sv, de;q=0.5', 'DE'],
    ['sv, *;q=0.5, de;q=0.1', 'EN'],
    ['de;q=2', 'EN'],
    ['de;q=x', 'EN'],
    ['!!, de', 'DE'],
    ['a'.repeat(501), 'EN'],
    [`${'xx,'.repeat(160)}de`, 'DE'],
    ['constructor, __proto__, toString', 'EN'],
  ])('%s', (header, language) => {
    expect(preferredLanguage(header, page(['EN', 'DE', 'FR']))).toBe(language)
  })

  test.each<[string, Language]>([
    ['pt', 'PT_BR'],
    ['pt-PT,en;q=0.5', 'PT_BR'],
    ['zh-CN,zh;q=0.9', 'ZH_HANS'],
    ['zh-SG', 'ZH_HANS'],
    ['zh', 'ZH_HANS'],
    ['zh-TW,en;q=0.5', 'EN'],
    ['zh-HK', 'EN'],
    ['ja-JP', 'JA'],
    ['nl-BE', 'NL'],
    ['it-CH', 'IT'],
  ])('a reader of %s gets it', (header, language) => {
    expect(preferredLanguage(header, page(languages))).toBe(language)
  })

  test('is the page’s default unless the page offers another that the reader accepts', () => {
    expect(preferredLanguage('fr', page(['EN', 'DE']))).toBe('EN')
    expect(preferredLanguage('fr', page(['DE', 'EN'], 'DE'))).toBe('DE')
    expect(preferredLanguage('en', page(['DE', 'EN'], 'DE'))).toBe('EN')
    expect(preferredLanguage('en', page(['DE'], 'DE'))).toBe('DE')
  })
})

describe('the languages of a page', () => {
  test('are all unless it selects some, and include its default', () => {
    expect(offeredLanguages([], 'DE')).toEqual({ offered: languages, byDefault: 'DE' })
    expect(offeredLanguages(['FR'], 'EN')).toEqual({ offered: ['EN', 'FR'], byDefault: 'EN' })
    expect(offeredLanguages(['FR', 'XX'], 'YY')).toEqual({ offered: ['EN', 'FR'], byDefault: 'EN' })
  })

  test('have one segment each, which no other path of a page begins with', () => {
    const reserved = ['', 'history', 'incidents', 'services', 'subscribe', 'api', 'embed', 'feeds', 'print']
    for (const language of languages) {
      expect(languageOfTag(segmentOf(language))).toBe(language)
      expect(segmentOf(language)).toMatch(/^[a-z]{2}(-[a-z]+)?$/)
      expect(reserved).not.toContain(segmentOf(language))
    }
    for (const tag of ['pt', 'pt-PT', 'PT-br']) expect(languageOfTag(tag)).toBe('PT_BR')
    for (const tag of ['zh', 'zh-CN', 'zh-hans']) expect(languageOfTag(tag)).toBe('ZH_HANS')
    for (const tag of [undefined, 'zh-tw', 'constructor', '', 'xx', 'd', 'de-', 'history'])
      expect(languageOfTag(tag)).toBeNull()
    expect(new Set(languages.map((language) => wordsOf(language).name)).size).toBe(languages.length)
  })
})
