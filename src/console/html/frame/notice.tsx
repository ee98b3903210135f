import { createHash } from 'node:crypto'
import type { Context as HttpContext } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { z } from 'zod'
import { ownValue } from '../../../core/own-value.ts'
import { parseUrl } from '../../../core/url.ts'
import type { ConsoleContext } from './context.ts'

/**
 * What happened, for the next page: a form was accepted. It travels in a cookie and not in the address, so that a link
 * cannot show it, and reloading the page does not repeat it.
 */
export interface Notice {
  /** The path of the page that shows it. */
  readonly to: string
  /** The path that the form was sent to. */
  readonly from: string
  /** The marks of the sent fields, which tell the form from others that are sent to the same path. */
  readonly marks: string
  /** The id of the element that shows the result, if the page has the form no more; empty: none. */
  readonly section: string
}

/** How many fields of a form are marked: enough to tell it from others, and few for a cookie. */
const MARKED_FIELDS = 60

const COOKIE = 'allclear_notice'
const PATH = '/console'
/** How long a browser may take from the redirect to the page. */
const LIFETIME_S = 60

/** What a path does, by its last segments; other paths save what was typed. */
const texts: Readonly<Record<string, string>> = {
  acknowledge: 'Acknowledged.',
  apply: 'Applied.',
  approve: 'Approved.',
  bulk: 'Done.',
  cancel: 'Cancelled.',
  'cancel-review': 'Review cancelled.',
  connect: 'Connected.',
  delete: 'Deleted.',
  dismiss: 'Dismissed.',
  end: 'Ended.',
  'end-others': 'Signed out everywhere else.',
  lock: 'Locked.',
  merge: 'Merged.',
  move: 'Moved.',
  new: 'Created.',
  notes: 'Note added.',
  order: 'Order saved.',
  pause: 'Paused.',
  publish: 'Published.',
  redeliver: 'Sent again.',
  remove: 'Removed.',
  'request-review': 'Review requested.',
  reset: 'Reset.',
  restore: 'Restored.',
  resume: 'Resumed.',
  revoke: 'Revoked.',
  rotate: 'Replaced.',
  secret: 'Replaced.',
  'second-factor/start': 'Started.',
  'files/new': 'Files added.',
  stop: 'Stopped.',
  unlock: 'Unlocked.',
  unpublish: 'Unpublished.',
  updates: 'Update posted.',
  watch: 'Created.',
}

interface RedirectedScreen {
  readonly c: HttpContext
  readonly ctx: Pick<ConsoleContext, 'config'>
}

/** Returns a mark of two characters: their 12 bits tell forms apart, but not what was typed. */
const markOf = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 2)
const markOfField = (name: string, value: string) => markOf(`${name}=${value}`)

/**
 * Redirects to a page of the console that shows that the form was accepted, near the form or the section that the address
 * names. Its fragment is left out: browsers focus no notice in a page whose address has one.
 */
export function redirectWithNotice({ c, ctx }: RedirectedScreen, address: string, sent: URLSearchParams): Response {
  const { pathname: to = PATH, hash = '' } = parseUrl(address, 'http://own.invalid') ?? {}
  const marked = [...sent].slice(0, MARKED_FIELDS)
  const marks = marked.map(([name, value]) => markOf(name) + markOfField(name, value)).join('')
  const notice: Notice = { to, from: c.req.path, marks, section: hash.slice(1) }
  const secure = ctx.config.BASE_URL?.startsWith('https:') ?? false
  const cookie = { path: PATH, httpOnly: true, sameSite: 'Strict', maxAge: LIFETIME_S, secure } as const
  setCookie(c, COOKIE, JSON.stringify(notice), cookie)
  return c.redirect(address.slice(0, address.length - hash.length), 303)
}

/**
 * Returns the notice for the page of a request, and forgets it; null: none. A script's request leaves it to the person's
 * next page.
 */
export function takeNotice(c: HttpContext): Notice | null {
  const cookie = getCookie(c, COOKIE)
  if (cookie === undefined || c.req.method !== 'GET' || c.req.header('sec-fetch-dest') === 'empty') return null
  const notice = parseNotice(cookie)
  if (notice?.to !== c.req.path) return null
  deleteCookie(c, COOKIE, { path: PATH })
  return notice
}

function parseNotice(text: string): Notice | null {
  try {
    return noticeSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

const noticeSchema = z.object({ to: z.string(), from: z.string(), marks: z.string(), section: z.string() })

/** Renders the content of a page with its notice: before the form that was sent, or first if the page has it no more. */
export function WithNotice({ notice, children }: { readonly notice: Notice | null; readonly children: Child }) {
  if (notice === null) return <>{children}</>
  const html = String(<>{children}</>)
  const at = placeOf(html, notice)
  return (
    <>
      {raw(html.slice(0, at))}
      <p class="notice" id="notice" role="status" tabindex={-1} autofocus data-keep="always">
        {textOf(notice)}
      </p>
      {raw(html.slice(at))}
    </>
  )
}

function textOf({ from }: Notice): string {
  const [before = '', last = ''] = from.split('/').slice(-2)
  return ownValue(texts, `${before}/${last}`) ?? ownValue(texts, last) ?? 'Saved.'
}

/**
 * Returns the position of the form that was sent, or of the section; 0: the page has neither. Attributes of rendered
 * elements are escaped.
 */
function placeOf(html: string, { to, from, marks, section }: Notice): number {
  const sent = new Set(marks.match(/../g))
  const forms = [...html.matchAll(/<form [^>]*>/g)].filter(({ 0: tag }) => {
    const action = /action="([^"?#]*)/.exec(tag)?.[1]
    return tag.includes('method="post"') && (action ?? to) === from
  })
  const [form, ...others] = forms.map(({ index }) => ({ index, likeness: likeness(html, index, sent) }))
  if (form !== undefined) {
    const { index } = others.reduce((best, each) => (each.likeness > best.likeness ? each : best), form)
    return visibleFrom(html, index)
  }
  for (const { index, 0: tag } of section === '' ? [] : html.matchAll(/<[a-z][^>]* id="[^>]*>/g)) {
    if (tag.includes(` id="${section}"`)) return visibleFrom(html, index)
  }
  return 0
}

/** Counts the fields of a form that were sent, and once more those whose value is fixed. */
function likeness(html: string, start: number, sent: ReadonlySet<string>): number {
  const controls = html
    .slice(start, html.indexOf('</form>', start))
    .matchAll(/<(?:input|select|textarea|button) [^>]*>/g)
  const marks = new Set(
    [...controls].flatMap(([tag]) => {
      const [, name] = / name="([^"]*)"/.exec(tag) ?? []
      if (name === undefined) return []
      const [, value = ''] = / value="([^"]*)"/.exec(tag) ?? []
      const isFixed = tag.includes(' type="hidden"') || tag.startsWith('<button')
      return isFixed ? [markOf(name), markOfField(name, value)] : [markOf(name)]
    }),
  )
  return [...marks].filter((mark) => sent.has(mark)).length
}

/** Returns the position, or that of the outermost closed `details` around it, which would hide the notice. */
function visibleFrom(html: string, position: number): number {
  const around: { readonly index: number; readonly isOpen: boolean }[] = []
  for (const { index, 0: tag } of html.slice(0, position).matchAll(/<\/?details[^>]*>/g)) {
    if (tag.startsWith('</')) around.pop()
    else around.push({ index, isOpen: tag.includes(' open') })
  }
  return around.find(({ isOpen }) => !isOpen)?.index ?? position
}
