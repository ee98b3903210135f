import { LRUCache } from 'lru-cache'
import type { Catalogue, Language } from './catalogue.ts'
import { languages, wordsOf } from './catalogue.ts'

/** The languages of a page. */
export interface OfferedLanguages {
  readonly offered: readonly Language[]
  /** For the address without a language, and for readers who accept none of the others. */
  readonly byDefault: Language
}

/**
 * Returns the languages that a page offers.
 * @param chosen names of languages; none: all. The default is always among them.
 */
export function offeredLanguages(chosen: readonly string[], byDefault: string): OfferedLanguages {
  const first = languages.find((language) => language === byDefault) ?? 'EN'
  const offered = languages.filter(
    (language) => chosen.length === 0 || language === first || chosen.some((each) => each === language),
  )
  return { offered, byDefault: first }
}

/** Returns the language of a stored name if a page offers it, and otherwise the page’s default. */
export function languageNamed(name: string | null, { offered, byDefault }: OfferedLanguages): Language {
  return offered.find((language) => language === name) ?? byDefault
}

/**
 * Returns the `lang` of a text that an owner writes in one language: absent on a page in that language, else unknown.
 */
export function ownersLang(words: Pick<Catalogue, 'tag'>, byDefault: string): '' | undefined {
  return words.tag === wordsOf(offeredLanguages([], byDefault).byDefault).tag ? undefined : ''
}

/** Returns a language as in addresses: `de`, `pt-br`. */
export function segmentOf(language: Language): string {
  return wordsOf(language).tag.toLowerCase()
}

/** Other tags of our languages, which addresses may contain too. */
const aliases: Readonly<Record<string, Language>> = {
  pt: 'PT_BR',
  'pt-pt': 'PT_BR',
  zh: 'ZH_HANS',
  'zh-cn': 'ZH_HANS',
  'zh-sg': 'ZH_HANS',
}

/** Returns the language of a tag such as `pt-BR`, `pt` or `zh-CN`, ignoring case; null: not supported. */
export function languageOfTag(tag: string | undefined): Language | null {
  const wanted = tag?.toLowerCase() ?? ''
  const alias = Object.entries(aliases).find(([name]) => name === wanted)?.[1]
  return alias ?? languages.find((language) => segmentOf(language) === wanted) ?? null
}

/** The pattern of a language in a path, for the router. */
export const languagePattern = `(?:${[...languages.map(segmentOf), ...Object.keys(aliases)].join('|')})`

const MAX_HEADER_LENGTH = 500
const choices = new LRUCache<string, Language>({ max: 1000 })

/**
 * Returns the language of a page that a reader prefers (`Accept-Language`, RFC 9110 §12.5.4). A language matches in any
 * region, but only in its script: `de-CH` is German, `zh-TW` is not simplified Chinese.
 */
export function preferredLanguage(header: string | undefined, { offered, byDefault }: OfferedLanguages): Language {
  if (header === undefined || header.length > MAX_HEADER_LENGTH || offered.length < 2) return byDefault
  const key = `${offered.join()} ${byDefault} ${header}`
  const known = choices.get(key)
  if (known !== undefined) return known
  const chosen = choose(header, { offered, byDefault })
  choices.set(key, chosen)
  return chosen
}

function choose(header: string, { offered, byDefault }: OfferedLanguages): Language {
  const wanted = header
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.split(';').map((text) => text.trim())
      const quality = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2)
      return { range, quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0 && quality <= 1)
    .sort((one, other) => other.quality - one.quality)
  for (const { range } of wanted) {
    if (range === '*') return byDefault
    const written = scriptOf(range)
    const found = offered.find((language) => written !== null && scriptOf(wordsOf(language).tag) === written)
    if (found !== undefined) return found
  }
  return byDefault
}

/** Returns the language and the script of a tag: `zh-TW` is `zh-Hant`; null: not a tag. */
function scriptOf(tag: string): string | null {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    return null
  }
}
