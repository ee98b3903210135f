/**
 * What the A records of a DNSBL answer mean, as pure functions (RFC 5782 §2.1: the codes are 127.0.0.0/8 addresses whose
 * meaning is the list's own). Rules that hold for every list stand here once; tables of codes stand with their lists.
 */

/**
 * An answer, judged. Only `listed` names the target, and accuses it unless the entry is one of policy; only `refused` and
 * `invalid` leave it unknown.
 */
export type Judgement =
  | { readonly kind: 'listed'; readonly meaning: string; readonly policy: boolean }
  | { readonly kind: 'notListed'; readonly note: string }
  | { readonly kind: 'refused'; readonly note: string }
  | { readonly kind: 'invalid'; readonly note: string }

/**
 * What one code (or bit) of a list means. `listing` accuses; `policy` says that mail should not come from the address
 * directly, which accuses nobody and does not concern a web server; `remark` is worth showing and no entry at all.
 */
export interface Meaning {
  readonly weight: 'listing' | 'policy' | 'remark'
  readonly text: string
}

/** Reads what a list answered. What 127.0.0.1 means, a listing too, is each list's own to say. */
export type Decode = (codes: readonly string[]) => Judgement

export const listing = (text: string): Meaning => ({ weight: 'listing', text })
export const policy = (text: string): Meaning => ({ weight: 'policy', text })
export const remark = (text: string): Meaning => ({ weight: 'remark', text })

/** Decodes a list whose every code has one meaning. Codes it does not document neither list nor clear anybody. */
export function byTable(meanings: Readonly<Record<string, Meaning>>): Decode {
  return (codes) => {
    const found = codes.flatMap((code) => meanings[code] ?? [])
    const unknown = codes.filter((code) => meanings[code] === undefined)
    return rejected(codes) ?? judged(found, unknown)
  }
}

/** Decodes a list whose last octet is a mask of bits, each with a meaning of its own; other bits decide nothing. */
export function byBits(meanings: Readonly<Record<number, Meaning>>): Decode {
  const documented = Object.keys(meanings).reduce((mask, bit) => mask | Number(bit), 0)
  const isUnknown = (octet: number) => octet === 0 || (octet & ~documented) !== 0
  return (codes) => {
    const bits = Object.entries(meanings).filter(([bit]) => codes.some((code) => lastOctet(code) & Number(bit)))
    const found = bits.map(([, meaning]) => meaning)
    const unknown = codes.filter((code) => isUnknown(lastOctet(code)))
    return rejected(codes) ?? judged(found, unknown)
  }
}

/** Decodes a list that says "refused" by an odd last octet: SURBL's bit 0, URIBL's 127.0.0.1 and 127.0.0.255. */
export function refusingWhenOdd(decode: Decode): Decode {
  return (codes) =>
    foreign(codes) === null && codes.some((code) => lastOctet(code) & 1) ? refused(codes) : decode(codes)
}

const lastOctet = (code: string) => Number(code.slice(code.lastIndexOf('.') + 1))

/** Refusals that Spamhaus tells apart (its FAQ on DNSBL usage, "error codes"); others follow it in 127.255.255.0/24. */
const refusals: Readonly<Record<string, string>> = {
  '127.255.255.252': 'The list says that its zone name is misspelt.',
  '127.255.255.254': 'The list refuses queries that come through a public or unnamed resolver.',
  '127.255.255.255': 'The list refuses this resolver for asking too much.',
}

function rejected(codes: readonly string[]): Judgement | null {
  return foreign(codes) ?? (codes.some((code) => code.startsWith('127.255.255.')) ? refused(codes) : null)
}

/** Addresses outside 127/8 come from parked list domains and from resolvers that rewrite NXDOMAIN, never from a list. */
function foreign(codes: readonly string[]): Judgement | null {
  const odd = codes.find((code) => !code.startsWith('127.'))
  return odd === undefined ? null : { kind: 'invalid', note: `${odd} is not an answer that a blacklist gives.` }
}

function refused(codes: readonly string[]): Judgement {
  const known = codes.map((code) => refusals[code]).find((text) => text !== undefined)
  return { kind: 'refused', note: known ?? `The list refuses to answer this resolver (${codes.join(', ')}).` }
}

/** One known entry is enough; without one, a code that nobody can read leaves the target unknown. */
function judged(found: readonly Meaning[], unknown: readonly string[]): Judgement {
  const entries = found.filter(({ weight }) => weight !== 'remark')
  const policy = entries.every(({ weight }) => weight === 'policy')
  if (entries.length > 0) return { kind: 'listed', meaning: textsOf(entries), policy }
  if (unknown.length > 0) return { kind: 'invalid', note: `This list documents no meaning of ${unknown.join(', ')}.` }
  return { kind: 'notListed', note: `${textsOf(found)} (not an accusation).` }
}

/** Several codes may mean the same. */
const textsOf = (meanings: readonly Meaning[]) => [...new Set(meanings.map((meaning) => meaning.text))].join('; ')
