import type { PrivateTargetRule } from '../../src/network/outbound/destination-policy.ts'
import { noPrivateTargets } from '../../src/network/outbound/destination-policy.ts'

/** The rule of an organization that may not reach private networks. */
export const closed: PrivateTargetRule = noPrivateTargets

/** The rule of an organization that may. */
export const open: PrivateTargetRule = { ...noPrivateTargets, isAllowed: true }
