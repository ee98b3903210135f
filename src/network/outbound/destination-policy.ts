import type { Issue } from '../../core/errors.ts'
import { addressRange, isPublic } from '../../core/ip-address.ts'

/** The ranges of private networks. Excludes link-local, where only cloud metadata is served at a bare address. */
const lan = new Set(['private', 'loopback', 'carrier-grade NAT', 'unique local'])

/** Metadata services of clouds outside the link-local range: Azure, Alibaba, AWS, Google. */
const metadata = new Set(['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/** The names of metadata services, which a proxy could resolve for us: Google, AWS. */
const metadataNames = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal'])

/** Appended to refusals whose reader may be anyone. */
export const PRIVATE_NETWORKS_HINT = 'the operator of this service decides whether private addresses are allowed'

/**
 * Whether connections may reach private networks: for all owners alike, or by owner.
 * @param owner an organization's id; null: we ourselves, or what no organization chose.
 */
export type PrivateTargetPolicy = boolean | ((owner: string | null) => Promise<boolean>)

/** What decides about private targets in an input: whether they are allowed, and what a refusal adds for its reader. */
export interface PrivateTargetRule {
  readonly isAllowed: boolean
  readonly hint: string
}

/** The rule for those who may not reach private networks, whoever reads the refusal. */
export const noPrivateTargets: PrivateTargetRule = { isAllowed: false, hint: PRIVATE_NETWORKS_HINT }

/**
 * Returns the issue of a target that a rule does not allow.
 * @param isPrivate whether the operator could allow it.
 */
export function targetIssue(
  path: readonly string[],
  message: string,
  { isPrivate, rule }: { readonly isPrivate: boolean; readonly rule: PrivateTargetRule },
): Issue {
  return isPrivate ? { path, message: `${message}; ${rule.hint}`, kind: 'PRIVATE_TARGET' } : { path, message }
}

/** Returns whether a policy allows an owner to reach private networks. Rejects if that cannot be found out. */
export async function allowsPrivate(policy: PrivateTargetPolicy, owner: string | null): Promise<boolean> {
  return typeof policy === 'boolean' ? policy : policy(owner)
}

/**
 * Returns who may connect to an address: everyone (`public`); those who may reach private networks and this machine
 * (`private`); no one (`never`), such as link-local addresses and metadata services.
 */
export function reachOf(address: string): 'public' | 'private' | 'never' {
  if (metadata.has(address)) return 'never'
  if (isPublic(address)) return 'public'
  return lan.has(addressRange(address)) ? 'private' : 'never'
}

/** Returns whether a lower-case name without a final dot is that of a metadata service, to which no one may connect. */
export function isMetadataName(name: string): boolean {
  return metadataNames.has(name)
}
