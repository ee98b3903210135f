import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { createKeyLimiter } from '../../../core/concurrency/key-limiter.ts'
import { yieldAfterTimeSlice } from '../../../core/concurrency/time-slice.ts'
import { DomainError, Forbidden, NotFound, Unavailable } from '../../../core/errors.ts'
import { clientSubject } from '../../../core/ip-address.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, formStatus, readForm } from '../../../http/page/form.tsx'
import type { Site } from '../../../http/page/layout.tsx'
import { bodyLength } from '../../../http/request/body.ts'
import { tryUpload } from '../../../http/request/large-uploads.ts'
import { nodeRequest } from '../../../http/request/node-request.ts'
import { respondWithFormPage } from '../../../people/html/frame.tsx'
import { holdForm, keepHeldForm } from '../../../people/html/held-form.tsx'
import { guardOwnPage } from '../../../people/html/own-site.ts'
import { waysOf } from '../../../people/html/routes.tsx'
import { ConfirmForm, SignInForm } from '../../../people/html/sign-in.tsx'
import { readPerson } from '../../../people/user.ts'
import type { ConsoleContext } from './context.ts'
import { redirectWithNotice } from './notice.tsx'

/** The dependencies of the console. */
export interface ConsoleOptions {
  readonly site: Site
  /** The context of the signed-in person, or a visitor's. */
  readonly contextOf: (c: HttpContext) => Promise<ConsoleContext>
  /** Called after each change, so that its author sees it at once. */
  readonly onChange: (organizationId: string) => void
}

/** The common part of all screens. */
interface AnyScreen {
  readonly c: HttpContext
  readonly ctx: ConsoleContext
  /** Returns the address of a page below that of the screens. */
  path(rest: string): string
}

/**
 * Shows a screen.
 * @param state the input of its form, and why it was refused.
 */
type Show<S> = (screen: S, state: FormState) => Promise<Response> | Response
/**
 * Executes a form. Returns the path, as for `path`, of the page that shows that it was accepted.
 * @throws DomainError to show the form again.
 */
type Submit<S> = (screen: S, form: SubmittedForm) => Promise<string | Response>

/** The limits of a larger form. */
export interface FormLimits<S> {
  readonly maxBytes: number
  /**
   * Checks the person before the body is read.
   * @throws Forbidden unless the person may send the form.
   */
  readonly admit: (screen: S) => void
}

/** The size of forms that take no slot: all without files and imports are smaller. */
const SMALL_FORM_BYTES = 256 * 1024
/** How many larger forms of people whose session has ended, or of strangers, are read at once; half of one network. */
const strangersForms = createKeyLimiter({ inTotal: 8 })

/** Adds screens. */
export interface ScreenRoutes<S> {
  get(path: string, show: (screen: S) => Promise<Response> | Response): void
  /**
   * A page with a form that is sent to its own path.
   * @param limits of a larger form.
   */
  form(path: string, show: Show<S>, submit: Submit<S>, limits?: FormLimits<S>): void
  /**
   * A form on another page.
   * @param show shows that page again if the form is refused.
   * @param limits of a larger form.
   */
  action(path: string, submit: Submit<S>, show: Show<S>, limits?: FormLimits<S>): void
  /** Like `action`, for an action that changes nothing. */
  draft(path: string, submit: Submit<S>, show: Show<S>): void
}

/** Creates the routes of screens for signed-in people; `add` adds them. */
export function createScreenRoutes<S extends AnyScreen>(
  options: ConsoleOptions,
  add: (routes: ScreenRoutes<S>) => void,
  {
    prefix,
    maxFormBytes,
    open,
    ownerOf,
    onChange,
    before = async () => {},
  }: {
    /** The prefix of the paths. */
    readonly prefix: string
    /** The maximum size of a form. */
    readonly maxFormBytes: number
    /**
     * Returns the screen of a request.
     * @param hasPage whether the address can be fetched; that of an action cannot.
     * @throws NotFound if the person may not see it.
     */
    readonly open: (c: HttpContext, ctx: ConsoleContext, hasPage: boolean) => Promise<S> | S
    /** Returns the id of the organization to whose share of the uploads a large form counts. */
    readonly ownerOf: (screen: S) => string
    /** Called after each form. */
    readonly onChange: (screen: S) => void
    /** Called before each form is executed, which it can change. Its errors refuse the form. Absent: nothing is done. */
    readonly before?: (screen: S, form: SubmittedForm) => Promise<void>
  },
): Hono {
  const app = new Hono()
  const pages = new Set<string>()

  const action = (path: string, submit: Submit<S>, show: Show<S>, limits?: FormLimits<S>) =>
    post(path, submit, show, (screen, form) => (isQuestion(form) ? undefined : onChange(screen)), limits)

  function post(
    path: string,
    submit: Submit<S>,
    show: Show<S>,
    changed: (screen: S, form: SubmittedForm) => void,
    limits?: FormLimits<S>,
  ): void {
    app.post(prefix + path, (c) =>
      answer(c, options, async (ctx) => {
        const form = await read(c, ctx, limits)
        if (ctx.actor.kind !== 'user') return askToSignIn(c, options, ctx, form)
        const screen = await open(c, ctx, pages.has(path))
        try {
          await before(screen, form)
          const next = await submit(screen, form)
          changed(screen, form)
          return typeof next === 'string' ? redirectWithNotice(screen, screen.path(next), form.fields) : next
        } catch (error) {
          return await refused(screen, form, error, show)
        }
      }),
    )
  }

  /** Reads a form. A large one takes a slot, after its sender is known. Without a session, the usual limit applies. */
  async function read(c: HttpContext, ctx: ConsoleContext, limits?: FormLimits<S>): Promise<SubmittedForm> {
    if (bodyLength(nodeRequest(c)) <= SMALL_FORM_BYTES) return readForm(c, maxFormBytes)
    const isStranger = ctx.actor.kind !== 'user'
    const leave = isStranger
      ? strangersForms.tryAcquire(clientSubject(ctx.clientAddress))
      : await upload(c, ctx, limits)
    if (leave === null) throw new Unavailable('Too many files are being uploaded. Try again soon.')
    try {
      return await readForm(c, isStranger ? maxFormBytes : (limits?.maxBytes ?? maxFormBytes))
    } finally {
      leave()
    }
  }

  async function upload(c: HttpContext, ctx: ConsoleContext, limits?: FormLimits<S>): Promise<(() => void) | null> {
    const screen = await open(c, ctx, false)
    limits?.admit(screen)
    return tryUpload(ownerOf(screen), ctx.clientAddress)
  }

  /** Answers a refused form: asks for confirmation, or shows it again. */
  function refused(screen: S, form: SubmittedForm, error: unknown, show: Show<S>): Promise<Response> | Response {
    if (!(error instanceof DomainError) || error instanceof NotFound) throw error
    if (error.code === 'UNAUTHENTICATED') return askToSignIn(screen.c, options, screen.ctx, form)
    if (error.code === 'CONFIRMATION_REQUIRED') return askToConfirm(screen.c, options, screen.ctx, form)
    return show(screen, { fields: form.fields, problem: error })
  }

  function get(path: string, show: (screen: S) => Promise<Response> | Response): void {
    pages.add(path)
    app.get(prefix + path, (c) =>
      answer(c, options, async (ctx) => {
        if (ctx.actor.kind !== 'user') return c.redirect(signInPath(c), 303)
        return await show(await open(c, ctx, true))
      }),
    )
  }

  add({
    get,
    action,
    draft: (path, submit, show) => post(path, submit, show, () => {}),
    form(path, show, submit, limits) {
      get(path, (screen) => show(screen, emptyForm))
      action(path, submit, show, limits)
    },
  })
  return app
}

/** Returns whether a form only requests something: a preview, services by name, or the test of a monitor. */
const isQuestion = ({ fields }: SubmittedForm) => ['preview', 'find', 'test'].some((name) => fields.has(name))

/** Answers a request for a page of the console: only on our own host, with errors as pages. */
export async function answer(
  c: HttpContext,
  { site, contextOf }: ConsoleOptions,
  work: (ctx: ConsoleContext) => Promise<Response>,
): Promise<Response> {
  try {
    const ctx = await contextOf(c)
    await yieldAfterTimeSlice(ctx.clientAddress ?? '')
    const named = { baseUrl: site.baseUrl, isNamed: ctx.config.BASE_URL !== undefined }
    return (await guardOwnPage(c, ctx, named)) ?? (await work(ctx))
  } catch (error) {
    if (error instanceof NotFound) return plainPage(c, site, 'Page not found', 'There is no such page.', 404)
    if (error instanceof Forbidden) return plainPage(c, site, 'Not allowed', error.message, 403)
    if (error instanceof HTTPException && error.status === 413) {
      return plainPage(c, site, 'Too large', `${error.message} Go back: your browser has kept what you typed.`, 413)
    }
    if (error instanceof DomainError) return plainPage(c, site, 'Not possible', error.message, formStatus(error))
    throw error
  }
}

/** Returns the sign-in page that redirects back to the request's address. */
export function signInPath(c: HttpContext): string {
  const { pathname, search } = new URL(c.req.url)
  return `/sign-in?to=${encodeURIComponent(pathname + search)}`
}

const plainPage = (c: HttpContext, site: Site, title: string, message: string, status: 403 | 404 | 413 | 422 | 429) =>
  respondWithFormPage(c, site, title, <p class="lead">{message}</p>, status)

/** Keeps a form in the page, and in the browser if the person may leave the page to sign in. */
async function hold(c: HttpContext, { site }: ConsoleOptions, ctx: ConsoleContext, form: SubmittedForm) {
  const held = holdForm(c.req.path, form)
  const { openId, mail } = waysOf(ctx)
  if (openId !== null || mail) await keepHeldForm(c, ctx, site, held)
  return { to: c.req.path, held }
}

/** Asks for a sign-in, because the session has ended. Keeps the input until then. */
async function askToSignIn(
  c: HttpContext,
  options: ConsoleOptions,
  ctx: ConsoleContext,
  form: SubmittedForm,
): Promise<Response> {
  const { site } = options
  const next = await hold(c, options, ctx, form)
  const content = <SignInForm state={emptyForm} next={next} ways={waysOf(ctx)} />
  return respondWithFormPage(c, site, 'Sign in', content, 401)
}

/** Asks people to confirm their identity. Keeps the input until then. */
async function askToConfirm(
  c: HttpContext,
  options: ConsoleOptions,
  ctx: ConsoleContext,
  form: SubmittedForm,
): Promise<Response> {
  const { site } = options
  const { userId: id = '' } = ctx.actor as { readonly userId?: string }
  const { email } = await readPerson(ctx, id)
  const next = await hold(c, options, ctx, form)
  const props = { state: emptyForm, next, email, ways: waysOf(ctx) }
  return respondWithFormPage(c, site, 'Confirm that it’s you', <ConfirmForm {...props} />, 401)
}
