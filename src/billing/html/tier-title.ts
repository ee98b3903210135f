import type { Tier } from '../../generated/prisma/enums.ts'

/** Returns the name of a tier on pages. */
export function tierTitle(tier: Tier): string {
  return ({ FREE: 'Free', PRO: 'Pro', TEAM: 'Team' } as const)[tier]
}
