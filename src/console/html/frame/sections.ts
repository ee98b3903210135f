import type { Scope } from '../../../generated/prisma/enums.ts'

/** The sections of the console, in the order of the menu, and the scopes that they require. */
export const sections = [
  { name: 'now', title: 'Now', scope: 'READ' },
  { name: 'incidents', title: 'Incidents', scope: 'READ' },
  { name: 'maintenance', title: 'Maintenance', scope: 'READ' },
  { name: 'services', title: 'Services', scope: 'READ' },
  { name: 'monitors', title: 'Monitors', scope: 'READ' },
  { name: 'alerts', title: 'Alerts', scope: 'READ' },
  { name: 'subscribers', title: 'Subscribers', scope: 'READ' },
  { name: 'deliveries', title: 'Deliveries', scope: 'READ' },
  { name: 'page', title: 'Page', scope: 'ADMIN' },
  { name: 'people', title: 'People', scope: 'READ' },
  { name: 'keys', title: 'API keys', scope: 'ADMIN' },
  { name: 'plan', title: 'Plan', scope: 'READ' },
  { name: 'log', title: 'Log', scope: 'READ' },
  { name: 'blacklists', title: 'Blacklists', scope: 'READ' },
] as const satisfies readonly { readonly name: string; readonly title: string; readonly scope: Scope }[]

/** A section of the menu; `start` has no entry. */
export type Section = (typeof sections)[number]['name'] | 'start' | 'account'
