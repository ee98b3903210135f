// Opens the details of a day over the page: by clicking or touching its stroke, or with the keyboard. In a list of
// links, the arrow keys move between strokes; on the line of a service they select a stroke of its bar, and Enter opens
// it.

import { morph } from './morph.ts'

const DAY_MS = 86_400_000
/** The width of a stroke with its gap, in the units of the bar. */
const STEP = 4

interface Choice {
  readonly bar: SVGSVGElement
  readonly index: number
}

/** The stroke of the focused line that the keyboard has selected; null: none. */
let choice: Choice | null = null
/** The number of requests: only the newest answer is shown. */
let requests = 0
/** The address of the open day; null: none. */
let openAddress: string | null = null

/**
 * Updates an open day.
 * @param position the position of the event that changed the page. It makes the address unique, so that no cache sends
 * an answer from before the event.
 */
export async function refreshOpenDay(position: string, onShown: (root: ParentNode) => void): Promise<void> {
  const dialog = document.querySelector<HTMLDialogElement>('#day-details')
  const address = openAddress
  if (!dialog?.open || address === null) return
  const own = requests
  try {
    const section = await fetchDay(`${address}&at=${encodeURIComponent(position)}`)
    const place = dialog.querySelector('div')
    if (own !== requests || !section || !place) return
    onShown(section)
    const fresh = document.createElement('div')
    fresh.append(...section.childNodes)
    // Keeps the focus and the scroll position.
    morph(place, fresh)
  } catch {
    // The page says that the connection is lost.
  }
}

async function fetchDay(address: string): Promise<Element | null> {
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  return new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('#day')
}

/** @param onShown is called with the shown dialog. */
export function openDays(onShown: (root: ParentNode) => void): void {
  const dialog = document.querySelector<HTMLDialogElement>('#day-details')
  if (!dialog?.showModal) return
  document.addEventListener('click', (event) => {
    const { target } = event
    if (!(target instanceof Element) || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return
    if (target === dialog || target.closest('[data-close]')) return dialog.close()
    const bar = target.closest('.services .days')
    const address = bar instanceof SVGSVGElement ? addressAt(choiceAt(bar, event.clientX)) : null
    const link = address ?? target.closest('a[data-day]')?.getAttribute('href')
    if (!link) return
    event.preventDefault()
    void show(dialog, link, onShown)
  })
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return
    const address = event.key === 'Enter' && choice !== null ? addressAt(choice) : null
    if (address !== null) void show(dialog, address, onShown)
    else if (!moveTo(event.target, event.key)) return
    event.preventDefault()
  })
  document.addEventListener('focusout', () => choose(null))
  document.addEventListener('pointermove', ({ target, clientX }) => {
    const bar = target instanceof Element ? target.closest('.services .days') : null
    if (bar instanceof SVGSVGElement) nameUnderPointer(choiceAt(bar, clientX))
  })
}

/** Returns the stroke at a horizontal position of the screen. */
function choiceAt(bar: SVGSVGElement, x: number): Choice {
  const { left, width } = bar.getBoundingClientRect()
  const index = Math.floor(((x - left) / width) * countOf(bar))
  return { bar, index: Math.min(Math.max(index, 0), countOf(bar) - 1) }
}

const countOf = (bar: SVGSVGElement) => Math.round((bar.viewBox.baseVal.width + 1) / STEP)

/** Shows the name of a stroke where the pointer rests. */
function nameUnderPointer({ bar, index }: Choice): void {
  const stroke = strokeAt({ bar, index })
  if (!stroke) return
  const added = () => bar.insertBefore(document.createElementNS('http://www.w3.org/2000/svg', 'title'), bar.firstChild)
  const title: Element = bar.querySelector('title') ?? added()
  if (title.textContent !== stroke.name) title.textContent = stroke.name
}

/** The meaning of a stroke: the query of its details, and its name. */
interface Stroke {
  readonly query: string
  readonly name: string
}

/** Returns null if the page does not describe a stroke. Strokes are days up to today by default. */
function strokeAt({ bar, index }: Choice): Stroke | null {
  const list = document.querySelector<HTMLElement>('[data-today]')?.dataset
  const text = list?.['strokes']?.split('\n').at(index - countOf(bar))
  if (text !== undefined) {
    const end = text.indexOf(' ')
    return { query: text.slice(0, end), name: text.slice(end + 1) }
  }
  if (list?.['today'] === undefined) return null
  const day = new Date(Date.parse(list['today']) - (countOf(bar) - 1 - index) * DAY_MS)
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'full', timeZone: 'UTC' })
  return { query: `?day=${day.toISOString().slice(0, 10)}`, name: format.format(day) }
}

function addressAt(chosen: Choice): string | null {
  const page = chosen.bar.closest('li')?.querySelector('a.days-link')?.getAttribute('href')
  const stroke = strokeAt(chosen)
  return page && stroke ? page.replace(/\?.*/, '') + stroke.query : null
}

/** Moves to another stroke. Returns false for other keys, and where there is no bar. */
function moveTo(from: Element, key: string): boolean {
  const place = { ArrowLeft: -1, ArrowRight: 1, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY }[key]
  if (place === undefined) return false
  const bar = from.closest('.bars') ?? from.closest('.services .line')?.querySelector('.days')
  if (!bar) return false
  const links = [...bar.querySelectorAll<SVGAElement>('a[data-day]')]
  const isList = links.length > 0
  const count = isList ? links.length : bar instanceof SVGSVGElement ? countOf(bar) : 0
  const at = isList ? links.findIndex((link) => link.contains(from)) : (choice?.index ?? count)
  const index = Math.min(Math.max(at + place, 0), count - 1)
  if (!isList) {
    if (bar instanceof SVGSVGElement) choose({ bar, index })
    return true
  }
  for (const [each, link] of links.entries()) link.setAttribute('tabindex', each === index ? '0' : '-1')
  links[index]?.focus()
  return true
}

/** Marks a stroke as selected, and announces its day. */
function choose(chosen: Choice | null): void {
  for (const mark of document.querySelectorAll('.days .chosen')) mark.remove()
  choice = chosen
  if (chosen === null) return
  const mark = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  for (const [name, value] of Object.entries({
    class: 'chosen',
    x: chosen.index * STEP - 0.5,
    width: STEP,
    height: 40,
  })) {
    mark.setAttribute(name, String(value))
  }
  chosen.bar.append(mark)
  // A narrow screen shows the newest days first.
  mark.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  const stroke = strokeAt(chosen)
  const announcer = document.querySelector('#announcer')
  if (announcer && stroke) announcer.textContent = stroke.name
}

async function show(dialog: HTMLDialogElement, address: string, onShown: (root: ParentNode) => void): Promise<void> {
  requests += 1
  const own = requests
  const place = dialog.querySelector('div')
  dialog.setAttribute('aria-busy', 'true')
  if (!dialog.open) {
    place?.replaceChildren()
    dialog.showModal()
  }
  try {
    const section = await fetchDay(address)
    if (own !== requests || !dialog.open) return
    if (!section || !place) throw new Error('There is no such day.')
    onShown(section)
    place.replaceChildren(...section.childNodes)
    openAddress = address
    dialog.scrollTop = 0
    dialog.querySelector('.whole')?.setAttribute('href', address)
    dialog.removeAttribute('aria-busy')
  } catch {
    if (own === requests) location.assign(address)
  }
}
