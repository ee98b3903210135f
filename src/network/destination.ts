import { parse } from 'tldts'
import { addressFamily, isPublic, parseAddress, subnet64 } from './address.ts'
import { isPublicName } from './public-name.ts'

/**
 * What stands for the third party behind a host, to be spared as a whole: of a name its registrable domain, of an IPv6 address
 * its /64, of an IPv4 address itself. Null: it is in a private network, whose operator is our own.
 * @param host a name, or an address, also in brackets.
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
