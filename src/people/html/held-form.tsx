import type { Context as HttpContext } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { SECOND } from '../../core/time.ts'
import { parseUrl } from '../../core/url.ts'
import type { FormState, SubmittedForm } from '../../http/page/form.tsx'
import { isSentFile } from '../../http/page/form.tsx'
import type { PeopleContext } from '../context.ts'
import { HELD_FORM_LIFETIME, storeHeldForm, takeHeldForm } from '../sign-in/held-form.ts'

/** A form that was submitted after its session had ended. It is submitted again after the person has signed in. */
export interface HeldForm {
  /** The path that it was submitted to, on our site. */
  readonly path: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** The name of the field that carries a held form. */
const HELD = 'held'

/** Returns a form to hold. Files are not held, because a page cannot fill in a file field. */
export function holdForm(path: string, { fields }: SubmittedForm): HeldForm {
  return { path, fields: [...fields] }
}

/** Returns the held form in a submitted form; null: none, or it is malformed. */
export function heldIn({ fields }: Pick<FormState, 'fields'>): HeldForm | null {
  return parseHeldForm(fields.get(HELD))
}

function parseHeldForm(text: string | null): HeldForm | null {
  if (text === null || text === '') return null
  try {
    const held: unknown = JSON.parse(text)
    return isHeldForm(held) ? held : null
  } catch {
    return null
  }
}

function isHeldForm(value: unknown): value is HeldForm {
  if (typeof value !== 'object' || value === null || !('path' in value && 'fields' in value)) return false
  const { path, fields } = value
  const isEntry = (entry: unknown) =>
    Array.isArray(entry) && entry.length === 2 && entry.every((text) => typeof text === 'string')
  return typeof path === 'string' && ownPath(path) === path && Array.isArray(fields) && fields.every(isEntry)
}

/** Returns a path on this site; `/console` for any other text, such as an address of another site. */
export function ownPath(text: string | null | undefined): string {
  const base = 'http://own.invalid'
  const url = text?.startsWith('/') ? parseUrl(text, base) : null
  if (url === null) return '/console'
  const { origin, pathname, search } = url
  // A path such as //host points to another site.
  return origin === base && !pathname.startsWith('//') ? pathname + search : '/console'
}

/** The cookie with the token of the stored form, in the browser in which the form was filled in. */
const COOKIE = 'allclear_held'
const PATH = '/'

/** Stores a held form during a sign-in that leaves the page, such as one by a mailed link. */
export async function keepHeldForm(
  c: HttpContext,
  ctx: PeopleContext,
  site: { readonly baseUrl: string },
  held: HeldForm,
): Promise<void> {
  const token = await storeHeldForm(ctx, JSON.stringify(held))
  if (token === null) return
  const cookie = { path: PATH, httpOnly: true, sameSite: 'Lax', maxAge: HELD_FORM_LIFETIME / SECOND } as const
  setCookie(c, COOKIE, token, { ...cookie, secure: site.baseUrl.startsWith('https:') })
}

/** Returns the form that is stored for this browser and deletes it; null: none. */
export async function takeKeptForm(c: HttpContext, ctx: PeopleContext): Promise<HeldForm | null> {
  const token = getCookie(c, COOKIE)
  if (token === undefined) return null
  forgetKeptForm(c)
  return parseHeldForm(await takeHeldForm(ctx, token))
}

/** Forgets the form that is stored for this browser, because the page with the form has submitted it. */
export function forgetKeptForm(c: HttpContext): void {
  if (getCookie(c, COOKIE) !== undefined) deleteCookie(c, COOKIE, { path: PATH })
}

/** Renders the hidden field that carries a held form. */
export function HeldField({ held }: { readonly held: HeldForm | null }) {
  return held === null ? null : <input type="hidden" name={HELD} value={JSON.stringify(held)} />
}

/** Renders the form that submits a held form again. @param waits whether it waits for a click, even if scripts run. */
export function ResendForm({ held, waits }: { readonly held: HeldForm; readonly waits: boolean }) {
  const hadFile = held.fields.some(([name]) => isSentFile(name))
  return (
    <form method="post" action={held.path} class="stack" data-resend={hadFile || waits ? undefined : ''}>
      <p class="lead">
        {hadFile
          ? 'We kept what you typed, but not the file. Continue, then choose the file again.'
          : 'We kept what you typed. Send it now.'}
      </p>
      {held.fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <p class="actions">
        <button type="submit">Send</button> <a href={held.path}>Discard</a>
      </p>
    </form>
  )
}
