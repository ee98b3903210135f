import type { Finding } from './finding.ts'
import { found } from './finding.ts'

/** Who may reach private networks. */
export interface PrivateTargetState {
  /** Whether the operator allows them for all organizations. */
  readonly forAll: boolean
  /** Whether `ALLOW_PRIVATE_NETWORKS` allows them for all. */
  readonly byEnvironment: boolean
  /** The number of organizations with a permission of their own. */
  readonly organizations: number
}

/** Examines who may reach private networks. @param isOpen whether anyone can create an organization. */
export function examinePrivateTargets(
  { forAll, byEnvironment, organizations }: PrivateTargetState,
  isOpen: boolean,
): Finding {
  if (!forAll && !byEnvironment) return found('PRIVATE_TARGETS_OK', { organizations })
  const how = byEnvironment ? 'ALLOW_PRIVATE_NETWORKS' : 'the operator’s settings'
  return found(isOpen ? 'PRIVATE_TARGETS_FOR_STRANGERS' : 'PRIVATE_TARGETS_FOR_ALL', { how })
}
