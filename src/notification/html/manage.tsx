import type { Subscriber } from '../../generated/prisma/client.ts'
import type { StopReason } from '../../generated/prisma/enums.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import type { PreferenceProps } from './preferences.tsx'
import { PreferenceFields } from './preferences.tsx'

export interface ManageProps {
  readonly subscriber: Pick<Subscriber, 'label' | 'confirmedAt' | 'stoppedAt' | 'stopReason'>
  readonly name: string
  /** The path of this page. */
  readonly path: string
  readonly confirmable: boolean
  readonly preferences: PreferenceProps
  /** The titles of the incidents that are followed until they are resolved. */
  readonly following: readonly string[]
  readonly words: Catalogue
  /** The signing secret of a webhook; null for other channels. */
  readonly secret: string | null
  /** A success message; null: none. */
  readonly done: string | null
  /** An error message; null: none. */
  readonly problem: string | null
}

/** Renders a subscription for its subscriber: confirm it, change it, unsubscribe. */
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
  const { subscriber, name, path, confirmable, preferences, following, secret, words } = props
  const { confirmedAt, stoppedAt, stopReason } = subscriber
  // Following the link must not confirm: mail scanners follow links.
  if (confirmable) return <Confirm name={name} path={path} />
  if (stoppedAt !== null) return <p>{endings[stopReason ?? 'UNSUBSCRIBED']} Subscribe again to get updates.</p>
  if (confirmedAt === null) return <p>This link has expired. Subscribe again to get a new one.</p>
  return (
    <>
      {following.length === 0 ? null : (
        <section>
          <h2>{words.subscribe.following}</h2>
          <ul>
            {following.map((title) => (
              <li>{title}</li>
            ))}
          </ul>
        </section>
      )}
      <form class="subscribe" action={path} method="post">
        <PreferenceFields {...preferences} />
        <p class="actions">
          <button type="submit">Save</button>
        </p>
      </form>
      {secret === null ? null : <Secret secret={secret} path={path} />}
      <section>
        <h2>Unsubscribe</h2>
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
      <p>Confirm to get updates on the status of {name}.</p>
      <p class="actions">
        <button type="submit">Confirm subscription</button>
      </p>
      <p class="about">Didn’t ask for this? Ignore this page and we won’t send anything else.</p>
    </form>
  )
}

function Secret({ secret, path }: { readonly secret: string; readonly path: string }) {
  return (
    <section>
      <h2>Signing secret</h2>
      <p>
        We sign each message according to <a href="https://www.standardwebhooks.com">Standard Webhooks</a> with:
      </p>
      <p>
        <code>{secret}</code>
      </p>
      <form action={`${path}/secret`} method="post">
        <p class="actions">
          <button type="submit" class="quiet">
            Rotate secret
          </button>
        </p>
        <p class="about">We also sign with the old secret for 24 hours.</p>
      </form>
    </section>
  )
}

const endings = {
  UNSUBSCRIBED: 'You have unsubscribed.',
  GONE: 'We stopped sending updates: the address no longer exists.',
  BOUNCED: 'We stopped sending updates: the address rejected our messages.',
  COMPLAINED: 'We stopped sending updates: a message was reported as spam.',
} as const satisfies Record<StopReason, string>
