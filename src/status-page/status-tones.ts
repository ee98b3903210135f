import type { ShownStatus } from '../status/service/service-status.ts'

/** The colours of each status in the light scheme of the style sheet, for images, which have no colour scheme. */
export const statusColours = {
  OPERATIONAL: { ink: '#14653c', tint: '#e7f3ec' },
  DEGRADED_PERFORMANCE: { ink: '#7a4f00', tint: '#fbf1dc' },
  PARTIAL_OUTAGE: { ink: '#983d06', tint: '#fdeee2' },
  MAJOR_OUTAGE: { ink: '#a61b1b', tint: '#fbecea' },
  UNDER_MAINTENANCE: { ink: '#1f5a94', tint: '#e8f1fa' },
  UNKNOWN: { ink: '#4d575e', tint: '#eef0f1' },
} as const satisfies Record<ShownStatus, { readonly ink: string; readonly tint: string }>
