import type { ShownStatus } from './service-status.ts'
import { impairedStatuses, worstStatus } from './service-status.ts'

/** A service or a monitor, or several alike, of which something is to be said. */
export interface Subject {
  readonly shown: ShownStatus
  /** Since when it has been silent or paused; null: it is known, or its first result is pending. */
  readonly unknownSince: Date | null
  /** How many are alike; absent: 1. */
  readonly count?: number
}

/**
 * What may be said of all subjects together. NOTHING: there are none. OPERATIONAL: each is known to work. MAINTENANCE: the
 * only deviation is planned. WAITING: no problem is known, and some have no first result yet. NO_DATA: no problem is
 * known, and some are silent. PROBLEM: at least one is impaired.
 */
type KnowledgeKind = 'NOTHING' | 'OPERATIONAL' | 'MAINTENANCE' | 'WAITING' | 'NO_DATA' | 'PROBLEM'

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
    waiting: countOf((subject) => subject.shown === 'UNKNOWN' && subject.unknownSince === null),
    silent: countOf((subject) => subject.shown === 'UNKNOWN' && subject.unknownSince !== null),
  }
  return { kind: kindOf(shown, counts), shown, ...counts }
}

function kindOf(shown: ShownStatus, { all, silent }: Pick<Knowledge, 'all' | 'silent'>): KnowledgeKind {
  if (isImpaired(shown)) return 'PROBLEM'
  if (shown === 'UNKNOWN') return silent > 0 ? 'NO_DATA' : 'WAITING'
  if (shown === 'UNDER_MAINTENANCE') return 'MAINTENANCE'
  return all === 0 ? 'NOTHING' : 'OPERATIONAL'
}

const isImpaired = (shown: ShownStatus) => impairedStatuses.some((impaired) => impaired === shown)
