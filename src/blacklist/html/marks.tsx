import type { BlacklistResult } from '../check-report.ts'
import type { Verdict } from '../verdict.ts'

/** The state of a list's row. */
export type RowState = 'listed' | 'policy' | 'clean' | 'failed' | 'unsupported' | 'pending'

/** Returns the row state for a list's answer. */
export function rowStateOf(result: BlacklistResult): Exclude<RowState, 'pending'> {
  if (result.listed) return result.policy ? 'policy' : 'listed'
  if (result.error === 'unsupported') return 'unsupported'
  return result.error === null ? 'clean' : 'failed'
}

/** The labels of verdicts. */
export const verdictLabels = {
  listed: 'Listed',
  policy: 'Policy entry',
  clean: 'Clean',
  incomplete: 'Incomplete',
  pending: 'Checking',
} as const

const stateLabels = {
  listed: 'Listed',
  policy: 'Policy entry',
  clean: 'Not listed',
  failed: 'No answer',
  unsupported: 'No known IPv6 data',
  pending: 'Checking…',
} as const satisfies Record<RowState, string>

/** Renders a verdict as a label with an icon. The nearest `data-outcome` sets the colour. */
export function VerdictMark({ verdict }: { readonly verdict: Verdict | 'pending' }) {
  return (
    <span class="mark">
      <ShapeIcon of={verdict} />
      {verdictLabels[verdict]}
    </span>
  )
}

/** Renders a row's state as a label with an icon. The nearest `data-state` sets the colour. */
export function StateMark({ state }: { readonly state: RowState }) {
  return (
    <span class="mark">
      <ShapeIcon of={state} />
      {stateLabels[state]}
    </span>
  )
}

/** The paths of icons. Each state has its own shape, so that no state depends on its colour alone. */
const shapes = {
  // A filled octagon with an exclamation mark.
  listed: 'M5 0h6l5 5v6l-5 5H5l-5-5V5zM7 3.5v5.5h2V3.5zM7 10.5v2h2v-2z',
  // A page with lines.
  policy: 'M2 0h8l4 4v12H2zM5 6v1.6h6V6zM5 9v1.6h6V9zM5 12v1.6h4V12z',
  // A tick.
  clean: 'M1.6 8.6 3.2 7l3.2 3.2L12.9 3.6l1.6 1.6L6.4 13.4z',
  // A triangle with an exclamation mark.
  incomplete: 'M8 .8 16 15H0zM7.1 5.8v4.4h1.8V5.8zM7.1 11.4v1.8h1.8v-1.8z',
  failed: 'M8 .8 16 15H0zM7.1 5.8v4.4h1.8V5.8zM7.1 11.4v1.8h1.8v-1.8z',
  // A bar.
  unsupported: 'M2 7h12v2H2z',
  // A ring with a gap, which spins.
  pending: 'M8 1a7 7 0 1 0 7 7h-2a5 5 0 1 1-5-5z',
} as const

function ShapeIcon({ of }: { readonly of: keyof typeof shapes }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path fill-rule="evenodd" d={shapes[of]} />
    </svg>
  )
}
