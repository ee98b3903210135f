import type { Subscriber } from '../../generated/prisma/client.ts'
import type { StopReason } from '../../generated/prisma/enums.ts'
import type { ChoiceProps } from './choices.tsx'
import { ChoiceFields } from './choices.tsx'

export interface ManageProps {
  readonly subscriber: Pick<Subscriber, 'label' | 'confirmedAt' | 'stoppedAt' | 'stopReason'>
  readonly name: string
  /** The path of this page. */
  readonly path: string
  readonly confirmable: boolean
  readonly choices: ChoiceProps
  /** What webhooks are signed with; null for other channels. */
  readonly secret: string | null
  /** What has just been done; null: nothing. */
  readonly done: string | null
  /** What could not be done, and why; null: nothing. */
  readonly problem: string | null
}

/** What a subscriber sees of the subscription: how to confirm it, what it is told of, how to end it. */
export function Manage(props: ManageProps) {
  const { subscriber, done, problem } = props
  return (
    <>
      <p class="lead">
        For <strong>{subscriber.label}</strong>
      </p>
      {done === null ? null : (
        <p class="done" role="status">
          {done}
        </p>
      )}
      {problem === null ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <State {...props} />
    </>
  )
}

function State(props: ManageProps) {
  const { subscriber, name, path, confirmable, choices, secret } = props
  const { confirmedAt, stoppedAt, stopReason } = subscriber
  // Not by the link alone: programs that look at mail follow links, and would confirm what nobody wanted.
  if (confirmable) return <Confirm name={name} path={path} />
  if (stoppedAt !== null) return <p>{endings[stopReason ?? 'UNSUBSCRIBED']} To be told again, subscribe anew.</p>
  if (confirmedAt === null)
    return <p>This link was not used in time, and does nothing any more. You can subscribe anew.</p>
  return (
    <>
      <form class="subscribe" action={path} method="post">
        <ChoiceFields {...choices} />
        <p class="actions">
          <button type="submit">Save</button>
        </p>
      </form>
      {secret === null ? null : <Secret secret={secret} path={path} />}
      <section>
        <h2>End it</h2>
        <form action={`${path}/unsubscribe`} method="post">
          <p class="actions">
            <button type="submit" class="quiet">
              Unsubscribe
            </button>
          </p>
        </form>
      </section>
    </>
  )
}

function Confirm({ name, path }: Pick<ManageProps, 'name' | 'path'>) {
  return (
    <form action={`${path}/confirm`} method="post">
      <p>Somebody, hopefully you, asked that updates on the status of {name} be sent there.</p>
      <p class="actions">
        <button type="submit">Yes, send them</button>
      </p>
      <p class="about">If it was not you, do nothing: nothing more is sent.</p>
    </form>
  )
}

function Secret({ secret, path }: { readonly secret: string; readonly path: string }) {
  return (
    <section>
      <h2>Signing secret</h2>
      <p>
        Each message is signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a> says, with:
      </p>
      <p>
        <code>{secret}</code>
      </p>
      <form action={`${path}/secret`} method="post">
        <p class="actions">
          <button type="submit" class="quiet">
            Make a new one
          </button>
        </p>
        <p class="about">For a day messages are then signed with the old one as well.</p>
      </form>
    </section>
  )
}

const endings = {
  UNSUBSCRIBED: 'You have unsubscribed: nothing more is sent.',
  GONE: 'Nothing more is sent: the address is not there any more.',
  BOUNCED: 'Nothing more is sent: the address has refused what was sent to it.',
  COMPLAINED: 'Nothing more is sent: what was sent was reported as unwanted.',
} as const satisfies Record<StopReason, string>
