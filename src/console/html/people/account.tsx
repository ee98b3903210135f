import { formatMinute } from '../../../core/time.ts'
import type { Identity, Passkey, Session } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, UsernameField } from '../../../http/page/form.tsx'
import type { PushTest } from '../../../notification/push/browser.ts'
import { changePassword, hasPassword, renameUser } from '../../../people/account.ts'
import { passkeysOf, removePasskey } from '../../../people/credential/passkey.ts'
import type { SecondFactor } from '../../../people/credential/second-factor.ts'
import { secondFactorOf } from '../../../people/credential/second-factor.ts'
import { beginOpenId } from '../../../people/html/openid.tsx'
import { NewPasswordField, PasswordField } from '../../../people/html/password-fields.tsx'
import { requireUser, revokeOtherSessions, revokeSession, sessionsOf } from '../../../people/session.ts'
import { identitiesOf, openIdName, removeIdentity } from '../../../people/sign-in/openid.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ButtonForm } from '../frame/button-form.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { browserScreens, browserSection } from './account-browsers.tsx'
import { browserName } from './browser-name.ts'
import { secondFactorScreens } from './second-factor.tsx'

/** Adds the screens on which people manage their accounts. */
export function accountScreens(screens: Screens): void {
  const { form, action } = screens
  form('account', showAccount, async ({ self }, { fields }) => {
    await renameUser(self, { name: fields.get('name') ?? '' })
    return 'account'
  })
  form('account/password', showPassword, async ({ self }, { fields }) => {
    await changePassword(self, Object.fromEntries(fields))
    return 'account'
  })
  action(
    'account/passkeys/remove',
    async ({ self }, { fields }) => {
      await removePasskey(self, fields.get('id') ?? '')
      return 'account'
    },
    showAccount,
  )
  action(
    'account/identities/remove',
    async ({ self }, { fields }) => {
      await removeIdentity(self, fields.get('issuer') ?? '', fields.get('subject') ?? '')
      return 'account'
    },
    showAccount,
  )
  action('account/identities/connect', connect, showAccount)
  action(
    'account/sessions/end',
    async ({ self }, { fields }) => {
      await revokeSession(self, fields.get('id') ?? '')
      return 'account'
    },
    showAccount,
  )
  action(
    'account/sessions/end-others',
    async ({ self }) => {
      await revokeOtherSessions(self)
      return 'account'
    },
    showAccount,
  )
  secondFactorScreens(screens)
  browserScreens(screens, showAccount)
}

async function showAccount(screen: Screen, state: FormState, test: PushTest | null = null): Promise<Response> {
  const { self } = screen
  const [passkeys, secondFactor, identities, sessions] = await Promise.all([
    passkeysOf(self),
    secondFactorOf(self),
    identitiesOf(self),
    sessionsOf(self),
  ])
  const content = (
    <>
      <About screen={screen} state={state} />
      <Passkeys screen={screen} passkeys={passkeys} />
      <SecondFactorSummary screen={screen} secondFactor={secondFactor} />
      <Identities screen={screen} identities={identities} />
      {await browserSection(screen, state, test)}
      <Sessions screen={screen} sessions={sessions} />
    </>
  )
  return screen.show({ title: 'Your account', section: 'account', content }, state)
}

function About({ screen, state }: { readonly screen: Screen; readonly state: FormState }) {
  return (
    <form method="post" action={screen.path('account')} class="stack" id="about">
      <FormProblem state={state} fields={['name']} />
      <p>{screen.user.email}</p>
      {screen.user.emailProvenAt === null ? <Unproven screen={screen} /> : null}
      <InputField
        label="Name"
        name="name"
        state={state}
        value={screen.user.name}
        required
        autocomplete="name"
        maxlength={100}
      />
      <p class="actions">
        <button type="submit">Save</button> <a href={screen.path('account/password')}>Change password</a>
      </p>
    </form>
  )
}

/** The link proves the address; there is no other way for a person who is signed in. */
function Unproven({ screen }: { readonly screen: Screen }) {
  return (
    <p class="hint">
      This address is not proven.{' '}
      {screen.self.sendMail === undefined ? (
        'Other members see that.'
      ) : (
        <>
          Other members see that. To prove it, sign in with{' '}
          <a href={`/sign-in/link?to=${encodeURIComponent(screen.path('account/password'))}`}>a link by email</a>. That
          removes your password, passkeys and authenticator app, so do it before you add more.
        </>
      )}
    </p>
  )
}

function Passkeys({ screen, passkeys }: { readonly screen: Screen; readonly passkeys: readonly Passkey[] }) {
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      {passkeys.length === 0 ? <p>Sign in with your fingerprint, face or device PIN instead of a password.</p> : null}
      <ul class="rows">
        {passkeys.map(({ id, name, createdAt, lastUsedAt }) => (
          <li id={`passkey-${id}`}>
            <span>{name}</span>
            <span class="row-facts">
              added <Time at={createdAt} zone={screen.zone} />
              {lastUsedAt === null ? null : (
                <>
                  , last used <Time at={lastUsedAt} zone={screen.zone} />
                </>
              )}
            </span>
            <ButtonForm action={screen.path('account/passkeys/remove')} fields={{ id }} text="Remove" about={name} />
          </li>
        ))}
      </ul>
      <form method="post" class="filters passkey" id="add-passkey" hidden>
        <InputField
          label="Name"
          name="passkeyName"
          state={emptyForm}
          placeholder="Such as Laptop"
          autocomplete="off"
          maxlength={100}
        />
        <button type="button" class="quiet" data-passkey="register" data-to={screen.path('account')}>
          Add a passkey
        </button>
      </form>
      <noscript>
        <p>Adding a passkey needs JavaScript.</p>
      </noscript>
    </section>
  )
}

function SecondFactorSummary({
  screen,
  secondFactor: { isEnabled, recoveryCodes },
}: {
  readonly screen: Screen
  readonly secondFactor: SecondFactor
}) {
  return (
    <section aria-labelledby="second-factor">
      <h2 id="second-factor">Two-factor authentication</h2>
      <p>
        {isEnabled
          ? `On. ${recoveryCodes} ${recoveryCodes === 1 ? 'recovery code is' : 'recovery codes are'} left.`
          : 'Off. With it, signing in by password also needs a code from an app.'}
      </p>
      <p class="actions">
        <a class="button quiet" href={screen.path('account/second-factor')}>
          {isEnabled ? 'Manage' : 'Set up'}
        </a>
      </p>
    </section>
  )
}

/** A link to the provider, because the policy of our pages forbids forms that lead elsewhere. */
async function connect(screen: Screen): Promise<Response> {
  const { c, self } = screen
  const url = await beginOpenId(c, self, self.site, { to: screen.path('account'), connect: true })
  const provider = openIdName(self.config)
  const content = (
    <>
      <p>Sign in at {provider} with the account that you want to use here.</p>
      <p class="actions">
        <a class="button" href={url}>
          Continue to {provider}
        </a>{' '}
        <a href={screen.path('account')}>Cancel</a>
      </p>
    </>
  )
  return screen.show({ title: `Connect ${provider}`, section: 'account', content })
}

function Identities({ screen, identities }: { readonly screen: Screen; readonly identities: readonly Identity[] }) {
  const provider = openIdName(screen.self.config)
  if (provider === null && identities.length === 0) return null
  return (
    <section aria-labelledby="identities">
      <h2 id="identities">Connected accounts</h2>
      <ul class="rows">
        {identities.map(({ issuer, subject, createdAt }) => (
          <li id={`identity-${issuer}-${subject}`}>
            <span>{issuer}</span>
            <span class="row-facts">
              connected <Time at={createdAt} zone={screen.zone} />
            </span>
            <ButtonForm
              action={screen.path('account/identities/remove')}
              fields={{ issuer, subject }}
              text="Disconnect"
              about={issuer}
            />
          </li>
        ))}
      </ul>
      {provider === null || identities.length > 0 ? null : (
        <form method="post" action={screen.path('account/identities/connect')}>
          <p class="actions">
            <button type="submit" class="quiet">
              Connect {provider}
            </button>
          </p>
        </form>
      )}
    </section>
  )
}

function Sessions({ screen, sessions }: { readonly screen: Screen; readonly sessions: readonly Session[] }) {
  const { sessionId } = requireUser(screen.self)
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Signed in</h2>
      <ul class="rows">
        {sessions.map(({ id, userAgent, lastSeenAt }) => (
          <li id={id}>
            <span title={userAgent}>{browserName(userAgent)}</span>
            <span class="row-facts">
              {id === sessionId ? (
                'this browser'
              ) : (
                <>
                  last seen <Time at={lastSeenAt} zone={screen.zone} />
                </>
              )}
            </span>
            {id === sessionId ? null : (
              <ButtonForm
                action={screen.path('account/sessions/end')}
                fields={{ id }}
                text="Sign out"
                about={`${browserName(userAgent)}, last seen ${formatMinute(lastSeenAt)}`}
              />
            )}
          </li>
        ))}
      </ul>
      {sessions.length < 2 ? null : (
        <form method="post" action={screen.path('account/sessions/end-others')}>
          <p class="actions">
            <button type="submit" class="quiet">
              Sign out everywhere else
            </button>
          </p>
        </form>
      )}
    </section>
  )
}

async function showPassword(screen: Screen, state: FormState): Promise<Response> {
  const asksForCurrent = await hasPassword(screen.self)
  const content = (
    <form method="post" class="stack">
      <p>You’ll be signed out everywhere else.</p>
      <FormProblem state={state} fields={['currentPassword', 'password']} />
      <UsernameField email={screen.user.email} />
      {asksForCurrent ? <PasswordField state={state} label="Current password" name="currentPassword" /> : null}
      <NewPasswordField state={state} label="New password" />
      <p class="actions">
        <button type="submit">Change password</button> <a href={screen.path('account')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'Change password', section: 'account', content }, state)
}
