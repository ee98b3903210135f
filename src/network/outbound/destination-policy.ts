import { addressRange, isPublic } from '../../core/ip-address.ts'

/** The ranges of private networks. Excludes link-local, where only cloud metadata is served at a bare address. */
const lan = new Set(['private', 'loopback', 'carrier-grade NAT', 'unique local'])

/** The hint for targets in private networks. */
export const PRIVATE_NETWORKS_HINT = 'the operator can allow private addresses with ALLOW_PRIVATE_NETWORKS=true'

/** Metadata services of clouds outside the link-local range: Azure, Alibaba, AWS, Google. */
const metadata = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/**
 * Returns whether tenants may connect to an address. They may connect to public addresses, and with `allowPrivate` to
 * private networks and this machine, but never to a metadata service.
 */
export function mayReach(address: string, allowPrivate: boolean): boolean {
  if (metadata.has(address)) return false
  return isPublic(address) || (allowPrivate && lan.has(addressRange(address)))
}
