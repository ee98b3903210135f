import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { ptBr } from './pt-br.ts'
import { zhHans } from './zh-hans.ts'

/** The texts of status pages and subscriptions in one language. */
export type Catalogue = typeof en

/** The languages of pages, emails and feeds. */
export const Language = {
  EN: 'EN',
  DE: 'DE',
  FR: 'FR',
  ES: 'ES',
  IT: 'IT',
  PT_BR: 'PT_BR',
  NL: 'NL',
  PL: 'PL',
  JA: 'JA',
  ZH_HANS: 'ZH_HANS',
} as const
export type Language = keyof typeof Language

const catalogues: Readonly<Record<Language, Catalogue>> = withSingleStops({
  EN: en,
  DE: de,
  FR: fr,
  ES: es,
  IT: it,
  PT_BR: ptBr,
  NL: nl,
  PL: pl,
  JA: ja,
  ZH_HANS: zhHans,
})

/**
 * Lets a sentence that ends with an abbreviation have one full stop: of a duration (`1 Std.`), a date (`2026 r.`) or an owner
 * (`Acme Inc.`), which messages cannot know.
 */
function withSingleStops<T extends object>(messages: T): T {
  const changed = Object.entries(messages).map(([key, message]: [string, unknown]) => [key, withSingleStop(message)])
  return Object.fromEntries(changed)
}

function withSingleStop(message: unknown): unknown {
  if (typeof message === 'function') return (...values: unknown[]) => singleStop(message(...values))
  return typeof message === 'object' && message !== null && !Array.isArray(message) ? withSingleStops(message) : message
}

/** Removes the second of two full stops, also after the end of an isolated text (U+2069), but none of an ellipsis. */
function singleStop(text: unknown): unknown {
  return typeof text === 'string' ? text.replace(/(?<!\.)\.(\u2069?)\.(?!\.)/g, '.$1') : text
}

/** All languages. */
export const languages = Object.values(Language)

/** Returns the texts of a language. */
export function wordsOf(language: Language): Catalogue {
  return catalogues[language]
}
