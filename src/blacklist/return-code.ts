import { ownValue } from '../core/own-value.ts'

/**
 * Decodes the A records of a DNSBL answer. Codes are addresses in 127.0.0.0/8, and each list defines their meaning (RFC
 * 5782 §2.1). This file has the rules that apply to every list; the tables of codes are in list.ts.
 */

/**
 * A decoded answer. `listed` reports abuse unless it is a policy entry. `refused` and `invalid` leave the target
 * unknown.
 */
export type DecodedAnswer =
  | { readonly kind: 'listed'; readonly meaning: string; readonly policy: boolean }
  | { readonly kind: 'notListed'; readonly note: string }
  | { readonly kind: 'refused'; readonly note: string }
  | { readonly kind: 'invalid'; readonly note: string }

/**
 * The meaning of one code (or bit) of a list. `listing` reports abuse. `policy` means that the address should not send
 * mail directly; it does not report abuse or affect a web server. `informational` is shown but is not an entry.
 */
export interface CodeMeaning {
  readonly kind: 'listing' | 'policy' | 'informational'
  readonly text: string
}

/** Decodes a list's answer. Each list defines the meaning of 127.0.0.1; for some it is a listing. */
export type Decoder = (codes: readonly string[]) => DecodedAnswer

/** Returns the meaning of a code that lists the target. */
export const listing = (text: string): CodeMeaning => ({ kind: 'listing', text })

/** Returns the meaning of a code for addresses that should not send mail, which is not a listing. */
export const policy = (text: string): CodeMeaning => ({ kind: 'policy', text })

/** Returns the meaning of a code that does not concern the target’s reputation. */
export const informational = (text: string): CodeMeaning => ({ kind: 'informational', text })

/** Returns a decoder for a list with one meaning per code. Undocumented codes neither list nor clear a target. */
export function tableDecoder(meanings: Readonly<Record<string, CodeMeaning>>): Decoder {
  return (codes) => {
    const found = codes.flatMap((code) => meanings[code] ?? [])
    const unknown = codes.filter((code) => meanings[code] === undefined)
    return rejectAnswer(codes) ?? interpretMeanings(found, unknown)
  }
}

/** Returns a decoder for a list whose last octet is a bitmask. Undocumented bits neither list nor clear a target. */
export function bitmaskDecoder(meanings: Readonly<Record<number, CodeMeaning>>): Decoder {
  const documented = Object.keys(meanings).reduce((mask, bit) => mask | Number(bit), 0)
  const isUnknown = (octet: number) => octet === 0 || (octet & ~documented) !== 0
  return (codes) => {
    const bits = Object.entries(meanings).filter(([bit]) => codes.some((code) => lastOctet(code) & Number(bit)))
    const found = bits.map(([, meaning]) => meaning)
    const unknown = codes.filter((code) => isUnknown(lastOctet(code)))
    return rejectAnswer(codes) ?? interpretMeanings(found, unknown)
  }
}

/**
 * Wraps the decoder of a list that signals a refusal with an odd last octet: SURBL with bit 0, URIBL with 127.0.0.1 and
 * 127.0.0.255.
 */
export function refuseOddOctets(decode: Decoder): Decoder {
  return (codes) =>
    rejectNonLoopback(codes) === null && codes.some((code) => lastOctet(code) & 1) ? refusal(codes) : decode(codes)
}

const lastOctet = (code: string) => Number(code.slice(code.lastIndexOf('.') + 1))

/** Spamhaus's error codes (its FAQ on DNSBL usage). Other lists also use 127.255.255.0/24 for refusals. */
const refusalNotes: Readonly<Record<string, string>> = {
  '127.255.255.252': 'The list reports a misspelt zone name.',
  '127.255.255.254': 'The list refuses queries from public or unnamed resolvers.',
  '127.255.255.255': 'The list refuses this resolver because it sends too many queries.',
}

function rejectAnswer(codes: readonly string[]): DecodedAnswer | null {
  return rejectNonLoopback(codes) ?? (codes.some((code) => code.startsWith('127.255.255.')) ? refusal(codes) : null)
}

/** Rejects addresses outside 127/8, which come from parked list domains and from resolvers that rewrite NXDOMAIN. */
function rejectNonLoopback(codes: readonly string[]): DecodedAnswer | null {
  const odd = codes.find((code) => !code.startsWith('127.'))
  if (odd === undefined) return null
  const note = odd === BLOCK_ADDRESS ? BLOCKED : `${odd} is not a valid blacklist answer.`
  return { kind: 'invalid', note }
}

/** The address with which resolvers answer for names that they block, such as Pi-hole. No list uses it. */
export const BLOCK_ADDRESS = '0.0.0.0'
export const BLOCKED = 'The resolver blocks the names of this list: it answers 0.0.0.0.'

function refusal(codes: readonly string[]): DecodedAnswer {
  const known = codes.map((code) => ownValue(refusalNotes, code)).find((text) => text !== undefined)
  return { kind: 'refused', note: known ?? `The list refuses this resolver (${codes.join(', ')}).` }
}

/** Returns `listed` if there is a documented entry. Otherwise, an undocumented code leaves the target unknown. */
function interpretMeanings(found: readonly CodeMeaning[], unknown: readonly string[]): DecodedAnswer {
  const entries = found.filter(({ kind }) => kind !== 'informational')
  const policy = entries.every(({ kind }) => kind === 'policy')
  if (entries.length > 0) return { kind: 'listed', meaning: joinTexts(entries), policy }
  if (unknown.length > 0) return { kind: 'invalid', note: `This list does not document ${unknown.join(', ')}.` }
  return { kind: 'notListed', note: `${joinTexts(found)} (informational, not a listing).` }
}

/** Joins texts without duplicates, because several codes may have the same meaning. */
const joinTexts = (meanings: readonly CodeMeaning[]) => [...new Set(meanings.map((meaning) => meaning.text))].join('; ')
