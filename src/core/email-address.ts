import { domainToASCII } from 'node:url'
import { z } from 'zod'

/** Atoms of a local part (RFC 5322 §3.2.3), at most 64 octets (RFC 5321 §4.5.3.1.1), and a host name of at least two labels. */
const ADDRESS =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/i

/** Letters, digits and dots of any script; a host name in another form is none. */
const INTERNATIONAL_DOMAIN = /^(?=.*[^\p{ASCII}])[\p{L}\p{M}\p{N}.。．｡-]+$/u

/** Returns an address with its domain in A-labels (RFC 5891), which every mail server understands. */
function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1
  const domain = address.slice(at)
  return INTERNATIONAL_DOMAIN.test(domain) ? address.slice(0, at) + domainToASCII(domain) : address
}

/** The limit of email (RFC 5321 §4.5.3.1.3). */
const MAX_LENGTH = 254
const tooLong = `must have at most ${MAX_LENGTH} characters`

/** An email address, with its domain in A-labels. */
export const emailAddress = z
  .string()
  .max(MAX_LENGTH, { abort: true, error: tooLong })
  .overwrite(withAsciiDomain)
  .max(MAX_LENGTH, { abort: true, error: tooLong })
  .regex(ADDRESS, 'must be an email address')
