import type { RecordResult } from './records.ts'
import type { Note } from './translation.ts'

/** What becomes of one thing of a source, as a table says it. */
export interface Row {
  readonly outcome: 'CREATED' | 'CHANGED' | 'RELEASED' | 'DRIFTED' | 'SKIPPED' | 'PARTLY'
  readonly section: string
  readonly name: string
  readonly reason: string
}

/** What the table needs of a plan, from whichever door. */
interface PlanSummary {
  readonly changes: readonly {
    readonly action: 'CREATE' | 'UPDATE' | 'DELETE' | 'RELEASE'
    readonly section: string
    readonly name: string
    readonly members: readonly { readonly name: string }[]
  }[]
  readonly drift: readonly { readonly section: string; readonly key: string; readonly by: string | null }[]
}

const outcomes = { CREATE: 'CREATED', UPDATE: 'CHANGED', DELETE: 'RELEASED', RELEASE: 'RELEASED' } as const

/** A record that is created, changed or skipped. */
const isShown = (record: RecordResult): record is RecordResult & Pick<Row, 'outcome'> => record.outcome !== 'UNCHANGED'

/** Returns the number of records that are created or changed. */
export const changesAmong = (records: readonly RecordResult[]) =>
  records.filter(({ outcome }) => outcome === 'CREATED' || outcome === 'CHANGED').length

/** Returns the table of an import: changes first, then what is left out. */
export function rowsOf(
  { changes, drift }: PlanSummary,
  { records, notes }: { readonly records: readonly RecordResult[]; readonly notes: readonly Note[] },
): Row[] {
  const shown = records.filter(isShown)
  const left = ({ outcome }: Row) => outcome === 'SKIPPED'
  return [
    ...changes.map(({ action, section, name, members }) => ({
      outcome: outcomes[action],
      section,
      name,
      reason: reasonOf(action, members),
    })),
    ...drift.map(({ section, key, by }) => ({
      outcome: 'DRIFTED' as const,
      section,
      name: key,
      reason: `It was edited here${by === null ? '' : ` by ${by}`} since the last import, which sets it back.`,
    })),
    ...shown.filter((record) => !left(record)),
    ...shown.filter(left),
    ...notes,
  ]
}

function reasonOf(action: keyof typeof outcomes, members: readonly { readonly name: string }[]): string {
  if (action === 'UPDATE') return members.map(({ name }) => name).join(', ')
  return action === 'RELEASE' ? 'The source no longer has it. It stays.' : ''
}
