import { parse } from 'tldts'
import { z } from 'zod'

/** A host name: RFC 1123 labels, of which the last is not all digits, so that it is no address. */
export const hostName = z
  .string()
  .trim()
  .toLowerCase()
  .max(253, 'must have at most 253 characters')
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/,
    'must be a host name without a port, such as status.example.com',
  )

const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const

/**
 * Why a page may not be served under a name, in words that follow the name of the field; null: it may. Never under the name
 * of this service or one of its registrable domain, for whoever is served there is taken for the service, and gets its
 * cookies; under none at all while the service does not know its own public name.
 * @param baseUrl our public address: at `localhost` unless BASE_URL is set.
 */
export function domainProblem(baseUrl: string, name: string): string | null {
  const own = new URL(baseUrl).hostname
  if (own === 'localhost' || own.endsWith('.localhost')) {
    return 'cannot be used: the operator has not set BASE_URL, the address of this service itself'
  }
  const registrable = parse(name, options).domain
  if (registrable === null) return 'must be a name below a public suffix, such as status.example.com'
  return isRelated(own, name, registrable) ? 'must not belong to the domain of this service itself' : null
}

/** Whether a name is a host's own, above or below it, or of the same registrable domain. */
function isRelated(own: string, name: string, registrable: string): boolean {
  return (
    own === name || own.endsWith(`.${name}`) || name.endsWith(`.${own}`) || parse(own, options).domain === registrable
  )
}
