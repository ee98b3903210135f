import { addressRange, isPublic } from '../address.ts'

/** Ranges that a LAN uses. Link-local is not among them: nothing but cloud metadata is served there by bare address. */
const lan = new Set(['private', 'loopback', 'carrier-grade NAT', 'unique local'])

/** What the operator of a service on a LAN can do about a refusal. */
export const PRIVATE_NETWORKS_HINT = 'the operator can allow private ones by ALLOW_PRIVATE_NETWORKS=true'

/** Where clouds tell their machines secrets, outside the link-local range: Azure, Alibaba, AWS, Google. */
const metadata = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/**
 * Whether tenants may have an address reached: a public one, or with `allowPrivate` one of the LAN or this machine.
 * Metadata services are never reached.
 */
export function mayReach(address: string, allowPrivate: boolean): boolean {
  if (metadata.has(address)) return false
  return isPublic(address) || (allowPrivate && lan.has(addressRange(address)))
}
