/** The maximum number of monitors in a group. */
export const MAX_GROUP_MEMBERS = 100
/** The maximum number of groups of an organization. Limited, because one change may affect all of them. */
export const MAX_GROUPS = 100
