import type { ShownStatus, StatusBasis } from './service-status.ts'
import { impairedStatuses, worstStatus } from './service-status.ts'

/** A service or a monitor, or several alike, of which something is to be said. */
export interface Subject {
  readonly shown: ShownStatus
  readonly basis: StatusBasis
  /** How many are alike; absent: 1. */
  readonly count?: number
}

/**
 * What may be said of all subjects together. NOTHING: there are none. OPERATIONAL: each is known to work. MAINTENANCE: the
 * only deviation is planned. UNSTATED: no problem is known, and some have no monitors and no stated status. WAITING: no
 * problem is known, and some have no first result yet. NO_DATA: no problem is known, and some are silent. PROBLEM: at
 * least one is impaired.
 */
export type KnowledgeKind = 'NOTHING' | 'OPERATIONAL' | 'MAINTENANCE' | 'UNSTATED' | 'WAITING' | 'NO_DATA' | 'PROBLEM'

/** What is known of all subjects, with the numbers that a sentence needs. */
export interface Knowledge {
  readonly kind: KnowledgeKind
  /** The worst status. */
  readonly shown: ShownStatus
  readonly all: number
  readonly impaired: number
  /** Those without a first result. */
  readonly waiting: number
  /** Those without data since a time. */
  readonly silent: number
  /** Those without monitors whose status nobody has stated. */
  readonly unstated: number
}

/**
 * Returns what is known. The pages, badges, previews, GraphQL, the command line and the console ask this function before
 * they say that all is well.
 * @param causes further statuses that count, such as those of open incidents without a service.
 */
export function whatIsKnown(subjects: readonly Subject[], causes: readonly ShownStatus[] = []): Knowledge {
  const countOf = (isMeant: (subject: Subject) => boolean) =>
    subjects.filter(isMeant).reduce((sum, { count = 1 }) => sum + count, 0)
  const shown = worstStatus<ShownStatus>([...subjects.map((subject) => subject.shown), ...causes])
  const counts = {
    all: countOf(() => true),
    impaired: countOf((subject) => isImpaired(subject.shown)),
    waiting: countOf(isUnknownBy('PENDING')),
    silent: countOf(isUnknownBy('SILENT')),
    unstated: countOf(isUnknownBy('UNSTATED')),
  }
  return { kind: kindOf(shown, counts), shown, ...counts }
}

type Counts = Pick<Knowledge, 'all' | 'silent' | 'waiting'>

function kindOf(shown: ShownStatus, { all, silent, waiting }: Counts): KnowledgeKind {
  if (isImpaired(shown)) return 'PROBLEM'
  if (shown === 'UNKNOWN') return silent > 0 ? 'NO_DATA' : waiting > 0 ? 'WAITING' : 'UNSTATED'
  if (shown === 'UNDER_MAINTENANCE') return 'MAINTENANCE'
  return all === 0 ? 'NOTHING' : 'OPERATIONAL'
}

/** Returns a test for subjects whose status is unknown for a reason. */
export const isUnknownBy =
  (reason: StatusBasis) =>
  ({ shown, basis }: Pick<Subject, 'shown' | 'basis'>) =>
    shown === 'UNKNOWN' && basis === reason

const isImpaired = (shown: ShownStatus) => impairedStatuses.some((impaired) => impaired === shown)
