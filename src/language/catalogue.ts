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

const catalogues: Readonly<Record<Language, Catalogue>> = {
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
}

/** All languages. */
export const languages = Object.values(Language)

/** Returns the texts of a language. */
export function wordsOf(language: Language): Catalogue {
  return catalogues[language]
}
