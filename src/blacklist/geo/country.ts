const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/** Where CLDR's English name is not what a reader expects. */
const usualNames: Readonly<Record<string, string>> = {
  CD: 'Democratic Republic of the Congo',
  CG: 'Republic of the Congo',
  HK: 'Hong Kong',
  MM: 'Myanmar',
  MO: 'Macao',
  PS: 'Palestine',
}

/** Names already looked up: CLDR takes its time, and there are but a few hundred countries. */
const known = new Map<string, string | null>()

/** The English name of a country by its ISO 3166-1 alpha-2 code; null for an unknown code (`ZZ` is CLDR's word for that). */
export function countryName(code: string): string | null {
  const region = code.toUpperCase()
  if (!/^[A-Z]{2}$/.test(region) || region === 'ZZ') return null
  const name = known.get(region) ?? usualNames[region] ?? names.of(region) ?? null
  known.set(region, name)
  return name
}
