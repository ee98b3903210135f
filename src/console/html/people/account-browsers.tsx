import type { Child } from 'hono/jsx'
import { formatMinute } from '../../../core/time.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import type { OwnBrowser, PushTest } from '../../../notification/push/browser.ts'
import {
  addBrowser,
  applicationKey,
  browsersOf,
  removeBrowser,
  testBrowser,
} from '../../../notification/push/browser.ts'
import { requireUser } from '../../../people/session.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ButtonForm } from '../frame/button-form.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { browserName } from './browser-name.ts'

/** Shows the account, with the result of a test. */
type ShowAccount = (screen: Screen, state: FormState, test?: PushTest | null) => Promise<Response>

/** Adds the forms for notifications in the person's browsers: turn on, test, turn off. */
export function browserScreens({ action }: Screens, show: ShowAccount): void {
  action(
    'account/browsers',
    async ({ self }, { fields }) => {
      await addBrowser(self, Object.fromEntries(fields))
      return 'account#browsers'
    },
    show,
  )
  action(
    'account/browsers/test',
    async (screen, { fields }) =>
      show(screen, emptyForm, await testBrowser(screen.self, fields.get('id') ?? '', screen.path('now'))),
    show,
  )
  action(
    'account/browsers/stop',
    async ({ self }, { fields }) => {
      await removeBrowser(self, fields.get('id') ?? '')
      return 'account#browsers'
    },
    show,
  )
}

/** Renders the section of the account about notifications in browsers. */
export async function browserSection(screen: Screen, state: FormState, test: PushTest | null): Promise<Child> {
  const { self } = screen
  const [browsers, key] = await Promise.all([browsersOf(self), applicationKey(self)])
  const isHere = browsers.some(({ sessionId }) => sessionId === requireUser(self).sessionId)
  return (
    <section aria-labelledby="browsers">
      <h2 id="browsers">Notifications in browsers</h2>
      <p>
        Get notified when an incident is opened or resolved in any of your organizations, and of alerts from the{' '}
        <a href={screen.path('alerts')}>alert channels</a> that reach you. Signing out turns them off.
      </p>
      {test === null ? null : <TestResult {...test} />}
      <ul class="rows">
        {browsers.map((browser) => (
          <BrowserRow {...{ screen, browser }} />
        ))}
      </ul>
      {isHere ? null : <AddForm {...{ screen, state, key }} />}
    </section>
  )
}

function TestResult({ host, result }: PushTest) {
  const answer = result.kind === 'postponed' ? 'Busy; try again in a moment.' : result.message
  const isGone = result.kind === 'failed' && result.permanence === 'GONE'
  return (
    <p role="status" class={result.kind === 'delivered' ? 'lead' : 'problem'} id="push-test">
      {host}: {answer}
      {isGone ? ' The browser no longer accepts notifications and was removed.' : ''}
    </p>
  )
}

function BrowserRow({ screen, browser }: { readonly screen: Screen; readonly browser: OwnBrowser }) {
  const { id, sessionId, host, createdAt, session } = browser
  const name = browserName(session.userAgent)
  const about = `${name}, since ${formatMinute(createdAt)}`
  return (
    <li id={id}>
      <span title={session.userAgent}>{name}</span>
      <span class="row-facts">
        {sessionId === requireUser(screen.self).sessionId ? 'this browser, ' : ''}through {host}, since{' '}
        <Time at={createdAt} zone={screen.zone} />
      </span>
      <ButtonForm action={screen.path('account/browsers/test')} fields={{ id }} text="Send a test" about={about} />
      <ButtonForm action={screen.path('account/browsers/stop')} fields={{ id }} text="Stop" about={about} />
    </li>
  )
}

/** The script shows the form if the browser supports notifications, and fills it in. */
function AddForm({ screen, state, key }: { readonly screen: Screen; readonly state: FormState; readonly key: string }) {
  const isRefused = state.fields.has('endpoint')
  return (
    <>
      <form method="post" action={screen.path('account/browsers')} id="add-browser" data-push={key} hidden={!isRefused}>
        {isRefused ? <FormProblem state={state} /> : null}
        <input type="hidden" name="endpoint" />
        <input type="hidden" name="p256dh" />
        <input type="hidden" name="auth" />
        <p class="actions">
          <button type="submit" class="quiet">
            Send notifications to this browser
          </button>
        </p>
        <p class="problem" role="alert" id="push-problem" hidden />
      </form>
      <noscript>
        <p>Turning them on needs JavaScript.</p>
      </noscript>
    </>
  )
}
