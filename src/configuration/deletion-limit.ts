import type { Existing } from './current.ts'
import type { ObjectChange } from './plan.ts'

/** The maximum number of objects that a file may delete without explicit permission. */
const MAX_DELETIONS = 10

/** The maximum share of its managed objects that a file may delete without explicit permission. */
const MAX_SHARE = 0.2

interface Deleting {
  readonly changes: readonly ObjectChange[]
  readonly before: readonly Existing[]
  readonly after: readonly Existing[]
  /** How many objects the file manages before it is applied. */
  readonly managed: number
}

/** Returns the number of objects that changes delete. */
export const deletionsAmong = (changes: readonly ObjectChange[]): number =>
  changes.filter(({ action }) => action === 'DELETE').length

/**
 * Returns why a plan needs permission to delete: it deletes more than 10 objects, more than a fifth of the file's managed objects,
 * or the last monitor of the organization or of a remaining service. Null: it needs none.
 */
export function deletionWarningOf({ changes, before, after, managed }: Deleting): string | null {
  const deletions = deletionsAmong(changes)
  if (deletions === 0) return null
  const last = lastMonitor(before, after)
  if (last !== null) return last
  if (deletions <= MAX_DELETIONS && deletions <= managed * MAX_SHARE) return null
  return `It deletes ${deletions} of the ${managed} objects that the file manages.`
}

function lastMonitor(before: readonly Existing[], after: readonly Existing[]): string | null {
  const left = after.filter(({ section }) => section === 'monitors')
  const leftIds = new Set(left.map(({ id }) => id))
  const deleted = before.filter(({ section, id }) => section === 'monitors' && !leftIds.has(id))
  if (deleted.length === 0) return null
  if (left.length === 0) return 'It deletes the last monitor.'
  const watched = new Set(left.map(({ fields }) => fields['service']))
  const lost = new Set(deleted.map(({ fields }) => fields['service']).filter((id) => !watched.has(id)))
  const service = after.find(({ section, id }) => section === 'services' && lost.has(id))
  return service === undefined ? null : `It deletes the last monitor of ${service.name}.`
}
