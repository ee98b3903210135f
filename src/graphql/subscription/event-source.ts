import type { Follower } from '../../event-log/tail.ts'

/** Whether the source of a subscription follows an event log. */
export function isFollower(source: object): source is Follower {
  return Symbol.asyncIterator in source && 'poll' in source && 'position' in source
}

/** Whether a source has ended because its caller has lost access. */
export function isCut(source: object): boolean {
  return 'isCut' in source && source.isCut === true
}
