import type { Child } from 'hono/jsx'
import { encode } from 'uqr'
import { DomainError } from '../../../core/errors.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField } from '../../../http/page/form.tsx'
import type { PendingAuthenticator } from '../../../people/credential/second-factor.ts'
import {
  confirmAuthenticator,
  pendingAuthenticator,
  removeAuthenticator,
  replaceRecoveryCodes,
  secondFactorOf,
  startAuthenticator,
} from '../../../people/credential/second-factor.ts'
import type { Screen, Screens } from '../frame/screen.tsx'

const PATH = 'account/second-factor'

/** Adds the screen of the second factor: an authenticator app and recovery codes. */
export function secondFactorScreens({ form, action }: Screens): void {
  form(PATH, showSecondFactor, async (screen, { fields }) =>
    showCodes(screen, await confirmAuthenticator(screen.self, fields.get('code') ?? '')),
  )
  action(
    `${PATH}/start`,
    async ({ self }) => {
      await startAuthenticator(self)
      return PATH
    },
    showSecondFactor,
  )
  action(
    `${PATH}/codes`,
    async (screen) => showCodes(screen, await replaceRecoveryCodes(screen.self)),
    showSecondFactor,
  )
  form(`${PATH}/remove`, showRemoval, async ({ self }) => {
    await removeAuthenticator(self)
    return 'account'
  })
}

const title = 'Two-factor authentication'

async function showSecondFactor(screen: Screen, state: FormState): Promise<Response> {
  const { isEnabled, recoveryCodes } = await secondFactorOf(screen.self)
  const pending = isEnabled ? null : await pendingIfConfirmed(screen)
  const content = isEnabled ? (
    <Manage screen={screen} state={state} recoveryCodes={recoveryCodes} />
  ) : pending === null ? (
    <Start screen={screen} state={state} />
  ) : (
    <SetUp screen={screen} state={state} pending={pending} />
  )
  return screen.show({ title, section: 'account', content }, state)
}

/** The secret is only shown while the confirmation of identity is valid; later, the setup restarts. */
async function pendingIfConfirmed({ self }: Screen): Promise<PendingAuthenticator | null> {
  try {
    return await pendingAuthenticator(self)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'CONFIRMATION_REQUIRED') return null
    throw error
  }
}

function Start({ screen, state }: { readonly screen: Screen; readonly state: FormState }) {
  return (
    <form method="post" action={screen.path(`${PATH}/start`)} class="stack">
      <p>You need an authenticator app on your phone, such as Aegis, 2FAS or your password manager.</p>
      <FormProblem state={state} />
      <p class="actions">
        <button type="submit">Set up</button> <a href={screen.path('account')}>Cancel</a>
      </p>
    </form>
  )
}

function SetUp({
  screen,
  state,
  pending: { secret, url },
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly pending: PendingAuthenticator
}) {
  return (
    <form method="post" action={screen.path(PATH)} class="stack">
      <p>Scan this with your app, or open it on this device.</p>
      <QrCode text={url} />
      <p>
        <a href={url}>Open the app</a>, or type the key:{' '}
        <code class="secret">{secret.replace(/.{4}(?=.)/g, '$& ')}</code>
      </p>
      <FormProblem state={state} fields={['code']} />
      <InputField
        label="Code that the app shows"
        name="code"
        state={{ ...state, fields: new URLSearchParams() }}
        required
        inputmode="numeric"
        autocomplete="one-time-code"
        maxlength={10}
      />
      <p class="actions">
        <button type="submit">Turn on</button> <a href={screen.path('account')}>Cancel</a>
      </p>
    </form>
  )
}

function Manage({
  screen,
  state,
  recoveryCodes,
}: {
  readonly screen: Screen
  readonly state: FormState
  readonly recoveryCodes: number
}) {
  return (
    <>
      <FormProblem state={state} />
      <p>Signing in needs a code from your app. Recovery codes left: {recoveryCodes}.</p>
      <form method="post" action={screen.path(`${PATH}/codes`)}>
        <p class="actions">
          <button type="submit" class="quiet">
            Replace recovery codes
          </button>{' '}
          <a href={screen.path(`${PATH}/remove`)}>Turn off</a>
        </p>
      </form>
    </>
  )
}

function showCodes(screen: Screen, codes: readonly string[]): Response {
  const content = (
    <>
      <p>
        Keep these recovery codes somewhere safe: each signs you in once without your app. They are not shown again.
      </p>
      <ul class="secret" data-once>
        {codes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <p class="actions">
        <a class="button" href={screen.path('account')}>
          Done
        </a>
      </p>
    </>
  )
  return screen.show({ title: 'Your recovery codes', section: 'account', content }, emptyForm)
}

function showRemoval(screen: Screen, state: FormState): Response {
  const content = (
    <form method="post" class="stack">
      <FormProblem state={state} />
      <p>Your password alone then signs you in, and your recovery codes stop working.</p>
      <p class="actions">
        <button type="submit" class="danger">
          Turn off
        </button>{' '}
        <a href={screen.path(PATH)}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Turn off two-factor authentication?', section: 'account', content }, state)
}

/** Renders a QR code as an image of one path: a square for each dark module. */
function QrCode({ text }: { readonly text: string }): Child {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code" shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
