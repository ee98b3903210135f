import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, InputField, UsernameField } from '../../http/page/form.tsx'
import { HeldField } from './held-form.tsx'
import type { Continuation } from './pages.tsx'
import { PasswordField } from './password-fields.tsx'

/** The ways to sign in, besides passwords, that this service offers. */
export interface SignInWays {
  /** The name of the OpenID provider; null: none is set up. */
  readonly openId: string | null
  /** Whether sign-in links can be sent by email. */
  readonly mail: boolean
  /** Whether anyone may sign up. */
  readonly signUp: boolean
}

/** Renders the sign-in page. */
export function SignInForm({
  state,
  next: { to, held },
  ways,
}: {
  readonly state: FormState
  readonly next: Continuation
  readonly ways: SignInWays
}) {
  return (
    <>
      {held === null ? null : <p class="lead">Your session has ended. We kept what you typed: sign in to send it.</p>}
      <form method="post" action="/sign-in" class="stack">
        <FormProblem state={state} />
        <input type="hidden" name="to" value={to} />
        <HeldField held={held} />
        <InputField label="Email" name="email" type="email" state={state} required autocomplete="username webauthn" />
        <PasswordField state={state} />
        <p class="actions">
          <button type="submit">Sign in</button>
        </p>
      </form>
      <SignInLinks ways={ways} to={to} />
    </>
  )
}

/** @param isKnown whether the person is signed in and signs in again to confirm their identity. */
function SignInLinks({
  ways,
  to,
  isKnown = false,
}: {
  readonly ways: SignInWays
  readonly to: string
  readonly isKnown?: boolean
}) {
  const query = `?to=${encodeURIComponent(to)}`
  return (
    <ul class="ways">
      {isKnown ? null : (
        <li class="passkey" hidden>
          <button type="button" class="quiet" data-passkey="sign-in" data-to={to}>
            Use a passkey
          </button>
        </li>
      )}
      {ways.openId === null ? null : (
        <li>
          <a href={`/sign-in/openid${query}`}>Sign in with {ways.openId}</a>
        </li>
      )}
      {ways.mail ? (
        <li>
          <a href={`/sign-in/link${query}`}>Get a link by email</a>
        </li>
      ) : null}
      {ways.mail ? (
        <li>
          <a href="/sign-in/reset">Forgot your password?</a>
        </li>
      ) : null}
      {ways.signUp ? (
        <li>
          <a href="/sign-up">Create an account</a>
        </li>
      ) : null}
    </ul>
  )
}

/** Renders the page on which a signed-in person confirms their identity. */
export function ConfirmForm({
  state,
  next: { to, held },
  email,
  ways,
}: {
  readonly state: FormState
  readonly next: Continuation
  readonly email: string
  readonly ways: SignInWays
}) {
  return (
    <>
      <form method="post" action="/confirm" class="stack">
        <p class="lead">Enter your password again to continue.</p>
        <FormProblem state={state} />
        <input type="hidden" name="to" value={to} />
        <UsernameField email={email} />
        <HeldField held={held} />
        <PasswordField state={state} autofocus />
        <p class="actions">
          <button type="submit">Confirm</button>
          <span class="passkey" hidden>
            <button type="button" class="quiet" data-passkey="confirm" data-to={to}>
              Use a passkey
            </button>
          </span>
        </p>
      </form>
      <SignInLinks ways={{ ...ways, signUp: false }} to={to} isKnown />
    </>
  )
}
