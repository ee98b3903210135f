import { countryName } from './country.ts'

/** The approximate location of an address. */
export interface Location {
  readonly country: string | null
  readonly city: string | null
}

/** The autonomous system that announces an address: its number (`AS15169`) and its holder. */
export interface Network {
  readonly asn: string | null
  readonly isp: string | null
}

/** Reads the location from a record of a city database: DB-IP's flat keys, or MaxMind's nested ones. */
export function locationOf(record: unknown): Location {
  const code = text(record, 'country_code') ?? text(record, 'country', 'iso_code')
  return {
    country: code === null ? null : countryName(code),
    city: text(record, 'city') ?? text(record, 'city', 'names', 'en'),
  }
}

/** Reads the network from a record of an ASN database (MaxMind's keys, the de facto standard). */
export function networkOf(record: unknown): Network {
  return toNetwork(
    Number(member(record, 'autonomous_system_number') ?? 0),
    text(record, 'autonomous_system_organization') ?? '',
  )
}

/**
 * Creates a network from a number and a holder. The number 0 means "not announced" (RFC 7607); an empty name is
 * unknown.
 */
export function toNetwork(number: number, holder: string): Network {
  const named = holder !== '' && holder !== '-Reserved AS-'
  return { asn: number > 0 ? `AS${number}` : null, isp: named ? holder : null }
}

function text(record: unknown, ...path: readonly string[]): string | null {
  const value = path.reduce(member, record)
  return typeof value === 'string' ? value.trim() || null : null
}

function member(value: unknown, key: string): unknown {
  // Any key can be read from any object. A missing one is undefined.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
