import type { RecordResult } from './records.ts'
import type { Note, RecordSection } from './translation.ts'

/** A row of the table of an import. */
export interface Row {
  readonly outcome: 'CREATED' | 'CHANGED' | 'RELEASED' | 'DRIFTED' | 'SKIPPED' | 'PARTLY'
  readonly section: string
  readonly name: string
  readonly reason: string
}

const outcomes = { CREATE: 'CREATED', UPDATE: 'CHANGED', DELETE: 'RELEASED', RELEASE: 'RELEASED' } as const

/** The part of a plan that the table needs, from the domain or from GraphQL. */
interface PlanSummary {
  readonly changes: readonly {
    readonly action: 'CREATE' | 'UPDATE' | 'DELETE' | 'RELEASE'
    readonly section: string
    readonly name: string
    readonly members: readonly { readonly name: string }[]
  }[]
  /** The counts of all changes, if not all are listed. */
  readonly counts?: readonly {
    readonly action: keyof typeof outcomes
    readonly section: string
    readonly count: number
  }[]
  readonly drift: readonly { readonly section: string; readonly key: string; readonly by: string | null }[]
}

/** A created, changed or skipped record. */
type ShownRecord = RecordResult & Pick<Row, 'outcome'>

const isShown = (record: RecordResult): record is ShownRecord => record.outcome !== 'UNCHANGED'

/** Counts the created and changed records. */
export const changesAmong = (records: readonly RecordResult[]) =>
  records.filter(({ outcome }) => outcome === 'CREATED' || outcome === 'CHANGED').length

/** Returns the table of an import: changes first, then skipped objects and records. */
export function rowsOf(
  { changes, counts = [], drift }: PlanSummary,
  { records, notes }: { readonly records: readonly RecordResult[]; readonly notes: readonly Note[] },
): Row[] {
  const shown = summed(records.filter(isShown))
  const isLeft = ({ outcome }: Row) => outcome === 'SKIPPED'
  return [
    ...changes.map(({ action, section, name, members }) => ({
      outcome: outcomes[action],
      section,
      name,
      reason: reasonOf(action, members),
    })),
    ...counts.flatMap(({ action, section, count }) => {
      const left = count - changes.filter((each) => each.section === section && each.action === action).length
      return left > 0 ? [{ outcome: outcomes[action], section, name: `${left} more`, reason: '' }] : []
    }),
    ...drift.map(({ section, key, by }) => ({
      outcome: 'DRIFTED' as const,
      section,
      name: key,
      reason: `It was edited here${by === null ? '' : ` by ${by}`} after the last import. This import reverts the edit.`,
    })),
    ...shown.filter((row) => !isLeft(row)),
    ...shown.filter(isLeft),
    ...notes,
  ]
}

/** The maximum number of records of each kind with individual rows. */
const MAX_SINGLE: Readonly<Record<RecordSection, number>> = {
  history: Number.POSITIVE_INFINITY,
  incidents: 20,
  maintenance: 20,
  subscribers: 0,
}

/** Returns individual rows up to the limit, and summary rows for further records with the same outcome. Subscribers are only summarized. */
function summed(records: readonly ShownRecord[]): Row[] {
  const groups = new Map<string, ShownRecord[]>()
  for (const record of records) {
    const { section, outcome, reason } = record
    // Group skipped records by reason.
    const key = [section, outcome, outcome === 'SKIPPED' ? reason : ''].join(' ')
    const group = groups.get(key)
    if (group) group.push(record)
    else groups.set(key, [record])
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const single = MAX_SINGLE[first.section]
    const rest = group.slice(single)
    const alone = group
      .slice(0, single)
      .map(({ outcome, section, name, reason }) => ({ outcome, section, name, reason }))
    if (rest.length === 0) return alone
    const { outcome, section } = first
    return [
      ...alone,
      { outcome, section, name: `${rest.length}${single === 0 ? '' : ' more'}`, reason: reasonOfMany(rest) },
    ]
  })
}

/** Returns the reason of skipped records, or the period of others. */
function reasonOfMany(records: readonly ShownRecord[]): string {
  const [first] = records
  if (first?.outcome === 'SKIPPED') return first.reason
  const days = records.map(({ reason }) => reason).filter((reason) => /^\d{4}-\d\d-\d\d$/.test(reason))
  return days.length === 0 ? '' : `${days.toSorted()[0]} to ${days.toSorted().at(-1)}`
}

function reasonOf(action: keyof typeof outcomes, members: readonly { readonly name: string }[]): string {
  if (action === 'UPDATE') return members.map(({ name }) => name).join(', ')
  return action === 'RELEASE' ? 'The source no longer has it, but it stays here.' : ''
}
