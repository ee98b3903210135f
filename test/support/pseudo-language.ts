import type { Catalogue } from '../../src/language/catalogue.ts'

/** Returns English with every message in ⟦⟧, written from right to left. */
export function pseudoLanguage(source: Catalogue, tag: string): Catalogue {
  const { locale, date, number, ...messages } = source
  const dates: Catalogue['date'] = (timeZone, options) => (at) => `⟦${date(timeZone, options)(at)}⟧`
  return {
    ...(wrapped(messages) as Omit<Catalogue, 'locale'>),
    tag,
    name: tag,
    dir: 'rtl',
    locale,
    date: dates,
    number,
  }
}

function wrapped(message: unknown): unknown {
  if (typeof message === 'string') return `⟦${message}⟧`
  if (Array.isArray(message)) return ['⟦', ...message, '⟧']
  if (typeof message === 'function') return (...given: unknown[]) => wrapped(message(...given))
  return Object.fromEntries(Object.entries(message as object).map(([key, value]) => [key, wrapped(value)]))
}

/** Proper names, and texts without a language. */
const neutral = /\b(Allclear|Atom|RSS|JSON|UTC|Slack|Discord|Microsoft Teams|Telegram|Webhook|https?:\S+)\b/g

/**
 * Returns the English text outside of messages in a page or document in the pseudo-language; texts of its owner must be
 * Greek.
 */
export function unwrapped(markup: string): string[] {
  const attributes = markup.matchAll(/ (?:aria-label|title|alt|placeholder|data-announce)="([^"]*)"/g)
  const body = markup
    .replace(/<(script|style|nav class="languages").*?<\/(script|style|nav)>/gs, '')
    .replace(/<[^>]*>/g, '')
  return [body, ...Array.from(attributes, ([, text = '']) => text)].flatMap(outside)
}

function outside(text: string): string[] {
  let depth = 0
  let rest = ''
  for (const character of text) {
    if (character === '⟧') depth -= 1
    if (depth === 0) rest += character
    if (character === '⟦') depth += 1
  }
  return (
    rest
      .replace(/&\w+;/g, ' ')
      .replace(neutral, '')
      .match(/[A-Za-z]{2,}/g) ?? []
  )
}
