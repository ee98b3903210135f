import type { BlacklistResult } from '../check-report.ts'
import type { RowState } from './marks.tsx'
import { rowStateOf, StateMark } from './marks.tsx'
import { printable } from './printable.ts'

interface RowsProps {
  /** The address or name to look up. */
  readonly target: string
  /** Whether all rows show the purpose of their list; false: rows without a listing or a problem do not. */
  readonly explained: boolean
}

/** Renders the answers about one target: listings first, then missing answers, then the rest. */
export function AnswerRows({ results, ...props }: RowsProps & { readonly results: readonly BlacklistResult[] }) {
  const rank: readonly RowState[] = ['listed', 'policy', 'failed', 'unsupported', 'clean']
  const sorted = results.toSorted((a, b) => rank.indexOf(rowStateOf(a)) - rank.indexOf(rowStateOf(b)))
  return (
    <ul class={listClass(props)}>
      {sorted.map((result) => (
        <AnswerRow {...props} result={result} />
      ))}
    </ul>
  )
}

/** Renders the pending rows of one target. */
export function PendingRows({
  lists,
  target,
  explained,
}: RowsProps & { readonly lists: readonly { readonly name: string; readonly description: string }[] }) {
  return (
    <ul class={listClass({ explained })}>
      {lists.map(({ name, description }) => (
        <li data-state="pending" data-for={target} data-list={name}>
          <h3>{name}</h3>
          <StateMark state="pending" />
          {explained ? <p class="about">{description}</p> : null}
        </li>
      ))}
    </ul>
  )
}

function listClass({ explained }: Pick<RowsProps, 'explained'>): string {
  return explained ? 'lists explained' : 'lists'
}

/** Renders one list's answer, with its reason, its meaning, and a link for contesting it. */
export function AnswerRow({ target, explained, result }: RowsProps & { readonly result: BlacklistResult }) {
  const state = rowStateOf(result)
  return (
    <li data-state={state} data-for={target} data-list={result.name}>
      <h3>{result.name}</h3>
      <StateMark state={state} />
      {result.response === null ? null : (
        <blockquote>
          <p dir="auto">{printable(result.response)}</p>
        </blockquote>
      )}
      {result.note === null ? null : (
        <p class="note" dir="auto">
          {printable(result.note)}
        </p>
      )}
      {explained || state !== 'clean' ? <p class="about">{result.description}</p> : null}
      {result.codes.length > 0 || result.listed || state === 'failed' ? (
        <p class="detail">
          {result.codes.length > 0 ? (
            <span>
              Answer <code>{printable(result.codes.join(', '))}</code>
            </span>
          ) : null}
          <ListLink state={state} result={result} />
        </p>
      ) : null}
    </li>
  )
}

/** Renders a link to the list's page about the target, for a listing or a missing answer. */
function ListLink({ state, result }: { readonly state: RowState; readonly result: BlacklistResult }) {
  if (state === 'failed') {
    return (
      <a href={result.delistUrl} rel="noopener noreferrer">
        Look up on {result.name}
      </a>
    )
  }
  if (!result.listed) return null
  return (
    <a href={result.delistUrl} rel="noopener noreferrer">
      {state === 'policy' ? 'View or remove this entry' : 'Contest this listing'}
      <span class="hidden"> on {result.name}</span>
    </a>
  )
}
