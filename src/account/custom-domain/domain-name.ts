import { parse } from 'tldts'
import type { PageHost } from '../../core/host-name.ts'
import { hostName } from '../../core/host-name.ts'

const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const

/**
 * Returns why a page cannot be served under a name, as text that follows the field name; null: it can. Refuses this service's own
 * name and its whole registrable domain, because a page there could impersonate the service and would get its cookies. Refuses
 * every name while the public name of the service is unknown.
 * @param baseUrl the public URL of this service; it is at `localhost` unless BASE_URL is set.
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

/**
 * Returns a request's host name, as `hostNameOf` reads it, if a custom domain can have that name; null: it cannot.
 */
export function pageHostOf(baseUrl: string, host: string): PageHost | null {
  const isName = hostName.safeParse(host).data === host
  return isName && domainProblem(baseUrl, host) === null ? (host as PageHost) : null
}

/**
 * Returns the public address of a host that serves a page, without a slash at its end. Its scheme is that of this
 * service.
 */
export function originOfHost(baseUrl: string, host: string): string {
  return `${new URL(baseUrl).protocol}//${host}`
}

/** Returns whether a name equals, contains or is below a host name, or shares its registrable domain. */
function isRelated(own: string, name: string, registrable: string): boolean {
  return (
    own === name || own.endsWith(`.${name}`) || name.endsWith(`.${own}`) || parse(own, options).domain === registrable
  )
}
