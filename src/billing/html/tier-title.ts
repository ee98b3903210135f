import type { Tier } from '../../generated/prisma/enums.ts'

/** What a tier is called on pages. */
export function tierTitle(tier: Tier): string {
  return ({ FREE: 'Free', PRO: 'Pro', TEAM: 'Team' } as const)[tier]
}
