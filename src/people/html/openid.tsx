import type { Context as HttpContext } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { NotFound } from '../../core/errors.ts'
import { SECOND } from '../../core/time.ts'
import type { FormState } from '../../http/page/form.tsx'
import { emptyForm, FormProblem, UsernameField } from '../../http/page/form.tsx'
import type { PeopleContext } from '../context.ts'
import { ownAddress } from '../http/own-address.ts'
import { emailOfLink, finishOpenId, linkIdentity, OPENID_LIFETIME, openIdName, startOpenId } from '../sign-in/openid.ts'
import { ownPath } from './held-form.tsx'
import type { Pages } from './pages.tsx'
import { agentOf, wrongPassword } from './pages.tsx'
import { PasswordField } from './password-fields.tsx'

const PATH = '/sign-in/openid'
const COOKIE = 'allclear_openid'

/** Adds the pages for signing in with OpenID Connect. */
export function addOpenIdPages({ app, form, answer, page, site, finishSignIn, continueTo }: Pages): void {
  app.get(PATH, (c) =>
    answer(c, async (ctx) => {
      requireProvider(ctx)
      const url = await beginOpenId(c, ctx, site, { to: ownPath(c.req.query('to')), connect: false })
      return c.redirect(url, 303)
    }),
  )

  app.get(`${PATH}/callback`, (c) =>
    answer(c, async (ctx) => {
      requireProvider(ctx)
      const token = getCookie(c, COOKIE) ?? ''
      deleteCookie(c, COOKIE, { path: PATH })
      const callback = new URL(redirectUri(c, ctx, site) + new URL(c.req.url).search)
      const result = await finishOpenId(ctx, { callback, token }, agentOf(c))
      if (result.kind === 'link') return page(c, 'Link your account', emptyForm, linkForm(ctx, emptyForm, result))
      const next = { to: ownPath(result.to), held: null }
      return result.kind === 'connected' ? continueTo(c, ctx, next) : finishSignIn(c, ctx, result.signIn, next)
    }),
  )

  form(
    `${PATH}/link`,
    async (c, ctx, state) => {
      const token = state.fields.get('token') ?? ''
      const email = await emailOfLink(ctx, token)
      if (email === null) return c.redirect('/sign-in', 303)
      return page(c, 'Link your account', state, linkForm(ctx, state, { token, email }))
    },
    async (c, ctx, { fields }) => {
      const given = { token: fields.get('token') ?? '', password: fields.get('password') ?? '' }
      const linked = await linkIdentity(ctx, given, agentOf(c))
      if (linked === null) throw wrongPassword()
      return finishSignIn(c, ctx, linked.signIn, { to: ownPath(linked.to), held: null })
    },
  )
}

const redirectUri = (c: HttpContext, ctx: PeopleContext, site: OwnSite) => `${ownAddress(c, ctx, site)}${PATH}/callback`

interface OwnSite {
  readonly baseUrl: string
}

/**
 * Starts a sign-in at the provider and returns the address of its page. A cookie binds the sign-in to the browser.
 * @param next `connect`: adds the person's account at the provider to the signed-in account here. Only for forms of our own pages;
 * otherwise a link on another site could connect the account that is signed in at the provider. @throws like `startOpenId`.
 */
export async function beginOpenId(
  c: HttpContext,
  ctx: PeopleContext,
  site: OwnSite,
  next: { readonly to: string; readonly connect: boolean },
): Promise<string> {
  const { url, token } = await startOpenId(ctx, { redirectUri: redirectUri(c, ctx, site), ...next })
  const cookie = { path: PATH, httpOnly: true, sameSite: 'Lax', maxAge: OPENID_LIFETIME / SECOND } as const
  setCookie(c, COOKIE, token, { ...cookie, secure: site.baseUrl.startsWith('https:') })
  return url
}

/** @throws NotFound when no provider is set up. */
function requireProvider({ config }: PeopleContext): void {
  if (openIdName(config) === null) throw new NotFound('No OpenID provider is set up.')
}

function linkForm(
  { config }: PeopleContext,
  state: FormState,
  { token, email }: { readonly token: string; readonly email: string },
) {
  return (
    <form method="post" action={`${PATH}/link`} class="stack">
      <p class="lead">
        {email} has an account here. Enter its password once to sign in with {openIdName(config)} from now on.
      </p>
      <FormProblem state={state} />
      <input type="hidden" name="token" value={token} />
      <UsernameField email={email} />
      <PasswordField state={state} autofocus />
      <p class="actions">
        <button type="submit">Link and sign in</button> <a href="/sign-in">Cancel</a>
      </p>
    </form>
  )
}
