// Keeps an open status page up to date. The server announces events over a WebSocket, with their changes. If a change
// is large or for another version, and on pages other than the overview, the script fetches the changes since the
// page's version. Without a WebSocket, it polls every few seconds: no change is a 204.

import { openDays, refreshOpenDay } from './day-details.ts'
import type { Patch } from './event-subscription.ts'
import { subscribeToEvents } from './event-subscription.ts'
import { animationsFinished, morph } from './morph.ts'
import { applyFilter, filterServices, rememberFolds } from './service-list.ts'
import { keepTimes } from './times.ts'

/** The mean interval between two polls while no WebSocket is open; each varies by a quarter. */
const POLL_INTERVAL_MS = 10_000
/** The maximum age of a current answer: caches may keep a page for as long as nothing changes, at most a minute. */
const MAX_ANSWER_AGE_MS = 90_000
/** The maximum random delay before a fetch, which spreads the readers of one page. */
const MAX_JITTER_MS = 250
/** The maximum delay before another fetch if a page is older than the event that announced it. */
const MAX_RETRY_DELAY_MS = 5000

/** How long the server may be silent before the connection counts as lost; the page pings it every 3 s. */
const MAX_SILENCE_MS = 5000

const body = document.body
const slug = body.dataset['slug'] ?? ''
let connected = false
/** The newest position that the log is known to have reached on any instance. */
let latestCursor = cursor()
/** The newest position for which an answer confirmed that the page is up to date: not every event changes it. */
let confirmedCursor = cursor()
/** Resolves when the received patches are applied. */
let patching: Promise<void> = Promise.resolve()
let refreshing: Promise<void> | null = null
/** Whether the last request got no answer in time. */
let failing = false
/** When the server last sent something over the WebSocket. */
let lastSignAt = Date.now()
/**
 * When the page was last known to be up to date. A cache may have sent an old page because the service does not answer.
 */
let upToDateAt = timeOfAnswer(new Date(), Date.now() - Date.parse(document.lastModified))

const [, , , , ownTime = '', soFar = '', underAMinute = '', zone = 'UTC'] = words()
const times = keepTimes({ locale: language(), zone, ownTime, soFar, underAMinute }, () =>
  isLost() ? upToDateAt : new Date(),
)
rememberFolds(slug)
filterServices()
openDays(times.write)
showState()
subscribeToEvents(slug, {
  after: cursor,
  onConnected() {
    connected = true
    showState()
  },
  onEvent(event) {
    upToDateAt = new Date()
    if (event.isReload) return location.reload()
    if (isLater(event.cursor, latestCursor)) latestCursor = event.cursor
    void receive(event.patch ?? null)
  },
  onAlive() {
    upToDateAt = new Date()
    lastSignAt = Date.now()
  },
  onDisconnected() {
    connected = false
    // Reports whether the server can be reached at all.
    setTimeout(() => isVisible() && void refresh(), Math.random() * MAX_JITTER_MS)
  },
})
poll()
setInterval(showState, 1000)
for (const event of ['online', 'offline']) addEventListener(event, showState)
document.addEventListener('visibilitychange', () => {
  if (!isVisible()) return
  // A page in the background pings less often.
  lastSignAt = Date.now()
  void refresh()
})

function poll(): void {
  setTimeout(
    () => {
      if (!connected && isVisible()) void refresh()
      poll()
    },
    POLL_INTERVAL_MS * (0.75 + Math.random() / 2),
  )
}

/** Shows the change of an event, after those of earlier ones; fetches it if necessary. */
async function receive(patch: Patch | null): Promise<void> {
  // A patch that cannot be applied is replaced by the fetch below.
  if (patch) patching = patching.then(() => apply(patch)).catch(() => {})
  await patching
  showState()
  if (isBehind()) setTimeout(() => isBehind() && void refresh(), Math.random() * MAX_JITTER_MS)
}

async function apply({ since, html }: Patch): Promise<void> {
  const fits = () => since.includes(body.dataset['parts'] ?? '')
  if (!fits()) return
  const zipped = Uint8Array.from(atob(html), (character) => character.charCodeAt(0))
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('deflate'))
  const fresh = new DOMParser().parseFromString(await new Response(stream).text(), 'text/html')
  await animationsFinished()
  // A fetch may have changed the page meanwhile.
  if (fits()) show(fresh)
}

/** Whether the log has reached a position that the page may not show yet. */
function isBehind(): boolean {
  return isLater(latestCursor, cursor()) && isLater(latestCursor, confirmedCursor)
}

/** Brings the page up to date. Concurrent calls share one refresh. */
function refresh(): Promise<void> {
  refreshing ??= catchUp().finally(() => {
    refreshing = null
    showState()
  })
  return refreshing
}

async function catchUp(): Promise<void> {
  for (let delay = MAX_JITTER_MS; ; delay = Math.min(2 * delay, MAX_RETRY_DELAY_MS)) {
    const answered = await fetchPage()
    if (!isBehind() || !(answered || connected)) return
    // Another instance may have answered that has not received the event yet.
    await new Promise((resolve) => setTimeout(resolve, delay))
  }
}

/** Fetches and shows the page. Returns false if there was no answer. */
async function fetchPage(): Promise<boolean> {
  const requestedAt = new Date()
  const version = body.dataset['version']
  const timeout = setTimeout(() => {
    failing = true
  }, MAX_SILENCE_MS - 1000)
  try {
    const response = await fetch(changesAddress(), { cache: 'no-cache', headers: { accept: 'text/html' } })
    // The page is gone, or this reader has lost access.
    if (response.status === 404 || response.status === 401) {
      location.reload()
      return false
    }
    failing = !response.ok
    // A stale page may be older than the one on screen.
    if (failing || response.headers.has('warning')) return false
    upToDateAt = timeOfAnswer(requestedAt, timeIn(response, 'date') - timeIn(response, 'last-modified'))
    const fresh = response.status === 204 ? null : new DOMParser().parseFromString(await response.text(), 'text/html')
    await animationsFinished()
    // A patch changed the page meanwhile, and the answer is for the previous version.
    if (body.dataset['version'] !== version) return true
    if (fresh) show(fresh)
    const position = response.headers.get('page-position') ?? ''
    if (isLater(position, confirmedCursor)) confirmedCursor = position
    return true
  } catch {
    failing = true
    return false
  } finally {
    clearTimeout(timeout)
  }
}

/**
 * Returns the address of the changes since the page's version. The position of an announced event makes it unique, so
 * that no cache sends an answer from before the event.
 */
function changesAddress(): URL {
  const address = new URL(location.href)
  address.hash = ''
  address.searchParams.set('since', body.dataset['version'] ?? '')
  if (isBehind()) address.searchParams.set('at', latestCursor)
  return address
}

/** Returns the time at which an answer was up to date. @param age in milliseconds. */
function timeOfAnswer(requestedAt: Date, age: number): Date {
  return age > MAX_ANSWER_AGE_MS ? new Date(requestedAt.getTime() - age) : requestedAt
}

const timeIn = ({ headers }: Response, name: string) => Date.parse(headers.get(name) ?? '')

/** Replaces the placeholders of unchanged parts with the page's own parts. */
function restoreUnchanged(fresh: Document) {
  const parts = [...document.querySelectorAll('[data-part]')]
  for (const place of fresh.querySelectorAll<HTMLTemplateElement>('template[data-same]')) {
    const [first = 0, last = first] = (place.dataset['same'] ?? '').split(' ').map(Number)
    place.replaceWith(...parts.slice(first, last + 1).map((part) => part.cloneNode(true)))
  }
}

function show(fresh: Document) {
  // A new colour, logo or version of the service changes style sheets and policy, which requires a reload.
  if (fresh.body.dataset['build'] !== body.dataset['build']) return location.reload()
  // A newer answer arrived first.
  if (isLater(cursor(), fresh.body.dataset['cursor'] ?? '')) return
  restoreUnchanged(fresh)
  times.write(fresh)
  const before = readAnnouncements()
  document.title = fresh.title
  morph(body, fresh.body)
  applyFilter()
  announce(before)
  void refreshOpenDay(cursor(), times.write)
}

/** Returns the text that screen readers announce for each part of the page, by element id. */
function readAnnouncements(): Map<string, string> {
  const parts = document.querySelectorAll<HTMLElement>('[data-announce]')
  return new Map(Array.from(parts, (part) => [part.id, part.dataset['announce'] ?? '']))
}

/** Announces changed parts to screen readers. */
function announce(before: Map<string, string>) {
  const changed = [...readAnnouncements()].filter(([id, text]) => before.get(id) !== text).map(([, text]) => text)
  if (changed.length > 0) setText('#announcer', changed.join(' '))
}

function showState() {
  const time = upToDateAt.toLocaleTimeString(language(), { hour: '2-digit', minute: '2-digit' })
  const state = isLost() ? 'lost' : connected && !isBehind() ? 'live' : 'polling'
  const [live = '', polling = '', old = '', lost = ''] = words().map((text) => text.replace('{time}', time))
  const labels = { live, polling, lost: old }
  const element = document.querySelector<HTMLElement>('#live')
  if (!element) return
  element.dataset['state'] = state
  setText('#live', labels[state])
  showLoss(state === 'lost' ? lost : null)
}

/** Returns the words of the page’s language for its state. */
function words(): readonly string[] {
  return JSON.parse(document.querySelector<HTMLElement>('#announcer')?.dataset['words'] ?? '[]')
}

/**
 * Returns the reader’s variant of the page’s language. A function declaration, because it is called before this line
 * runs.
 */
function language(): string {
  const { lang } = document.documentElement
  return navigator.languages.find((own) => own.split('-')[0] === lang) ?? lang
}

function isLost(): boolean {
  if (!navigator.onLine) return true
  if (connected) return isVisible() && Date.now() - lastSignAt > MAX_SILENCE_MS
  return failing || Date.now() - upToDateAt.getTime() > 2 * POLL_INTERVAL_MS
}

/** Shows a notice over the page that it may be outdated; null: hides the notice. */
function showLoss(text: string | null) {
  const shown = document.querySelector('#lost')
  if (text === null) return shown?.remove()
  if (shown) return setText('#lost', text)
  const notice = document.createElement('p')
  notice.id = 'lost'
  notice.textContent = text
  body.append(notice)
  setText('#announcer', text)
}

const isVisible = () => document.visibilityState === 'visible'

function cursor(): string {
  return body.dataset['cursor'] ?? ''
}

/** Compares two cursors of one log, which are numbers in base 36. */
function isLater(one: string, other: string): boolean {
  return Number.parseInt(one, 36) > Number.parseInt(other, 36)
}

function setText(selector: string, text: string) {
  const element = document.querySelector(selector)
  if (element && element.textContent !== text) element.textContent = text
}
