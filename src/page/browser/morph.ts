// Makes a document show what another says with as few changes as there are differences, so that what the reader looks at,
// has opened or has focused stays. Parts with an id are the same part in both, wherever they stand.

const DURATION = 300

/** When all that slides has come to rest, in milliseconds of the page's life. */
let restsAt = 0

/** Resolves when nothing slides any more: a change on top of a slide would be a jump. */
export function untilRest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, restsAt - performance.now())))
}

/** Makes `body` say what `fresh` says: what is new fades in, and what has to make room for it slides. */
export function morph(body: HTMLElement, fresh: HTMLElement): void {
  const places = placesOf(body)
  const arrived: Element[] = []
  sync(body, fresh, arrived)
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const element of arrived) element.animate({ opacity: [0, 1] }, DURATION)
  slide(places)
}

function sync(from: Element, to: Element, arrived: Element[]): void {
  if (from.isEqualNode(to) || from.hasAttribute('data-keep')) return
  syncAttributes(from, to)
  const kept = new Set(Array.from(to.children, ({ id }) => id))
  for (const child of [...from.children]) if (child.id && !kept.has(child.id)) child.remove()
  let place = from.firstChild
  for (const child of to.childNodes) {
    const same = counterpart(from, place, child)
    if (same !== place || same === null) from.insertBefore(same ?? arrive(child, arrived), place)
    if (same === null) continue
    update(same, child, arrived)
    place = same.nextSibling
  }
  while (place) {
    const next = place.nextSibling
    place.remove()
    place = next
  }
}

function update(from: ChildNode, to: ChildNode, arrived: Element[]): void {
  if (from instanceof Element && to instanceof Element) sync(from, to, arrived)
  else if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue
}

function arrive(child: ChildNode, arrived: Element[]): ChildNode {
  const added = document.importNode(child, true)
  if (added instanceof Element) arrived.push(added)
  return added
}

function syncAttributes(from: Element, to: Element): void {
  // What the reader has folded stays so, unless how it is inside has changed.
  const own = from.getAttribute('data-status') === to.getAttribute('data-status') ? 'open' : null
  for (const { name } of [...from.attributes]) if (name !== own && !to.hasAttribute(name)) from.removeAttribute(name)
  for (const { name, value } of to.attributes) {
    if (name !== own && from.getAttribute(name) !== value) from.setAttribute(name, value)
  }
}

/** The child of `from` that `child` is the new state of; `place` is the first that has no counterpart yet. */
function counterpart(from: Element, place: ChildNode | null, child: ChildNode): ChildNode | null {
  if (!(child instanceof Element)) return place?.nodeType === child.nodeType ? place : null
  if (child.id) {
    const known = document.getElementById(child.id)
    return known?.parentNode === from && known.tagName === child.tagName ? known : null
  }
  return place instanceof Element && !place.id && place.tagName === child.tagName ? place : null
}

/** Where every part with an id stands in the window. */
function placesOf(root: Element): Map<Element, number> {
  return new Map(Array.from(root.querySelectorAll('[id]'), (part) => [part, part.getBoundingClientRect().top]))
}

/** Has every part that was moved slide from where it was. */
function slide(before: Map<Element, number>): void {
  const moved = new Map<Element, number>()
  for (const [part, top] of before) if (part.isConnected) moved.set(part, top - part.getBoundingClientRect().top)
  for (const [part, distance] of moved) {
    const carried = moved.get(part.parentElement?.closest('[id]') ?? part.ownerDocument.documentElement) ?? 0
    const own = distance - carried
    if (Math.abs(own) < 1) continue
    part.animate({ transform: [`translateY(${own}px)`, 'none'] }, { duration: DURATION, easing: 'ease-out' })
    // A frame may pass before it begins.
    restsAt = performance.now() + DURATION + 50
  }
}
