import { ownValue } from '../core/own-value.ts'

/** A name that the public DNS does not have. */
export interface SpecialUse {
  /** A sentence without a final period: `names below onion …`. */
  readonly reason: string
  /** Whether resolvers of a site may know such names, as they know `nas.home.arpa`. No resolver knows the others. */
  readonly isLocal: boolean
}

const local = (reason: string): SpecialUse => ({ reason, isLocal: true })
const nowhere = (reason: string): SpecialUse => ({ reason, isLocal: false })

/**
 * The special-use domain names that cannot be looked up in the public DNS (IANA registry, RFC 6761). Not `example`: the
 * names for documentation are accepted like the addresses for documentation. The reverse names of addresses that are not
 * public are not here, because `public-name.ts` reads their addresses.
 */
const specialUses: Readonly<Record<string, SpecialUse>> = {
  localhost: local('names below localhost mean the machine itself (RFC 6761)'),
  test: local('names below test are for tests, and the public DNS has none (RFC 6761)'),
  local: local('names below local belong to a local network (RFC 6762)'),
  'home.arpa': local('names below home.arpa belong to a home network (RFC 8375)'),
  'service.arpa': local('names below service.arpa belong to a local network (RFC 9665)'),
  'resolver.arpa': local('names below resolver.arpa concern the resolver itself (RFC 9462)'),
  'ipv4only.arpa': local('ipv4only.arpa is for finding NAT64 (RFC 8880)'),
  'eap.arpa': nowhere('names below eap.arpa are not in the DNS (RFC 9965)'),
  'eap-noob.arpa': nowhere('names below eap-noob.arpa are not in the DNS (RFC 9140)'),
  '6tisch.arpa': nowhere('names below 6tisch.arpa are not in the DNS (RFC 9031)'),
  invalid: nowhere('names below invalid never exist (RFC 6761)'),
  onion: nowhere('names below onion are only reachable through Tor (RFC 7686)'),
  alt: nowhere('names below alt are not in the DNS (RFC 9476)'),
}

/** Returns the special use of a lower-case name without a final dot; null: it has none. */
export function specialUseOf(name: string): SpecialUse | null {
  const [last = '', next] = name.split('.').reverse()
  return ownValue(specialUses, last) ?? ownValue(specialUses, `${next}.${last}`) ?? null
}
