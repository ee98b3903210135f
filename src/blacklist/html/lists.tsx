import type { BlacklistResult } from '../report.ts'
import type { RowState } from './outcome.tsx'
import { StateMark, stateOf } from './outcome.tsx'
import { printable } from './printable.ts'

interface RowsProps {
  /** The address or name the lists are asked about. */
  readonly target: string
  /** Whether every row says what its list is for; else only those that need it. */
  readonly explained: boolean
}

/** The lists' answers on one target: listed first, then those without an answer, then the rest. */
export function AnswerRows({ results, ...props }: RowsProps & { readonly results: readonly BlacklistResult[] }) {
  const rank: readonly RowState[] = ['listed', 'policy', 'failed', 'unsupported', 'clean']
  const sorted = results.toSorted((a, b) => rank.indexOf(stateOf(a)) - rank.indexOf(stateOf(b)))
  return (
    <ul class={classOf(props)}>
      {sorted.map((result) => (
        <AnswerRow {...props} result={result} />
      ))}
    </ul>
  )
}

/** The rows of one target before any list has answered. */
export function PendingRows({
  lists,
  target,
  explained,
}: RowsProps & { readonly lists: readonly { readonly name: string; readonly description: string }[] }) {
  return (
    <ul class={classOf({ explained })}>
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

function classOf({ explained }: Pick<RowsProps, 'explained'>): string {
  return explained ? 'lists explained' : 'lists'
}

/** What one list said: its reason, what that means, and where to contest it. */
export function AnswerRow({ target, explained, result }: RowsProps & { readonly result: BlacklistResult }) {
  const state = stateOf(result)
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
          <OwnPage state={state} result={result} />
        </p>
      ) : null}
    </li>
  )
}

/** The link to the list's own page on the target, where there is something to do there. */
function OwnPage({ state, result }: { readonly state: RowState; readonly result: BlacklistResult }) {
  if (state === 'failed') {
    return (
      <a href={result.delistUrl} rel="noopener noreferrer">
        Ask {result.name} itself
      </a>
    )
  }
  if (!result.listed) return null
  return (
    <a href={result.delistUrl} rel="noopener noreferrer">
      {state === 'policy' ? 'See or remove this entry' : 'Contest this listing'}
      <span class="hidden"> on {result.name}</span>
    </a>
  )
}
