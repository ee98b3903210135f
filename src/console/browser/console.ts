// Makes the console live: fetches the page again when the organization's log has moved, and patches it. Changed fields
// keep their input. Without this script, every page works.

import { animationsFinished, morph } from '../../status-page/browser/morph.ts'
import { listenToCopy, offerCopy } from './copy.ts'
import { listenToLeaving } from './leaving.ts'
import type { Followed } from './log-subscription.ts'
import { followLog } from './log-subscription.ts'
import { enableOrder } from './order.ts'
import { listenToPasskeys, offerAutofill, offerPasskeys } from './passkey.ts'
import { listenToPreview } from './preview.ts'
import { listenToPublication } from './publication.ts'
import { listenToPush, offerPush } from './push.ts'
import { listenForShortcuts } from './shortcuts.ts'
import { listenToFields } from './validation.ts'

const { body } = document
/** Whether the page was the answer to a form, and shows its input. */
const isTypedPage = body.dataset['typed'] !== undefined
/** Whether the page is the answer to a form at an address that cannot be fetched. */
const isAnswerOnly = body.dataset['answerOnly'] !== undefined

if (body.dataset['page'] === 'console') {
  listenForShortcuts()
  followLog(followed, { onEvent: () => void refresh(), onState })
  // The person returns, perhaps after signing in on another tab.
  document.addEventListener('visibilitychange', () => hasEnded() && void refresh())
}
// On a phone the menu is a line that scrolls.
document.querySelector('.console-menu [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
enableOrder(() => location.reload())
document.querySelector<HTMLFormElement>('form[data-resend]')?.requestSubmit()
offerAll(document)
setReaderTimes(document)
offerPasskeys(document)
listenToPasskeys()
void offerAutofill()
listenToFields()
listenToPreview()
listenToPublication()
offerPush(document)
listenToPush()
listenToLeaving(isChanged)
offerCopy(document)
listenToCopy()

function followed(): Followed {
  const monitor = document.querySelector<HTMLElement>('[data-probe-results]')?.dataset['probeResults'] ?? null
  return { organization: body.dataset['organization'] ?? '', after: body.dataset['cursor'] ?? '', monitor }
}

let refreshing: Promise<void> | null = null
let again = false

/** Fetches the page and shows its changes. Calls during a refresh cause one more. */
function refresh(): Promise<void> {
  again = true
  refreshing ??= (async () => {
    while (again) {
      again = false
      await fetchPage()
    }
    refreshing = null
  })()
  return refreshing
}

async function fetchPage(): Promise<void> {
  if (isAnswerOnly) return
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual' })
    if (response.type === 'opaqueredirect') return showEnd()
    // The page is gone, or the role ended; the next click shows that.
    if (!response.ok) return
    document.querySelector('#ended')?.remove()
    const html = await response.text()
    // Content that is shown only once must stay until its reader leaves.
    if (document.querySelector('[data-once]')) return
    const fresh = new DOMParser().parseFromString(html, 'text/html')
    await animationsFinished()
    keepForms(fresh)
    setReaderTimes(fresh)
    offerPasskeys(fresh)
    offerPush(fresh)
    offerAll(fresh)
    document.title = fresh.title
    const focused = document.activeElement
    morph(body, fresh.body)
    // Elements that are moved in the document lose the focus.
    if (focused instanceof HTMLElement && focused !== document.activeElement) focused.focus({ preventScroll: true })
  } catch {
    // The state in the bar says that the connection is lost.
  }
}

/**
 * Keeps the forms with input, including those that the server shows again. A form that is no longer on the page,
 * because another person has finished its task, moves to the end.
 */
function keepForms(fresh: Document): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('main form')) {
    if (form.dataset['keep'] === 'moving') continue
    if (!isTypedPage && !isTouched(form)) {
      form.removeAttribute('data-keep')
      continue
    }
    form.dataset['keep'] = 'typed'
    if (form.id && !fresh.getElementById(form.id)) fresh.querySelector('main')?.append(fresh.importNode(form))
  }
}

function isTouched(form: HTMLFormElement): boolean {
  if (form.contains(document.activeElement?.closest('input, textarea, select') ?? null)) return true
  return [...form.elements].some(isChanged)
}

/** Returns whether a field has another value than the server sent. */
function isChanged(field: Element): boolean {
  if (field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio'))
    return field.checked !== field.defaultChecked
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
    return field.value !== field.defaultValue
  if (field instanceof HTMLSelectElement) return isOtherChoice(field)
  return false
}

/** Shows the checkboxes that select all of a list, which need this script. */
function offerAll(root: Document): void {
  for (const label of root.querySelectorAll<HTMLElement>('[data-check-all]')) label.hidden = false
}

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.closest('[data-check-all]') === null) return
  for (const box of target.form?.querySelectorAll<HTMLInputElement>('[name=ids]') ?? []) box.checked = target.checked
})

// A file that is too large is refused before it is sent.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset['maxBytes'] === undefined) return
  const most = Number(target.dataset['maxBytes'])
  const isLarge = [...(target.files ?? [])].some(({ size }) => size > most)
  target.setCustomValidity(isLarge ? `Choose a file of at most ${most / 1024} kB.` : '')
  target.reportValidity()
})

/** Without a selected option in the page, a browser selects the first. */
function isOtherChoice({ options, multiple, selectedIndex }: HTMLSelectElement): boolean {
  const asSent = [...options].map(({ defaultSelected }) => defaultSelected)
  if (!multiple && !asSent.includes(true)) return selectedIndex > 0
  return [...options].some(({ selected }, index) => selected !== asSent[index])
}

/**
 * Shows times in the reader's zone, and also in the organization's if they differ: without the date on the same day.
 */
function setReaderTimes(root: Document): void {
  const timeZone = body.dataset['timeZone'] ?? 'UTC'
  const time = { dateStyle: 'medium', timeStyle: 'short' } as const
  const own = new Intl.DateTimeFormat(undefined, time)
  const theirs = new Intl.DateTimeFormat(undefined, { ...time, timeZone })
  const ownDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
  const theirDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone })
  for (const element of root.querySelectorAll('time')) {
    const at = new Date(element.dateTime)
    // Zones with different names may have the same time, all year or for a part of it.
    if (own.format(at) === theirs.format(at)) continue
    const sent = element.textContent ?? ''
    const beside = ownDay.format(at) === theirDay.format(at) ? sent.replace(/^.*, /, '') : sent
    element.textContent = `${own.format(at)} (${beside})`
  }
}

function onState(state: 'live' | 'lost'): void {
  // Without a session, the connection is closed after it opens.
  if (!hasEnded()) showState(state)
  // Shows whether the session has ended, or started again.
  if (state === 'lost' || hasEnded()) void refresh().then(() => hasEnded() || showState(state))
}

const hasEnded = () => document.querySelector('#ended') !== null

/** Shows that the session has ended. The input stays on the page, because the sign-in opens in another tab. */
function showEnd(): void {
  if (hasEnded()) return
  const isTyped = isTypedPage || [...document.querySelectorAll<HTMLFormElement>('main form')].some(isTouched)
  const notice = document.createElement('p')
  notice.id = 'ended'
  notice.role = 'alert'
  const link = document.createElement('a')
  link.href = `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`
  link.textContent = isTyped ? 'Sign in on a new tab' : 'Sign in'
  if (isTyped) link.target = '_blank'
  const why = isTyped ? 'Your session has ended. What you typed stays here. ' : 'Your session has ended. '
  // The first link of a page skips to its content.
  if (body.firstElementChild) body.firstElementChild.after(notice)
  notice.append(why, link)
  const state = document.querySelector<HTMLElement>('#live')
  if (state) {
    state.dataset['state'] = 'lost'
    state.textContent = 'Signed out'
  }
}

function showState(state: 'live' | 'lost'): void {
  const element = document.querySelector<HTMLElement>('#live')
  if (!element) return
  element.dataset['state'] = state
  element.textContent = state === 'live' ? 'Live' : 'Reconnecting'
}
