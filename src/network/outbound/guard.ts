import { addressRange, isPublic } from '../../core/ip-address.ts'

/** Ranges of private networks. Link-local is not included: only cloud metadata is served there by bare address. */
const lan = new Set(['private', 'loopback', 'carrier-grade NAT', 'unique local'])

/** The hint for operators of services in private networks. */
export const PRIVATE_NETWORKS_HINT = 'the operator can allow private ones by ALLOW_PRIVATE_NETWORKS=true'

/** The metadata services of clouds outside the link-local range: Azure, Alibaba, AWS, Google. */
const metadata = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/**
 * Returns whether tenants may connect to an address: a public one, or with `allowPrivate` one of a private network or
 * this machine; never a metadata service.
 */
export function mayReach(address: string, allowPrivate: boolean): boolean {
  if (metadata.has(address)) return false
  return isPublic(address) || (allowPrivate && lan.has(addressRange(address)))
}
