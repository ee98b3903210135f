// Shows recent times as “58 minutes ago”, and growing durations as “1 h 12 min so far”. A cached page may be read
// later, so the server renders absolute times, which this script converts as long as the page is open. When the reader
// points at a time, focuses or touches it, a tooltip shows the time in the zones of the page and of the reader.

import type { Formats } from '../../language/formats.ts'
import { formatsOf } from '../../language/formats.ts'

const DAY_MS = 86_400_000
const UPDATE_INTERVAL_MS = 10_000

/** The formats for the times of a page. */
interface TimeWords {
  /** The locale of the page’s language that the reader prefers. */
  readonly locale: string
  /** The time zone of the page. */
  readonly zone: string
  /** Texts in which `{time}` stands for a time, and for a duration. */
  readonly ownTime: string
  readonly soFar: string
  readonly underAMinute: string
}

/** Writes the times of documents. */
export interface Times {
  /** Formats the times of a document, or a part of it, as of now. Call it for all new content before it is shown. */
  write(root: ParentNode): void
}

/**
 * Keeps the times of the page current, and shows tooltips.
 * @param knownUntil the time until which the page is known to be up to date: a growing duration is only known up to
 * then.
 */
export function keepTimes(words: TimeWords, knownUntil: () => Date): Times {
  const formats = formatsOf(words.locale)
  const tips = tipsOf(words, formats)

  function writeAge(time: HTMLTimeElement): void {
    time.dataset['at'] ??= time.textContent ?? ''
    const age = Date.now() - Date.parse(time.dateTime)
    setText(time, age < DAY_MS ? formats.ago(age) : time.dataset['at'])
  }

  function writeLength(part: HTMLElement): void {
    const length = knownUntil().getTime() - Date.parse(part.dataset['since'] ?? '')
    setText(part, words.soFar.replace('{time}', formats.duration(length) ?? words.underAMinute))
  }

  function write(root: ParentNode): void {
    for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-ago]')) writeAge(time)
    for (const part of root.querySelectorAll<HTMLElement>('[data-since]')) writeLength(part)
    for (const time of root.querySelectorAll('time')) if (time.tabIndex < 0 && tips.has(time)) time.tabIndex = 0
    // New content may replace the time that the tooltip is about.
    if (root !== document) tips.hide()
  }

  write(document)
  setInterval(() => write(document), UPDATE_INTERVAL_MS)
  document.addEventListener('visibilitychange', () => write(document))
  // Printed durations do not grow.
  addEventListener('beforeprint', () => {
    for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-at]')) {
      setText(time, time.dataset['at'] ?? '')
    }
  })
  addEventListener('afterprint', () => write(document))
  tips.follow()
  return { write }
}

/** Creates the tooltips of times. */
function tipsOf(words: TimeWords, formats: Formats<'other'>) {
  const options = {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  } as const
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [onPage, here] = [formats.date(words.zone, options), formats.date(own, options)]
  const { timeZoneName: _, ...clock } = options
  const [pagesClock, readersClock] = [formats.date(words.zone, clock), formats.date(own, clock)]
  const isElsewhere = (at: Date) => pagesClock(at) !== readersClock(at)

  const tip = document.createElement('span')
  tip.id = 'time-tip'
  tip.role = 'tooltip'
  tip.popover = 'manual'
  let shown: Element | null = null

  function show(time: HTMLTimeElement): void {
    if (shown === time || !has(time)) return
    hide()
    const at = new Date(time.dateTime)
    const lines = [onPage(at), ...(isElsewhere(at) ? [words.ownTime.replace('{time}', here(at))] : [])]
    tip.replaceChildren(
      ...lines.map((line) => Object.assign(document.createElement('span'), { textContent: line, dir: 'auto' })),
    )
    document.body.append(tip)
    shown = time
    time.setAttribute('aria-describedby', tip.id)
    tip.showPopover()
    place(tip, time.getBoundingClientRect())
  }

  function hide(): void {
    shown?.removeAttribute('aria-describedby')
    shown = null
    tip.remove()
  }

  const timeOf = ({ target }: Event) => (target instanceof Element ? target.closest('time') : null)
  /** Whether a tooltip shows more than the time itself. */
  const has = (time: HTMLTimeElement) => time.dataset['at'] !== undefined || isElsewhere(new Date(time.dateTime))

  return {
    has,
    hide,
    /** Shows and hides them as the reader points, focuses and touches. */
    follow() {
      for (const name of ['pointerover', 'focusin', 'click']) {
        document.addEventListener(name, (event) => {
          const time = timeOf(event)
          if (time) show(time)
          else if (!(event.target instanceof Node && tip.contains(event.target))) hide()
        })
      }
      document.addEventListener('focusout', hide)
      document.addEventListener('keydown', ({ key }) => {
        if (key === 'Escape') hide()
      })
      // The focus may have scrolled the page.
      addEventListener('scroll', () => shown && place(tip, shown.getBoundingClientRect()), {
        capture: true,
        passive: true,
      })
    },
  }
}

/** Places a tooltip under a time, or above it at the end of the window, within the window. */
function place(tip: HTMLElement, { left, top, bottom }: DOMRect): void {
  const { width, height } = tip.getBoundingClientRect()
  const { clientWidth, clientHeight } = document.documentElement
  tip.style.left = `${Math.max(8, Math.min(left, clientWidth - width - 8))}px`
  tip.style.top = `${bottom + height > clientHeight ? top - height : bottom}px`
}

function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
