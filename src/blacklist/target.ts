import { isIPv4 } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'
import type { ErrorCode } from '../errors.ts'
import { Invalid } from '../errors.ts'
import { addressFamily, addressRange, parseAddress } from '../network/address.ts'

/** What can be looked up on the lists, in the one spelling we ask, store and show. */
export interface IpTarget {
  readonly kind: 'ip'
  /** Canonical text (RFC 5952 for IPv6); an IPv4-mapped address has become IPv4. */
  readonly address: string
  readonly family: 4 | 6
}

export interface DomainTarget {
  readonly kind: 'domain'
  /** Lower-case A-labels without a trailing dot, at most 253 characters. */
  readonly name: string
  /**
   * The domains somebody registered: one label below the ICANN suffix, then, where it differs, one label below the
   * private suffix (of `a.b.blogspot.com`: `blogspot.com`, `b.blogspot.com`).
   */
  readonly registrable: readonly string[]
}

export type Target = IpTarget | DomainTarget

const maxInput = 1024
// RFC 1035 §2.3.4: 255 octets on the wire are 253 characters of text; a label has at most 63.
const maxName = 253
const maxLabel = 63
const maxEcho = 80

/** Every list holds it, to be tested with (RFC 5782 §5). */
const testAddress = '127.0.0.2'

/**
 * Reads what a caller wants to have checked, in any legal spelling; surrounding blanks do not matter.
 * @param expected the kind of target the caller asked to have checked; absent: either.
 * @throws Invalid `MISSING_TARGET` when there is none, `INVALID_TARGET` with a hint of what to send instead, or
 * `TARGET_NOT_PUBLIC` naming the range. Messages repeat nothing of the input but a name or address found valid.
 */
export function parseTarget(input: unknown, expected: 'ip'): IpTarget
export function parseTarget(input: unknown, expected: 'domain'): DomainTarget
export function parseTarget(input: unknown, expected?: Target['kind']): Target
export function parseTarget(input: unknown, expected?: Target['kind']): Target {
  const text = typeof input === 'string' ? input.trim() : ''
  if (text === '') throw refusal('MISSING_TARGET', 'Send an IP address or a domain name as the target.')
  if (text.length > maxInput) throw invalid('This is too long to be an IP address or a domain name.')
  const target = readTarget(text, expected)
  if (target instanceof Invalid) throw target
  return target
}

/** Whether an address that a domain resolves to is checked too: public, or for examples. */
export function isCheckable(address: string): boolean {
  const range = addressRange(address)
  return range === 'public' || range === 'documentation'
}

function readTarget(text: string, expected: Target['kind'] | undefined): Target | Invalid {
  const address = parseAddress(text)
  if (address !== null) return expected === 'domain' ? invalid(isAddress) : ipTarget(address)
  const misspelling = misspellings.find(({ seen }) => seen(text))
  if (misspelling) return invalid(misspelling.hint + alternative(misspelling.meant?.(text) ?? '', expected))
  const target = domainTarget(text)
  if (expected !== 'ip') return target
  return invalid(target instanceof Invalid ? isNoAddress : isDomain)
}

function ipTarget(address: string): Target | Invalid {
  if (isCheckable(address) || address === testAddress) return { kind: 'ip', address, family: addressFamily(address) }
  const message = `${address} is not a public address (${addressRange(address)}): send one that the internet can reach.`
  return refusal('TARGET_NOT_PUBLIC', message)
}

function domainTarget(text: string): Target | Invalid {
  // Before the conversion, which would decode %41 and drop tabs; what it makes of the rest of Unicode is judged after it.
  if (/[^\w.\-\u0080-\uffff]/.test(text)) return invalid(badCharacter)
  if (endsInNumber.test(text)) return invalid('No domain name ends in a number: send one such as example.com.')
  const ascii = domainToASCII(text)
  // Fullwidth digits and dots come out as an address, which nobody literally wrote.
  if (isIPv4(ascii)) return invalid(oddAddress)
  if (ascii === '' || hasInvalidLabel(ascii)) return invalid('This is not a valid internationalized domain name.')
  const name = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii
  const mistake = nameMistake(name)
  if (mistake !== null) return invalid(mistake)
  const registrable = registrableDomains(name)
  if (registrable.length === 0) {
    return invalid('This is a public suffix, under which others register: send a name below it, such as example.co.uk.')
  }
  return { kind: 'domain', name, registrable }
}

/** Whether an A-label stands for no Unicode: Node 24's conversion leaves such labels as they are, Node 20's refuses them. */
function hasInvalidLabel(name: string): boolean {
  return /(^|\.)xn--/.test(name) && /(^|\.)xn--/.test(domainToUnicode(name))
}

function nameMistake(name: string): string | null {
  const labels = name.split('.')
  if (labels.includes('')) return 'A domain name has no empty labels: remove the extra dot.'
  if (name.length > maxName) return `A domain name has at most ${maxName} characters.`
  if (labels.some((label) => label.length > maxLabel)) {
    return `A label of a domain name has at most ${maxLabel} characters.`
  }
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return 'A label of a domain name neither starts nor ends with a hyphen.'
  }
  if (!labels.every((label) => /^[a-z\d_-]+$/.test(label))) return badCharacter
  if (labels.length < 2) return 'A domain name has at least two labels: send one such as example.com.'
  return null
}

function registrableDomains(name: string): readonly string[] {
  const options = { extractHostname: false, validateHostname: false, detectIp: false }
  const icann = getDomain(name, options)
  const byPrivateSuffix = getDomain(name, { ...options, allowPrivateDomains: true })
  return [...new Set([icann, byPrivateSuffix])].filter((domain) => domain !== null)
}

const isAddress = 'This is an IP address: use the IP check.'
const isDomain = 'This is a domain: use the domain check.'
const isNoAddress = 'This is not an IP address: send one such as 192.0.2.7 or 2001:db8::7.'
const oddAddress =
  'An IPv4 address is written as four decimal numbers from 0 to 255, such as 192.0.2.7: octal, hexadecimal, integer, shortened and other spellings are refused.'
const badCharacter = 'A domain name has only letters, digits, hyphens, underscores and dots.'

const number = String.raw`(?:\d+|0x[\da-f]*)`
const numbersOnly = new RegExp(String.raw`^${number}(?:\.${number})*\.?$`, 'i')
const endsInNumber = new RegExp(String.raw`\.${number}\.?$`, 'i')

interface Misspelling {
  readonly seen: (text: string) => boolean
  /** What is wrong and what to send. */
  readonly hint: string
  /** The part of the text that was probably meant. */
  readonly meant?: (text: string) => string
}

/** Mistakes that show before the text is read as a name; the first that is seen counts. */
const misspellings: readonly Misspelling[] = [
  {
    seen: (text) => /\/\d{1,3}$/.test(text) && parseAddress(text.slice(0, text.lastIndexOf('/'))) !== null,
    hint: 'This is a range of addresses: send a single address.',
  },
  { seen: (text) => /[/\\?#]/.test(text), hint: 'This is a URL: send only its host.', meant: urlHost },
  {
    seen: (text) => text.includes('@'),
    hint: 'This is an e-mail address: send only its domain.',
    meant: (text) => text.slice(text.lastIndexOf('@') + 1),
  },
  { seen: (text) => /[\s,;]/.test(text), hint: 'Send one target at a time, without blanks or commas.' },
  {
    seen: (text) => text.startsWith('['),
    hint: 'An IPv6 address is sent without brackets or port.',
    meant: (text) => /^\[([^[\]]*)\]/.exec(text)?.[1] ?? '',
  },
  {
    seen: (text) => /^[\da-f:.]+%/i.test(text),
    hint: 'An address is sent without its zone, the part from %.',
    meant: (text) => text.slice(0, text.indexOf('%')),
  },
  {
    seen: (text) => /^[^:]+:\d*$/.test(text),
    hint: 'A target is sent without a port.',
    meant: (text) => text.slice(0, text.indexOf(':')),
  },
  {
    seen: (text) => text.includes(':') && /^[\da-f:.]+$/i.test(text),
    hint: 'This is not a legal IPv6 address: send one such as 2001:db8::7.',
  },
  { seen: (text) => numbersOnly.test(text), hint: oddAddress },
  {
    seen: (text) => text.includes('*'),
    hint: 'A wildcard cannot be checked: send a single name.',
    meant: (text) => (text.startsWith('*.') ? text.slice(2) : ''),
  },
]

/** A sentence that says what to send instead, when what was meant would be accepted and is short enough to repeat. */
function alternative(meant: string, expected: Target['kind'] | undefined): string {
  const address = parseAddress(meant)
  const target = address === null ? domainTarget(meant) : ipTarget(address)
  if (target instanceof Invalid || (expected ?? target.kind) !== target.kind) return ''
  const spelling = target.kind === 'ip' ? target.address : target.name
  return spelling.length <= maxEcho ? ` Send ${spelling} instead.` : ''
}

function urlHost(text: string): string {
  const url = `http://${text.replace(/^(?:[a-z][a-z\d+.-]*:)?[/\\]{2}/i, '')}`
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : ''
}

function invalid(message: string): Invalid {
  return refusal('INVALID_TARGET', message)
}

function refusal(code: ErrorCode, message: string): Invalid {
  return new Invalid(code, message, [{ path: ['target'], message }])
}
