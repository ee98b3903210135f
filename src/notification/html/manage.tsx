import type { Subscriber } from '../../generated/prisma/client.ts'
import type { Catalogue, Language } from '../../language/catalogue.ts'
import type { PreferenceProps } from './preferences.tsx'
import { LanguageField, PreferenceFields } from './preferences.tsx'

export interface ManageProps {
  readonly subscriber: Pick<Subscriber, 'label' | 'confirmedAt' | 'stoppedAt' | 'stopReason'>
  readonly name: string
  readonly path: string
  readonly confirmable: boolean
  readonly preferences: PreferenceProps
  /** The titles of the incidents that the subscriber follows until they are resolved. */
  readonly following: readonly string[]
  /** Whether the page has become private: the names of its services are hidden, and messages only announce updates. */
  readonly withheld: boolean
  readonly words: Catalogue
  /** The languages that the page offers, and that of the subscriber. */
  readonly offered: readonly Language[]
  readonly language: Language
  /** The signing secret of a webhook; null for other channels. */
  readonly secret: string | null
  /** A success message, or null. */
  readonly done: string | null
  /** An error message, or null. */
  readonly problem: string | null
}

/** Renders a subscription for its subscriber, with forms to confirm it, change it and unsubscribe. */
export function Manage(props: ManageProps) {
  const { subscriber, done, problem, words } = props
  return (
    <>
      <p class="lead">{words.subscription.forAddress(<strong dir="ltr">{subscriber.label}</strong>)}</p>
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
  const { subscriber, name, path, confirmable, preferences, following, secret, words, offered, language, withheld } =
    props
  const { subscription } = words
  const { confirmedAt, stoppedAt, stopReason } = subscriber
  // Opening the link must not confirm, because mail scanners open links.
  if (confirmable) return <Confirm name={name} path={path} words={words} />
  if (stoppedAt !== null)
    return (
      <p>
        {subscription.ended[stopReason ?? 'UNSUBSCRIBED']} {subscription.again}
      </p>
    )
  if (confirmedAt === null) return <p>{subscription.expired}</p>
  return (
    <>
      {withheld ? <p>{subscription.withheld}</p> : null}
      {following.length === 0 ? null : (
        <section>
          <h2>{words.subscribe.following}</h2>
          <ul>
            {following.map((title) => (
              <li dir="auto" lang={preferences.namesLang}>
                {title}
              </li>
            ))}
          </ul>
        </section>
      )}
      <form class="subscribe" action={path} method="post">
        <PreferenceFields {...preferences} {...(withheld && { services: [] })} words={words} />
        {withheld ? preferences.serviceIds.map((id) => <input type="hidden" name="serviceIds" value={id} />) : null}
        <LanguageField offered={offered} language={language} words={words} />
        <p class="actions">
          <button type="submit">{subscription.save}</button>
        </p>
      </form>
      {secret === null ? null : <Secret secret={secret} path={path} words={words} />}
      <section>
        <h2>{subscription.unsubscribe}</h2>
        <form action={`${path}/unsubscribe`} method="post">
          <p class="actions">
            <button type="submit" class="quiet">
              {subscription.unsubscribe}
            </button>
          </p>
        </form>
      </section>
    </>
  )
}

function Confirm({ name, path, words: { subscription: words } }: Pick<ManageProps, 'name' | 'path' | 'words'>) {
  return (
    <form action={`${path}/confirm`} method="post">
      <p>{words.confirmText(name)}</p>
      <p class="actions">
        <button type="submit">{words.confirm}</button>
      </p>
      <p class="about">{words.notYou}</p>
    </form>
  )
}

function Secret({ secret, path, words }: Pick<ManageProps, 'path' | 'words'> & { readonly secret: string }) {
  const { secret: texts } = words.subscription
  return (
    <section>
      <h2>{texts.title}</h2>
      <p>{texts.text(<a href="https://www.standardwebhooks.com">Standard Webhooks</a>)}</p>
      <p>
        <code>{secret}</code>
      </p>
      <form action={`${path}/secret`} method="post">
        <p class="actions">
          <button type="submit" class="quiet">
            {texts.rotate}
          </button>
        </p>
        <p class="about">{texts.old}</p>
      </form>
    </section>
  )
}
