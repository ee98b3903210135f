import { countryName } from './country.ts'

/** Where an address is, approximately. */
export interface Place {
  readonly country: string | null
  readonly city: string | null
}

/** The autonomous system that announces an address: its number (`AS15169`) and its holder. */
export interface Network {
  readonly asn: string | null
  readonly isp: string | null
}

/** The place in a record of a city database: DB-IP's flat keys, or the nested ones of MaxMind. */
export function placeOf(record: unknown): Place {
  const code = text(record, 'country_code') ?? text(record, 'country', 'iso_code')
  return {
    country: code === null ? null : countryName(code),
    city: text(record, 'city') ?? text(record, 'city', 'names', 'en'),
  }
}

/** The network in a record of an ASN database (MaxMind's keys, which everybody uses). */
export function networkOf(record: unknown): Network {
  return network(
    Number(member(record, 'autonomous_system_number') ?? 0),
    text(record, 'autonomous_system_organization') ?? '',
  )
}

/** A network by the number and the holder's name. Number 0 means "not announced" (RFC 7607), a blank name unknown. */
export function network(number: number, holder: string): Network {
  const named = holder !== '' && holder !== '-Reserved AS-'
  return { asn: number > 0 ? `AS${number}` : null, isp: named ? holder : null }
}

function text(record: unknown, ...path: readonly string[]): string | null {
  const value = path.reduce(member, record)
  return typeof value === 'string' ? value.trim() || null : null
}

function member(value: unknown, key: string): unknown {
  // Any object may be read by any key; what is not there is undefined.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
