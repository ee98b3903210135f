import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { pl } from './pl.ts'

/** The words of status pages and subscriptions in one language. */
export type Catalogue = typeof en

/** The languages in which pages, mails and feeds are written. */
export const Language = { EN: 'EN', DE: 'DE', FR: 'FR', ES: 'ES', PL: 'PL' } as const
export type Language = keyof typeof Language

const catalogues: Readonly<Record<Language, Catalogue>> = { EN: en, DE: de, FR: fr, ES: es, PL: pl }

/** All languages. */
export const languages = Object.values(Language)

/** Returns the words of a language. */
export function wordsOf(language: Language): Catalogue {
  return catalogues[language]
}
