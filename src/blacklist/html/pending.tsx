import type { BlacklistResult } from '../check-report.ts'
import type { Target } from '../target.ts'
import { AnswerRow, PendingRows } from './answer-rows.tsx'
import type { ListInfo } from './landing.tsx'
import { Fact, Heading, UncheckedAddresses, VerdictSection } from './report.tsx'

/**
 * Renders the start of a pending report, in the layout of the finished report. The caller opens and closes the
 * `#pending` element around it; the style sheet hides the element once the report is complete.
 */
export function PendingReport({ target, lists }: { readonly target: Target; readonly lists: readonly ListInfo[] }) {
  const name = targetText(target)
  const facts = target.kind === 'ip' ? ['Location', 'Network'] : ['Addresses']
  return (
    <>
      <Heading target={name} />
      <VerdictSection verdict="pending" sentences={['Checking the lists.', 'This takes a few seconds.']} />
      <dl class="facts">
        {['Answers', 'Checked', ...facts].map((fact) => (
          <Fact name={fact}>…</Fact>
        ))}
      </dl>
      <section class="advice">
        <h2>In progress</h2>
        <p>
          Allclear queries each list directly over DNS, as a mail server does. Answers appear below as they arrive. The
          verdict appears here when all lists have answered, or after five seconds.
        </p>
      </section>
      <p class="actions">
        <a href="/">Check another target</a>
      </p>
      <section>
        <h2>{target.kind === 'ip' ? 'Answers by list' : `The name ${name}`}</h2>
        <PendingRows target={name} lists={lists} explained />
      </section>
    </>
  )
}

/** Returns the canonical text of a target. */
export function targetText(target: Target): string {
  return target.kind === 'ip' ? target.address : target.name
}

/** Renders one list's answer as an inert template, which the page's script moves to its pending row. */
export function AnswerTemplate(props: {
  readonly target: string
  readonly explained: boolean
  readonly result: BlacklistResult
}) {
  return (
    <template data-for={props.target} data-list={props.result.name}>
      <AnswerRow {...props} />
    </template>
  )
}

/** Renders the resolved addresses of a domain with pending rows. */
export function PendingAddresses({
  addresses,
  checked,
  lists,
}: {
  readonly addresses: readonly string[]
  readonly checked: readonly string[]
  readonly lists: readonly ListInfo[]
}) {
  return (
    <>
      {checked.map((address) => (
        <section>
          <div class="address" data-outcome="pending">
            <h2>{address}</h2>
          </div>
          <PendingRows target={address} lists={lists} explained={false} />
        </section>
      ))}
      <UncheckedAddresses addresses={addresses} checked={checked} />
    </>
  )
}
