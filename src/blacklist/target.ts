import { isIPv4 } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'
import type { ErrorCode } from '../core/errors.ts'
import { Invalid } from '../core/errors.ts'
import { invisibleCharacterIn } from '../core/invisible-character.ts'
import { addressFamily, addressRange, parseAddress } from '../core/ip-address.ts'
import { parseUrl } from '../core/url.ts'
import { isPrivateReverseName } from '../network/public-name.ts'
import { specialUseOf } from '../network/special-use-name.ts'

/** An IP address to look up, in the canonical form that is queried, stored and shown. */
export interface IpTarget {
  readonly kind: 'ip'
  /** The address in canonical form (RFC 5952 for IPv6). An IPv4-mapped address is converted to IPv4. */
  readonly address: string
  readonly family: 4 | 6
}

export interface DomainTarget {
  readonly kind: 'domain'
  /** Lower-case A-labels without a trailing dot, at most 253 characters. */
  readonly name: string
  /**
   * The registrable domains: one label below the ICANN suffix, and one label below the private suffix if that is
   * different (for `a.b.blogspot.com`: `blogspot.com`, `b.blogspot.com`).
   */
  readonly registrable: readonly string[]
}

export type Target = IpTarget | DomainTarget

const MAX_INPUT_LENGTH = 1024
// RFC 1035 §2.3.4: 255 octets on the wire are 253 characters of text; a label has at most 63.
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63
const MAX_SUGGESTION_LENGTH = 80

/** The test address that every list contains (RFC 5782 §5). */
const TEST_ADDRESS = '127.0.0.2'

/**
 * Parses a target in any valid notation, ignoring surrounding whitespace.
 * @param expected the kind of target that the caller's route accepts; absent: either.
 * @throws Invalid `MISSING_TARGET` for empty input, `INVALID_TARGET` with a hint, or `TARGET_NOT_PUBLIC` with the
 * range. Messages only repeat input that is a valid name or address.
 */
export function parseTarget(input: unknown, expected: 'ip'): IpTarget
export function parseTarget(input: unknown, expected: 'domain'): DomainTarget
export function parseTarget(input: unknown, expected?: Target['kind']): Target
export function parseTarget(input: unknown, expected?: Target['kind']): Target {
  const text = typeof input === 'string' ? input.trim() : ''
  if (text === '') throw refusal('MISSING_TARGET', 'Send an IP address or a domain name as the target.')
  if (text.length > MAX_INPUT_LENGTH) throw invalid('This is too long to be an IP address or a domain name.')
  const target = classifyTarget(text, expected)
  if (target instanceof Invalid) throw target
  return target
}

/** Returns whether to check an address that a domain resolves to: a public or documentation address. */
export function isCheckable(address: string): boolean {
  const range = addressRange(address)
  return range === 'public' || range === 'documentation'
}

function classifyTarget(text: string, expected: Target['kind'] | undefined): Target | Invalid {
  const address = parseAddress(text)
  if (address !== null) return expected === 'domain' ? invalid(USE_IP_CHECK) : ipTarget(address)
  const invisible = invisibleCharacterIn(text, { joiners: false })
  const misspelling = commonMistakes.find(({ matches: seen }) => seen(text))
  if (misspelling && invisible) return invalid(misspelling.hint + remove(invisible))
  if (misspelling) return invalid(misspelling.hint + suggestion(misspelling.extract?.(text) ?? '', expected))
  if (invisible) return invalid((expected === 'ip' ? NOT_AN_ADDRESS : INVALID_CHARACTER) + remove(invisible))
  const target = domainTarget(text)
  if (expected !== 'ip') return target
  return invalid(target instanceof Invalid ? NOT_AN_ADDRESS : USE_DOMAIN_CHECK)
}

function ipTarget(address: string): Target | Invalid {
  if (isCheckable(address) || address === TEST_ADDRESS) return { kind: 'ip', address, family: addressFamily(address) }
  const message = `${address} is not a public address (${addressRange(address)}). Send an address that the internet can reach.`
  return refusal('TARGET_NOT_PUBLIC', message)
}

function domainTarget(text: string): Target | Invalid {
  // Checked before the conversion, which decodes %41 and drops tabs. The result for other Unicode is validated below.
  if (/[^\w.\-\u0080-\uffff]/.test(text)) return invalid(INVALID_CHARACTER)
  if (endsInNumber.test(text))
    return invalid('A domain name does not end in a number. Send a name such as example.com.')
  const ascii = domainToASCII(text)
  // Fullwidth digits and dots are converted to an address that the caller did not literally write.
  if (isIPv4(ascii)) return invalid(UNSUPPORTED_IPV4_NOTATION)
  if (ascii === '' || hasInvalidLabel(ascii)) {
    const joiner = invisibleCharacterIn(text, { joiners: true })
    return invalid(`This is not a valid internationalized domain name.${joiner ? remove(joiner) : ''}`)
  }
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii
  const mistake = findNameError(name)
  if (mistake !== null) return invalid(mistake)
  const special = specialUseOf(name)
  if (special !== null) return notPublic(`This name is not public: ${special.reason}.`)
  if (isPrivateReverseName(name)) return notPublic('This is the reverse name of addresses that are not public.')
  const registrable = registrableDomains(name)
  if (registrable.length === 0) {
    return invalid('This is a public suffix. Send a name below it, such as example.co.uk.')
  }
  return { kind: 'domain', name, registrable }
}

/**
 * Returns whether a name has an A-label that does not encode valid Unicode. Node.js 24 leaves such labels unchanged;
 * Node.js 20 rejects them.
 */
function hasInvalidLabel(name: string): boolean {
  return /(^|\.)xn--/.test(name) && /(^|\.)xn--/.test(domainToUnicode(name))
}

function findNameError(name: string): string | null {
  const labels = name.split('.')
  if (labels.includes('')) return 'A domain name has no empty labels. Remove the extra dot.'
  if (name.length > MAX_NAME_LENGTH) return `A domain name has at most ${MAX_NAME_LENGTH} characters.`
  if (labels.some((label) => label.length > MAX_LABEL_LENGTH)) {
    return `A label of a domain name has at most ${MAX_LABEL_LENGTH} characters.`
  }
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return 'A label of a domain name cannot start or end with a hyphen.'
  }
  if (!labels.every((label) => /^[a-z\d_-]+$/.test(label))) return INVALID_CHARACTER
  if (labels.length < 2) return 'A domain name has at least two labels. Send a name such as example.com.'
  return null
}

function registrableDomains(name: string): readonly string[] {
  const options = { extractHostname: false, validateHostname: false, detectIp: false }
  const icann = getDomain(name, options)
  const byPrivateSuffix = getDomain(name, { ...options, allowPrivateDomains: true })
  return [...new Set([icann, byPrivateSuffix])].filter((domain) => domain !== null)
}

const USE_IP_CHECK = 'This is an IP address. Use the IP check.'
const USE_DOMAIN_CHECK = 'This is a domain name. Use the domain check.'
const NOT_AN_ADDRESS = 'This is not an IP address. Send an address such as 192.0.2.7 or 2001:db8::7.'
const UNSUPPORTED_IPV4_NOTATION =
  'Write an IPv4 address as four decimal numbers from 0 to 255, such as 192.0.2.7. Octal, hexadecimal, integer and shortened notations are not accepted.'
const INVALID_CHARACTER = 'A domain name can contain only letters, digits, hyphens, underscores and dots.'

const number = String.raw`(?:\d+|0x[\da-f]*)`
const numbersOnly = new RegExp(String.raw`^${number}(?:\.${number})*\.?$`, 'i')
const endsInNumber = new RegExp(String.raw`\.${number}\.?$`, 'i')

interface CommonMistake {
  readonly matches: (text: string) => boolean
  /** Explains what is wrong and what to send. */
  readonly hint: string
  /** Extracts the part of the text that the caller probably meant. */
  readonly extract?: (text: string) => string
}

/** Mistakes to detect before a name is parsed. The first match wins. */
const commonMistakes: readonly CommonMistake[] = [
  {
    matches: (text) => /\/\d{1,3}$/.test(text) && parseAddress(text.slice(0, text.lastIndexOf('/'))) !== null,
    hint: 'This is an address range. Send a single address.',
  },
  { matches: (text) => /[/\\?#]/.test(text), hint: 'This is a URL. Send only its host.', extract: urlHost },
  {
    matches: (text) => text.includes('@'),
    hint: 'This is an email address. Send only its domain.',
    extract: (text) => text.slice(text.lastIndexOf('@') + 1),
  },
  { matches: (text) => /[\s,;]/.test(text), hint: 'Send one target at a time, without spaces or commas.' },
  {
    matches: (text) => text.startsWith('['),
    hint: 'Send an IPv6 address without brackets or port.',
    extract: (text) => /^\[([^[\]]*)\]/.exec(text)?.[1] ?? '',
  },
  {
    matches: (text) => /^[\da-f:.]+%/i.test(text),
    hint: 'Send an address without its zone (the part after %).',
    extract: (text) => text.slice(0, text.indexOf('%')),
  },
  {
    matches: (text) => /^[^:]+:\d*$/.test(text),
    hint: 'Send the target without a port.',
    extract: (text) => text.slice(0, text.indexOf(':')),
  },
  {
    matches: (text) => text.includes(':') && /^[\da-f:.]+$/i.test(text),
    hint: 'This is not a valid IPv6 address. Send an address such as 2001:db8::7.',
  },
  { matches: (text) => numbersOnly.test(text), hint: UNSUPPORTED_IPV4_NOTATION },
  {
    matches: (text) => text.includes('*'),
    hint: 'Wildcards cannot be checked. Send a single name.',
    extract: (text) => (text.startsWith('*.') ? text.slice(2) : ''),
  },
]

/** Returns a sentence that suggests a valid target; empty: there is none, or it is too long to repeat. */
function suggestion(meant: string, expected: Target['kind'] | undefined): string {
  const address = parseAddress(meant)
  const target = address === null ? domainTarget(meant) : ipTarget(address)
  if (target instanceof Invalid || (expected ?? target.kind) !== target.kind) return ''
  const spelling = target.kind === 'ip' ? target.address : target.name
  return spelling.length <= MAX_SUGGESTION_LENGTH ? ` Send ${spelling} instead.` : ''
}

function urlHost(text: string): string {
  const url = `http://${text.replace(/^(?:[a-z][a-z\d+.-]*:)?[/\\]{2}/i, '')}`
  return parseUrl(url)?.hostname.replace(/^\[|\]$/g, '') ?? ''
}

function remove(invisible: string): string {
  return ` Remove the invisible character ${invisible}.`
}

function notPublic(message: string): Invalid {
  return refusal('TARGET_NOT_PUBLIC', message)
}

function invalid(message: string): Invalid {
  return refusal('INVALID_TARGET', message)
}

function refusal(code: ErrorCode, message: string): Invalid {
  return new Invalid(code, message, [{ path: ['target'], message }])
}
