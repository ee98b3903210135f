import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { PageFinder } from '../../account/page/page-guard.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import {
  DomainError,
  Forbidden,
  Invalid,
  NotFound,
  RateLimited,
  Unauthenticated,
  Unavailable,
} from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { errorPage } from '../../http/page/error-page.tsx'
import type { FormState, SubmittedForm } from '../../http/page/form.tsx'
import { emptyForm, formStatus, readForm } from '../../http/page/form.tsx'
import type { Site } from '../../http/page/layout.tsx'
import type { PeopleContext } from '../context.ts'
import { deviceOf, setDeviceCookie } from '../http/device-cookie.ts'
import { sessionToken, setSessionCookie } from '../http/session-cookie.ts'
import { knownDevice, newDevice } from '../known-device.ts'
import { endSessions, userOfSession } from '../session.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { userById } from '../user.ts'
import { CodeForm } from './code.tsx'
import { respondWithFormPage } from './frame.tsx'
import type { HeldForm } from './held-form.tsx'
import { forgetKeptForm, heldIn, ownPath, ResendForm, takeKeptForm } from './held-form.tsx'
import { guardOwnPage } from './own-site.ts'

/** The maximum size of a form, which may contain a held form. */
const MAX_FORM_BYTES = bodyLimits.signInForm.most

/** The dependencies of the pages. */
export interface PeoplePages {
  readonly site: Site
  /** Returns the context of the signed-in person, or of a visitor. */
  readonly contextOf: (c: HttpContext) => Promise<PeopleContext>
}

type Submit = (c: HttpContext, ctx: PeopleContext, form: SubmittedForm) => Promise<Response>
type Show = (c: HttpContext, ctx: PeopleContext, state: FormState) => Promise<Response> | Response
type Work = (ctx: PeopleContext) => Promise<Response> | Response

/** Where a person goes after signing in. */
export interface Continuation {
  /** A path on our site. */
  readonly to: string
  /** A form that was submitted after its session had ended. */
  readonly held: HeldForm | null
}

/** Adds the pages of people and answers their requests. */
export interface Pages {
  readonly app: Hono
  readonly site: Site
  /** Adds a form: its page, and what happens when it is submitted. A refused form is shown again. */
  form(path: string, show: Show, submit: Submit): void
  /** Answers a request, only on our own host. Errors become pages. */
  answer(c: HttpContext, work: Work): Promise<Response>
  /** Sends a page with a form. */
  page(c: HttpContext, title: string, state: FormState, content: Child): Response
  /** Signs in a person who has proven the first factor, or asks for the second factor. */
  finishSignIn(c: HttpContext, ctx: PeopleContext, signIn: SignIn, next: Continuation): Promise<Response>
  /** Sets the cookie of a new session. */
  changeSession(c: HttpContext, ctx: PeopleContext, token: string): Promise<void>
  /** Redirects to where the person came from, or sends the page that submits the form held in the page or for the browser. */
  continueTo(c: HttpContext, ctx: PeopleContext & PageFinder, next: Continuation): Promise<Response>
}

/** Creates the functions that add pages. */
export function createPages({ site, contextOf }: PeoplePages): Pages {
  const app = new Hono()

  async function answer(c: HttpContext, work: Work): Promise<Response> {
    try {
      const ctx = { ...(await contextOf(c)), device: deviceOf(c, site) }
      await yieldAfterTimeSlice(ctx.clientAddress ?? '')
      const named = { baseUrl: site.baseUrl, isNamed: ctx.config.BASE_URL !== undefined }
      return (await guardOwnPage(c, ctx, named)) ?? (await work(ctx))
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      if (!(error instanceof DomainError)) throw error
      return refuse(c, site, error)
    }
  }

  /**
   * Sets the cookie of a new session, and the cookie that marks a browser in which the person has signed in. Ends the browser's
   * previous session, so that an attacker cannot plant one (session fixation).
   */
  async function changeSession(c: HttpContext, ctx: PeopleContext, token: string): Promise<void> {
    if (ctx.actor.kind === 'user' && sessionToken(c, site) !== null) {
      await endSessions(ctx, { userId: ctx.actor.userId, id: ctx.actor.sessionId })
    }
    setSessionCookie(c, site, token)
    const session = await userOfSession(ctx, token)
    const user = session && (await userById(ctx, session.userId))
    if (user && knownDevice(ctx, user) === null) setDeviceCookie(c, site, newDevice(ctx, user))
    forgetKeptForm(c)
  }

  const page: Pages['page'] = (c, title, { problem }, content) =>
    respondWithFormPage(c, site, title, content, problem === null ? 200 : formStatus(problem))

  async function continueTo(c: HttpContext, ctx: PeopleContext, { to, held }: Continuation): Promise<Response> {
    const kept = await takeKeptForm(c, ctx)
    const form = held ?? kept
    if (form === null) return c.redirect(to, 303)
    return respondWithFormPage(c, site, 'You’re signed in', <ResendForm held={form} waits={held === null} />)
  }

  return {
    app,
    site,
    answer,
    page,
    changeSession,
    continueTo,
    form(path, show, submit) {
      app.get(path, (c) => answer(c, (ctx) => show(c, ctx, emptyForm)))
      app.post(path, (c) =>
        answer(c, async (ctx) => {
          const sent = await readForm(c, MAX_FORM_BYTES)
          try {
            return await submit(c, ctx, sent)
          } catch (error) {
            if (!(error instanceof DomainError) || error instanceof NotFound) throw error
            return await show(c, ctx, { fields: sent.fields, problem: error })
          }
        }),
      )
    },
    async finishSignIn(c, ctx, signIn, next) {
      if (signIn.kind === 'secondFactor') {
        return page(c, 'Enter your code', emptyForm, <CodeForm state={emptyForm} token={signIn.token} next={next} />)
      }
      await changeSession(c, ctx, signIn.sessionToken)
      return continueTo(c, ctx, next)
    },
  }
}

/** Returns where to go next, from the fields of a form. */
export function continuationIn(fields: URLSearchParams): Continuation {
  return { to: ownPath(fields.get('to')), held: heldIn({ fields }) }
}

/** Returns the browser's User-Agent header. */
export const agentOf = (c: HttpContext) => c.req.header('user-agent') ?? ''

/** Creates the error for a wrong email address or password. It does not reveal which addresses have an account. */
export function wrongPassword(): Unauthenticated {
  return new Unauthenticated('WRONG_CREDENTIALS', 'The email address or the password is wrong.')
}

/** Sends a page that explains why a request was refused, or redirects to the sign-in page. */
function refuse(c: HttpContext, site: Site, error: DomainError): Response {
  if (error.code === 'UNAUTHENTICATED') return c.redirect('/sign-in', 303)
  const title = error instanceof Forbidden ? 'Not allowed' : 'This did not work'
  return respondWithFormPage(c, site, title, <Refusal error={error} />, refusalStatus(error))
}

function refusalStatus(error: DomainError): 403 | 422 | 429 | 503 {
  if (error instanceof RateLimited) return 429
  if (error instanceof Invalid) return 422
  return error instanceof Unavailable ? 503 : 403
}

function Refusal({ error }: { readonly error: DomainError }) {
  return (
    <>
      <p class="lead">{error.message}</p>
      {error instanceof Forbidden ? null : (
        <p>
          <a href="/sign-in">Sign in</a>
        </p>
      )}
    </>
  )
}
