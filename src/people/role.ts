import type { Role } from '../generated/prisma/enums.ts'

/** The names of roles on screens. */
export const roleNames = {
  VIEWER: 'Viewer',
  EDITOR: 'Editor',
  ADMIN: 'Admin',
  OWNER: 'Owner',
} as const satisfies Record<Role, string>

/** The descriptions of roles on screens. */
export const roleDescriptions = {
  VIEWER: 'Sees everything of the organization.',
  EDITOR: 'Also changes what the page shows, monitors and subscribers.',
  ADMIN: 'Also manages keys and the page’s settings.',
  OWNER: 'Also manages people, billing and deletion.',
} as const satisfies Record<Role, string>

/** Says on screens that an account’s address is not proven. */
export const unprovenNote = 'address not proven'
