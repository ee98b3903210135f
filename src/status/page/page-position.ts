import { isFor } from '../../event-log/audience.ts'
import type { NewestEventJson } from '../../event-log/newest-events.ts'
import type { PagePart } from '../../event-log/page-effect.ts'
import { changesPages } from '../../event-log/page-effect.ts'

/** The newest positions in an organization's log at which the content of its page may have changed. */
export interface PagePosition {
  /** Of any part of the page. */
  readonly page: number
  /** Of the days of its services, which incidents do not change. */
  readonly days: number
}

/** Returns the position of a page from the newest event of each kind. */
export function pagePosition(newest: readonly NewestEventJson[]): PagePosition {
  const last = (part: PagePart) =>
    newest.reduce((position, [kind, seq]) => (changesPages(part, kind) ? Math.max(position, seq) : position), 0)
  return { page: last('content'), days: last('days') }
}

/** Returns the time of the newest public event, or null. */
export function publicChangeTime(newest: readonly NewestEventJson[]): Date | null {
  const found = newest.filter(([kind]) => isFor('page', kind)).toSorted((one, other) => other[1] - one[1])
  return found[0] === undefined ? null : new Date(found[0][2])
}
