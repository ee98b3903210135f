import type { Hono, Context as HttpContext } from 'hono'
import { NotFound, Unauthenticated } from '../../core/errors.ts'
import { FormProblem } from '../../http/page/form.tsx'
import type { PeopleContext } from '../context.ts'
import { signInBySecondFactor } from '../credential/second-factor.ts'
import { addPasskeyEndpoints } from '../http/passkey.ts'
import { setSessionCookie } from '../http/session-cookie.ts'
import type { Joined } from '../invitation.ts'
import { acceptInvitation, findInvitation, INVITATION_PATH, joinByInvitation, stepOf } from '../invitation.ts'
import { endSessions, requireUser } from '../session.ts'
import { isSetUpNeeded, mayUseSetup, SETUP_PATH, setUp } from '../setup.ts'
import { openIdName } from '../sign-in/openid.ts'
import { confirmByPassword, signInByPassword } from '../sign-in/sign-in.ts'
import { readPerson } from '../user.ts'
import { CodeForm } from './code.tsx'
import { respondWithFormPage } from './frame.tsx'
import { forgetKeptForm, heldIn, ownPath } from './held-form.tsx'
import { AcceptInvitation, JoinForm } from './invitation.tsx'
import { addMailLinkPages } from './mail-links.tsx'
import { addOpenIdPages } from './openid.tsx'
import type { Pages, PeoplePages } from './pages.tsx'
import { agentOf, continuationIn, createPages, wrongPassword } from './pages.tsx'
import { SetupForm } from './setup.tsx'
import type { SignInWays } from './sign-in.tsx'
import { ConfirmForm, SignInForm } from './sign-in.tsx'

/** Creates the pages for setting up the service, signing in and accepting invitations. They work without scripts. */
export function peoplePages(options: PeoplePages): Hono {
  const pages = createPages(options)
  addSetup(pages)
  addSignIn(pages)
  addCode(pages)
  addConfirm(pages)
  addSignOut(pages)
  addInvitation(pages)
  addMailLinkPages(pages)
  addOpenIdPages(pages)
  addPasskeyEndpoints({ ...pages, onConfirm: forgetKeptForm })
  return pages.app
}

/** Returns the ways to sign in that are set up. */
export function waysOf({ config, sendMail }: Pick<PeopleContext, 'config' | 'sendMail'>): SignInWays {
  return { openId: openIdName(config), mail: sendMail !== undefined, signUp: config.SIGNUP === 'open' }
}

function addSetup({ form, page, site, changeSession }: Pages): void {
  form(
    SETUP_PATH,
    async (c, ctx, state) => {
      if (!(await isSetUpNeeded(ctx))) return c.redirect('/sign-in', 303)
      const asksForToken = ctx.config.ADMIN_TOKEN !== undefined
      const token = c.req.query('token') ?? state.fields.get('token') ?? ''
      if (!asksForToken && !(await mayUseSetup(ctx, token))) {
        return respondWithFormPage(c, site, 'Set up Allclear', <LinkNeeded />, 403)
      }
      return page(c, 'Set up Allclear', state, <SetupForm state={state} token={asksForToken ? null : token} />)
    },
    async (c, ctx, { fields }) => {
      const input = Object.fromEntries(fields)
      const { organization, sessionToken: session } = await setUp(ctx, fields.get('token') ?? '', input, agentOf(c))
      await changeSession(c, ctx, session)
      return c.redirect(`/console/${organization.slug}/start`, 303)
    },
  )
}

function addSignIn({ form, page, finishSignIn }: Pages): void {
  form(
    '/sign-in',
    async (c, ctx, state) => {
      const to = ownPath(c.req.query('to') ?? state.fields.get('to'))
      if (c.req.method === 'GET' && ctx.actor.kind === 'user') return c.redirect(to, 303)
      if (await isSetUpNeeded(ctx)) return c.redirect(SETUP_PATH, 303)
      const next = { to, held: heldIn(state) }
      return page(c, 'Sign in', state, <SignInForm state={state} next={next} ways={waysOf(ctx)} />)
    },
    async (c, ctx, { fields }) => {
      const [email, password] = [fields.get('email') ?? '', fields.get('password') ?? '']
      const signIn = await signInByPassword(ctx, { email, password }, agentOf(c))
      if (signIn === null) throw wrongPassword()
      return finishSignIn(c, ctx, signIn, continuationIn(fields))
    },
  )
}

function addCode({ form, page, changeSession, continueTo }: Pages): void {
  form(
    '/sign-in/code',
    async (c, _ctx, state) => {
      const token = state.fields.get('token')
      if (token === null || state.problem?.code === 'INVALID_TOKEN') return c.redirect('/sign-in', 303)
      const next = continuationIn(state.fields)
      return page(c, 'Enter your code', state, <CodeForm state={state} token={token} next={next} />)
    },
    async (c, ctx, { fields }) => {
      const [token, code] = [fields.get('token') ?? '', fields.get('code') ?? '']
      const session = await signInBySecondFactor(ctx, token, code, agentOf(c))
      if (session === null) throw new Unauthenticated('WRONG_CREDENTIALS', 'This code is wrong or was already used.')
      await changeSession(c, ctx, session)
      return continueTo(c, ctx, continuationIn(fields))
    },
  )
}

function addConfirm({ form, page, continueTo }: Pages): void {
  form(
    '/confirm',
    async (c, ctx, state) => {
      const user = await readPerson(ctx, requireUser(ctx).userId)
      const to = ownPath(c.req.query('to') ?? state.fields.get('to'))
      const props = { state, next: { to, held: heldIn(state) }, email: user.email, ways: waysOf(ctx) }
      return page(c, 'Confirm that it’s you', state, <ConfirmForm {...props} />)
    },
    async (c, ctx, { fields }) => {
      if (!(await confirmByPassword(ctx, fields.get('password') ?? ''))) throw wrongPassword()
      return continueTo(c, ctx, continuationIn(fields))
    },
  )
}

function addSignOut({ app, answer, site }: Pages): void {
  app.post('/sign-out', (c) =>
    answer(c, async (ctx) => {
      if (ctx.actor.kind === 'user') {
        const { userId, sessionId: id } = ctx.actor
        await endSessions(ctx, { userId, id })
      }
      setSessionCookie(c, site, null)
      return c.redirect('/sign-in', 303)
    }),
  )
}

function addInvitation({ form, page, site, changeSession }: Pages): void {
  async function goOn(c: HttpContext, ctx: PeopleContext, { invitation, sessionToken }: Joined): Promise<Response> {
    if (sessionToken !== null) await changeSession(c, ctx, sessionToken)
    return c.redirect(`/console/${invitation.organization.slug}/now`, 303)
  }
  form(
    `${INVITATION_PATH}/:token`,
    async (c, ctx, state) => {
      const invitation = await findInvitation(ctx, c.req.param('token') ?? '').catch(nullIfGone)
      if (invitation === null) {
        return respondWithFormPage(c, site, 'This invitation no longer works', <InvitationGone />, 410)
      }
      const title = `Join ${invitation.organization.name}`
      const step = await stepOf(ctx, invitation)
      if (step === 'SIGN_IN') return c.redirect(`/sign-in?to=${encodeURIComponent(c.req.path)}`, 303)
      if (step === 'NEW_ACCOUNT') return page(c, title, state, <JoinForm {...{ invitation, state }} />)
      return page(c, title, state, <AcceptInvitation {...{ invitation, state }} needsPassword={step !== 'ACCEPT'} />)
    },
    async (c, ctx, { fields }) => {
      const token = c.req.param('token') ?? ''
      if (ctx.actor.kind === 'user') {
        const joined = await acceptInvitation(ctx, token, Object.fromEntries(fields), agentOf(c))
        return goOn(c, ctx, joined)
      }
      return goOn(c, ctx, await joinByInvitation(ctx, token, Object.fromEntries(fields), agentOf(c)))
    },
  )
}

function nullIfGone(error: unknown): null {
  if (error instanceof NotFound) return null
  throw error
}

function InvitationGone() {
  return (
    <>
      <p class="lead">
        It was used or revoked, or has expired. If you’ve already joined, sign in; otherwise ask for a new one.
      </p>
      <p class="actions">
        <a href="/sign-in">Sign in</a>
      </p>
    </>
  )
}

function LinkNeeded() {
  return (
    <FormProblem
      state={{
        fields: new URLSearchParams(),
        problem: new Unauthenticated(
          'INVALID_TOKEN',
          'Open the link that Allclear prints when it starts. It works once; a restart prints a new one.',
        ),
      }}
    />
  )
}
