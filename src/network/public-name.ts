import { parse } from 'tldts'
import { isPublic } from '../core/ip-address.ts'
import { specialUseOf } from './special-use-name.ts'

/**
 * Returns whether a lower-case name without a final dot belongs to the public DNS. Only the resolvers of one site can
 * know other names: those under suffixes where names cannot be registered, such as `internal` or `cluster.local`, those
 * of special use, and the reverse names of addresses that are not public.
 */
export function isPublicName(name: string): boolean {
  const { isIcann, isPrivate } = parse(name, {
    allowPrivateDomains: true,
    extractHostname: false,
    validateHostname: false,
  })
  if (specialUseOf(name) !== null || !(isIcann || isPrivate)) return false
  return !isPrivateReverseName(name)
}

/** Returns whether a name is the reverse name of an address, or of a network, that is not public. */
export function isPrivateReverseName(name: string): boolean {
  const start = firstAddressBelow(name)
  return start !== null && !isPublic(start)
}

/** Returns the first address whose reverse name (RFC 1035 §3.5, RFC 3596 §2.5) is below a name; null: there is none. */
function firstAddressBelow(name: string): string | null {
  const [, labels, version] = /^(?:(.*)\.)?(in-addr|ip6)\.arpa$/.exec(name) ?? []
  if (labels === undefined) return null
  const outermostFirst = labels.split('.').reverse()
  return version === 'ip6'
    ? nibbles(numbersOf(outermostFirst, /^[\da-f]$/, 32))
    : numbersOf(outermostFirst, /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/, 4).join('.')
}

/** Returns the leading labels that match `number`, padded with zeros to `length`. */
function numbersOf(labels: readonly string[], number: RegExp, length: number): string[] {
  const end = labels.findIndex((label) => !number.test(label))
  const known = labels.slice(0, end < 0 ? length : Math.min(end, length))
  return [...known, ...new Array<string>(length - known.length).fill('0')]
}

function nibbles(digits: readonly string[]): string {
  return (digits.join('').match(/.{4}/g) ?? []).join(':')
}
