import type { Context as HttpContext } from 'hono'
import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, InputField, UsernameField } from '../../http/page/form.tsx'
import type { PeopleContext } from '../context.ts'
import { requireMail } from '../mail.ts'
import { RESET_PATH, requestPasswordReset, resetPassword, userOfReset } from '../sign-in/password-reset.ts'
import { requestSignInLink, SIGN_IN_LINK_PATH, signInByLink, userOfSignInLink } from '../sign-in/sign-in-link.ts'
import { emailOfSignUp, requestSignUp, requireOpenSignUp, SIGN_UP_PATH, signUp } from '../sign-in/sign-up.ts'
import { respondWithFormPage } from './frame.tsx'
import { ownPath } from './held-form.tsx'
import type { Pages } from './pages.tsx'
import { agentOf } from './pages.tsx'
import { DroppedAccess, NewPasswordField } from './password-fields.tsx'
import { SignUpForm } from './setup.tsx'

/** Adds the pages of mailed links: to sign in, to set a new password and to sign up. */
export function addMailLinkPages(pages: Pages): void {
  addSignInLink(pages)
  addReset(pages)
  addSignUp(pages)
}

/** Returns the route of a link. Following the link changes nothing, because mail scanners follow it too; the button does. */
const linked = (path: string) => `${path}/:token`
const tokenIn = (c: HttpContext) => c.req.param('token') ?? ''

function addSignInLink({ form, page, site, finishSignIn }: Pages): void {
  form(
    SIGN_IN_LINK_PATH,
    (c, ctx, state) => {
      requireMail(ctx)
      const to = ownPath(c.req.query('to') ?? state.fields.get('to'))
      return page(c, 'Get a link by email', state, <EmailForm state={state} to={to} button="Send link" />)
    },
    async (c, ctx, { fields }) => {
      await requestSignInLink(ctx, { email: fields.get('email') ?? '' }, ownPath(fields.get('to')))
      return sentPage(c, { site }, 'If this address has an account here, a link to sign in is on its way.')
    },
  )
  form(
    linked(SIGN_IN_LINK_PATH),
    async (c, ctx, state) => {
      const user = await userOfSignInLink(ctx, tokenIn(c))
      if (user === null) return gonePage(c, { site }, SIGN_IN_LINK_PATH)
      return page(c, 'Sign in', state, <LinkForm state={state} user={user} />)
    },
    async (c, ctx) => {
      const { signIn, to } = await signInByLink(ctx, tokenIn(c), agentOf(c))
      return finishSignIn(c, ctx, signIn, { to: ownPath(to), held: null })
    },
  )
}

function addReset({ form, page, site, finishSignIn }: Pages): void {
  form(
    RESET_PATH,
    (c, ctx, state) => {
      requireMail(ctx)
      return page(c, 'Forgot your password?', state, <EmailForm state={state} to={null} button="Send link" />)
    },
    async (c, ctx, { fields }) => {
      await requestPasswordReset(ctx, { email: fields.get('email') ?? '' })
      return sentPage(c, { site }, 'If this address has an account here, a link to set a new password is on its way.')
    },
  )
  form(
    linked(RESET_PATH),
    async (c, ctx, state) => {
      const user = await userOfReset(ctx, tokenIn(c))
      if (user === null) return gonePage(c, { site }, ctx.sendMail ? RESET_PATH : null)
      return page(c, 'Set a new password', state, <ResetForm state={state} user={user} />)
    },
    async (c, ctx, { fields }) => {
      const signIn = await resetPassword(ctx, tokenIn(c), { password: fields.get('password') ?? '' }, agentOf(c))
      return finishSignIn(c, ctx, signIn, { to: '/console', held: null })
    },
  )
}

function addSignUp({ form, page, site, changeSession }: Pages): void {
  const title = 'Create an account'
  form(
    SIGN_UP_PATH,
    (c, ctx, state) => {
      requireOpenSignUp(ctx)
      if (ctx.sendMail === undefined) return respondWithFormPage(c, site, title, <MailMissing />)
      return page(c, title, state, <EmailForm state={state} to={null} button="Continue" />)
    },
    async (c, ctx, { fields }) => {
      await requestSignUp(ctx, { email: fields.get('email') ?? '' })
      return sentPage(c, { site }, 'We’ve sent you an email. Open the link in it to continue.')
    },
  )
  form(
    linked(SIGN_UP_PATH),
    async (c, ctx, state) => {
      requireOpenSignUp(ctx)
      const email = await emailOfSignUp(ctx, tokenIn(c))
      if (email === null) return gonePage(c, { site }, SIGN_UP_PATH)
      return page(c, title, state, <SignUpForm state={state} email={email} />)
    },
    async (c, ctx: PeopleContext, { fields }) => {
      const input = Object.fromEntries(fields)
      const { organization, sessionToken } = await signUp(ctx, tokenIn(c), input, agentOf(c))
      await changeSession(c, ctx, sessionToken)
      return c.redirect(`/console/${organization.slug}/start`, 303)
    },
  )
}

function sentPage(c: HttpContext, { site }: Pick<Pages, 'site'>, text: string): Response {
  return respondWithFormPage(c, site, 'Check your email', <p class="lead">{text}</p>)
}

function gonePage(c: HttpContext, { site }: Pick<Pages, 'site'>, again: string | null): Response {
  const content = (
    <>
      <p class="lead">This link was already used or has expired.</p>
      <p class="actions">{again === null ? <a href="/sign-in">Sign in</a> : <a href={again}>Get a new link</a>}</p>
    </>
  )
  return respondWithFormPage(c, site, 'This link no longer works', content, 410)
}

function EmailForm({
  state,
  to,
  button,
}: {
  readonly state: FormState
  readonly to: string | null
  readonly button: string
}) {
  return (
    <form method="post" class="stack">
      <FormProblem state={state} fields={['email']} />
      {to === null ? null : <input type="hidden" name="to" value={to} />}
      <InputField
        label="Email"
        name="email"
        type="email"
        state={state}
        required
        autofocus
        hint="We’ll email you a link."
        autocomplete="username"
      />
      <p class="actions">
        <button type="submit">{button}</button> <a href="/sign-in">Sign in</a>
      </p>
    </form>
  )
}

/** The person to whom a link belongs. */
interface LinkUser {
  readonly email: string
  readonly dropsEverything: boolean
}

function LinkForm({ state, user: { email, dropsEverything } }: { readonly state: FormState; readonly user: LinkUser }) {
  return (
    <form method="post" class="stack">
      {dropsEverything ? (
        <>
          <p class="lead">This proves that {email} is your address.</p>
          <p>
            <DroppedAccess /> You can then set a new password.
          </p>
        </>
      ) : null}
      <FormProblem state={state} />
      <p class="actions">
        <button type="submit">Sign in</button>
      </p>
    </form>
  )
}

function ResetForm({
  state,
  user: { email, dropsEverything },
}: {
  readonly state: FormState
  readonly user: LinkUser
}) {
  return (
    <form method="post" class="stack">
      {dropsEverything ? (
        <p>
          <DroppedAccess />
        </p>
      ) : (
        <p class="lead">You’ll be signed out everywhere else.</p>
      )}
      <FormProblem state={state} fields={['password']} />
      <UsernameField email={email} />
      <NewPasswordField label="New password" state={state} autofocus />
      <p class="actions">
        <button type="submit">Set password</button>
      </p>
    </form>
  )
}

function MailMissing() {
  return <p class="lead">Sign-up requires email, which is not set up here. Ask the operator for an invitation.</p>
}
