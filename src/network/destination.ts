import { parse } from 'tldts'
import { addressFamily, isPublic, parseAddress, subnet64 } from '../core/ip-address.ts'
import { isPublicName } from './public-name.ts'

/**
 * Returns the key of the third party behind a host: the registrable domain of a name, the /64 of an IPv6 address, or an
 * IPv4 address itself; null: the host is in a private network, which belongs to our operator.
 * @param host a name, or an address with or without brackets.
 */
export function thirdParty(host: string): string | null {
  const address = parseAddress(host.replace(/^\[(.*)\]$/, '$1'))
  if (address !== null) {
    if (!isPublic(address)) return null
    return addressFamily(address) === 6 ? subnet64(address) : address
  }
  const name = host.toLowerCase().replace(/\.$/, '')
  if (!isPublicName(name)) return null
  return parse(name, { allowPrivateDomains: true, extractHostname: false, validateHostname: false }).domain ?? name
}
