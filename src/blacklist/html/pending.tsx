import type { BlacklistResult } from '../report.ts'
import type { Target } from '../target.ts'
import type { ListInfo } from './landing.tsx'
import { AnswerRow, PendingRows } from './lists.tsx'
import { Fact, Heading, Unchecked, Verdict } from './report.tsx'

/**
 * The page while the lists are asked, laid out like the report that takes its place. It is sent piece by piece into one
 * `#pending` element, which the caller closes; the style sheet hides that as soon as the report is whole.
 */
export function PendingHead({ target, lists }: { readonly target: Target; readonly lists: readonly ListInfo[] }) {
  const name = textOf(target)
  const facts = target.kind === 'ip' ? ['Location', 'Network'] : ['Addresses']
  return (
    <>
      <Heading target={name} />
      <Verdict outcome="pending" sentences={['Asking the lists.', 'Their answers take a few seconds at most.']} />
      <dl class="facts">
        {['Answers', 'Checked', ...facts].map((fact) => (
          <Fact name={fact}>…</Fact>
        ))}
      </dl>
      <section class="advice">
        <h2>What happens now</h2>
        <p>
          Each list is asked directly, over DNS, as a mail server would ask it. What it says appears below as it comes
          in, and the verdict stands here once all have answered or five seconds have passed.
        </p>
      </section>
      <p class="actions">
        <a href="/">Check something else</a>
      </p>
      <section>
        <h2>{target.kind === 'ip' ? 'What each list says' : `The name ${name}`}</h2>
        <PendingRows target={name} lists={lists} explained />
      </section>
    </>
  )
}

/** A target in the one spelling in which it is asked about and shown. */
export function textOf(target: Target): string {
  return target.kind === 'ip' ? target.address : target.name
}

/** One list's answer, inert until the live script moves it into its pending row's place. */
export function ArrivedRow(props: {
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

/** The addresses that a domain turned out to have, each with its lists still to answer. */
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
      <Unchecked addresses={addresses} checked={checked} />
    </>
  )
}
