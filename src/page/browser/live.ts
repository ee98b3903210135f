// Keeps a status page true while it is open. The server tells over a websocket that something has changed; what the page
// shows then is asked for as the page itself, and put in place of what has changed. Where there is no websocket, the page
// is asked for every few seconds: an answer without news is a 304.

import { follow } from './follow.ts'
import { morph, untilRest } from './morph.ts'

/** Milliseconds between two looks at the page while no websocket is open. */
const POLL = 10_000
/** The longest wait, in milliseconds, before asking for the page: spreads the readers of one page over that time. */
const SPREAD = 250
/** The longest wait before asking again for a page that was older than the event that announced it. */
const LONGEST_RETRY = 5000

const body = document.body
const slug = body.dataset['slug'] ?? ''
let connected = false
/** The newest position that the page is known to have reached, wherever it is served. */
let wanted = cursor()
let refreshing: Promise<void> | null = null
/** When the page was last known to be true. */
let trueAt = new Date()

tellReadersTime(document)
showState()
follow(slug, {
  after: cursor,
  onConnected() {
    connected = true
    showState()
  },
  onEvent(event) {
    trueAt = new Date()
    if (event.kind === 'RELOAD') return location.reload()
    if (isLater(event.cursor, wanted)) wanted = event.cursor
    setTimeout(() => void refresh(), Math.random() * SPREAD)
  },
  onAlive() {
    trueAt = new Date()
  },
  onLost() {
    connected = false
    showState()
  },
})
setInterval(() => {
  if (!connected && document.visibilityState === 'visible') void refresh()
}, POLL)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void refresh()
})

/** Brings the page up to date; calls while it does so are one. */
function refresh(): Promise<void> {
  refreshing ??= catchUp().finally(() => {
    refreshing = null
    showState()
  })
  return refreshing
}

async function catchUp(): Promise<void> {
  for (let pause = SPREAD; ; pause = Math.min(2 * pause, LONGEST_RETRY)) {
    const answered = await fetchPage()
    if (!isLater(wanted, cursor()) || !(answered || connected)) return
    // The answer may come from another instance, which has not heard of the event yet.
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** Asks for the page and shows it; false when there was no answer. */
async function fetchPage(): Promise<boolean> {
  const asked = new Date()
  try {
    const response = await fetch(location.href, { cache: 'no-cache', headers: { accept: 'text/html' } })
    if (response.status === 404) {
      location.reload()
      return false
    }
    // What the service has no newer word of than this page may have itself.
    if (!response.ok || response.headers.has('warning')) return false
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    await untilRest()
    show(fresh)
    trueAt = asked
    return true
  } catch {
    return false
  }
}

function show(fresh: Document) {
  // Another colour, logo or version of the service: its style sheets and policy come with the page only.
  if (fresh.body.dataset['build'] !== body.dataset['build']) return location.reload()
  // An answer that was on its way for longer than the one shown.
  if (isLater(cursor(), fresh.body.dataset['cursor'] ?? '')) return
  tellReadersTime(fresh)
  const before = said()
  document.title = fresh.title
  morph(body, fresh.body)
  announce(before)
}

/** What the page says aloud about each of its parts. */
function said(): Map<string, string> {
  const parts = document.querySelectorAll<HTMLElement>('[data-says]')
  return new Map(Array.from(parts, (part) => [part.id, part.dataset['says'] ?? '']))
}

/** Has a screen reader say what is new, when it is done with what it says now. */
function announce(before: Map<string, string>) {
  const news = [...said()].filter(([id, text]) => before.get(id) !== text).map(([, text]) => text)
  if (news.length > 0) write('#announcer', news.join(' '))
}

function showState() {
  const time = trueAt.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  const reached = !isLater(wanted, cursor())
  const state = connected && reached ? 'live' : Date.now() - trueAt.getTime() < 2 * POLL ? 'polling' : 'lost'
  const words = { live: 'Live', polling: `Up to date at ${time}`, lost: `Reconnecting. This was true at ${time}` }
  const element = document.querySelector<HTMLElement>('#live')
  if (!element) return
  element.dataset['state'] = state
  write('#live', words[state])
}

function tellReadersTime(root: Document) {
  for (const time of root.querySelectorAll('time')) {
    time.title = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })
  }
}

function cursor(): string {
  return body.dataset['cursor'] ?? ''
}

/** Cursors of one log are numbers in base 36. */
function isLater(one: string, other: string): boolean {
  return Number.parseInt(one, 36) > Number.parseInt(other, 36)
}

function write(selector: string, text: string) {
  const element = document.querySelector(selector)
  if (element && element.textContent !== text) element.textContent = text
}
