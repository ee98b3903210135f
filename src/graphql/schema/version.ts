import { ownerOnly } from './owner-only.ts'

/** The options of an object's field `version`, for `optimistic-lock.ts`. */
export const VERSION = {
  nullable: true,
  authScopes: ownerOnly,
  description: 'The version, incremented by every edit. Requires a key of the organization.',
} as const

/** The options of an input's field `version`. */
export const VERSION_READ = {
  required: false,
  description: 'The version that you read. If there is a newer one, the mutation returns a ConflictError.',
} as const

/** The description of a page's version in inputs that change another part of the page. */
export const PAGE_VERSION =
  'The version of the page that you read. If the page has a newer one, the mutation returns a ConflictError.'
