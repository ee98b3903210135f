// Patches a document to match another one and leaves equal parts alone, so that scroll position, focus and opened
// sections stay. Elements with the same id correspond to each other wherever they are. An element with `data-keep` is
// never changed; with `data-keep="always"` it stays although the other document lacks it.

const DURATION_MS = 300

/** A tab in the background draws no frames. */
const MAX_WAIT_MS = 2000

/** Resolves when a frame without the last moves has been drawn. */
let lastMoves: Promise<unknown> = Promise.resolve()

/**
 * Resolves when all moves have ended and the page has been drawn without them: a change before would make elements
 * jump.
 */
export async function animationsFinished(): Promise<void> {
  await Promise.race([lastMoves, new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))])
}

/** Patches `body` to match `fresh`. New elements fade in, and the elements that they displace slide. */
export function morph(body: HTMLElement, fresh: HTMLElement): void {
  const positions = measurePositions(body)
  const added: Element[] = []
  sync(body, fresh, added)
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const element of added) element.animate({ opacity: [0, 1] }, DURATION_MS)
  animateMoves(positions)
}

function sync(from: Element, to: Element, added: Element[]): void {
  if (from.isEqualNode(to) || from.hasAttribute('data-keep')) return
  syncAttributes(from, to)
  const kept = new Set(Array.from(to.children, ({ id }) => id))
  for (const child of [...from.children]) if (child.id && !kept.has(child.id) && !stays(child)) child.remove()
  let position = pastStaying(from.firstChild)
  for (const child of to.childNodes) {
    const same = counterpart(from, position, child)
    if (same !== position || same === null) from.insertBefore(same ?? importChild(child, added), position)
    if (same === null) continue
    update(same, child, added)
    position = pastStaying(same.nextSibling)
  }
  while (position) {
    const next: ChildNode | null = position.nextSibling
    position.remove()
    position = pastStaying(next)
  }
}

function stays(node: ChildNode): boolean {
  return node instanceof Element && node.getAttribute('data-keep') === 'always'
}

function pastStaying(node: ChildNode | null): ChildNode | null {
  let next = node
  while (next && stays(next)) next = next.nextSibling
  return next
}

function update(from: ChildNode, to: ChildNode, added: Element[]): void {
  if (from instanceof Element && to instanceof Element) sync(from, to, added)
  else if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue
}

function importChild(child: ChildNode, added: Element[]): ChildNode {
  const node = document.importNode(child, true)
  if (node instanceof Element) added.push(node)
  return node
}

function syncAttributes(from: Element, to: Element): void {
  // A section that the reader has opened or closed stays so until its status changes.
  const own = from.getAttribute('data-status') === to.getAttribute('data-status') ? 'open' : null
  for (const { name } of [...from.attributes]) if (name !== own && !to.hasAttribute(name)) from.removeAttribute(name)
  for (const { name, value } of to.attributes) {
    if (name !== own && from.getAttribute(name) !== value) from.setAttribute(name, value)
  }
}

/**
 * Returns the child of `from` that corresponds to `child`; null: none. `position` is the first child without a
 * counterpart.
 */
function counterpart(from: Element, position: ChildNode | null, child: ChildNode): ChildNode | null {
  if (!(child instanceof Element)) return position?.nodeType === child.nodeType ? position : null
  if (child.id) {
    const existing = document.getElementById(child.id)
    return existing?.parentNode === from && existing.tagName === child.tagName ? existing : null
  }
  return position instanceof Element && !position.id && position.tagName === child.tagName ? position : null
}

/** Measures the top of each element with an id, relative to the window. */
function measurePositions(root: Element): Map<Element, number> {
  return new Map(Array.from(root.querySelectorAll('[id]'), (part) => [part, part.getBoundingClientRect().top]))
}

/** Animates each moved element from its previous position. */
function animateMoves(before: Map<Element, number>): void {
  const moved = new Map<Element, number>()
  for (const [part, top] of before) if (part.isConnected) moved.set(part, top - part.getBoundingClientRect().top)
  const moves: Promise<unknown>[] = []
  for (const [part, distance] of moved) {
    const carried = moved.get(part.parentElement?.closest('[id]') ?? part.ownerDocument.documentElement) ?? 0
    const own = distance - carried
    if (Math.abs(own) < 1) continue
    const frames = { transform: [`translateY(${own}px)`, 'none'] }
    moves.push(part.animate(frames, { duration: DURATION_MS, easing: 'ease-out' }).finished)
  }
  // Animations end before their frame is drawn.
  if (moves.length > 0) lastMoves = Promise.allSettled(moves).then(nextFrame).then(nextFrame)
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
