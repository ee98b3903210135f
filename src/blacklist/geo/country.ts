import { lazily } from '../../core/lazily.ts'
import { ownValue } from '../../core/own-value.ts'

const regionNames = lazily(() => new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }))

/** The names to use instead of CLDR's English names where readers expect another one. */
const nameOverrides: Readonly<Record<string, string>> = {
  CD: 'Democratic Republic of the Congo',
  CG: 'Republic of the Congo',
  HK: 'Hong Kong',
  MM: 'Myanmar',
  MO: 'Macao',
  PS: 'Palestine',
}

/** A cache of names, because a CLDR lookup is slow and there are only a few hundred countries. */
const nameCache = new Map<string, string | null>()

/** Returns the English name of a country by its ISO 3166-1 alpha-2 code; null: the code is unknown (`ZZ` in CLDR). */
export function countryName(code: string): string | null {
  const region = code.toUpperCase()
  if (!/^[A-Z]{2}$/.test(region) || region === 'ZZ') return null
  const name = nameCache.get(region) ?? ownValue(nameOverrides, region) ?? regionNames().of(region) ?? null
  nameCache.set(region, name)
  return name
}
