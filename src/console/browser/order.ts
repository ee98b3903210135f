// Makes the rows of a list draggable by their handles, and movable by the arrow keys. The form around the list sends
// the new order. Without this script the list has buttons that move a row by one position.

/** The original position of a dragged row; null: none is dragged. */
let dragged: { readonly row: HTMLElement; readonly before: Element | null } | null = null
let sending: Promise<void> = Promise.resolve()

/**
 * Adds the handlers.
 * @param onRefused called when an order was not accepted.
 */
export function enableOrder(onRefused: () => void): void {
  document.documentElement.classList.add('scripted')
  document.addEventListener('pointerdown', (event) => {
    const handle = handleOf(event)
    const row = handle?.closest('li')
    if (!handle || !row || event.button !== 0) return
    event.preventDefault()
    handle.focus()
    handle.setPointerCapture(event.pointerId)
    dragged = { row, before: row.nextElementSibling }
    hold(row)
  })
  document.addEventListener('pointermove', ({ clientY }) => {
    if (dragged) dragTo(dragged.row, clientY)
  })
  document.addEventListener('pointerup', () => drop(onRefused))
  document.addEventListener('pointercancel', () => {
    if (dragged) dragged.row.parentElement?.insertBefore(dragged.row, dragged.before)
    drop(onRefused)
  })
  document.addEventListener('keydown', (event) => {
    const handle = handleOf(event)
    const row = handle?.closest('li')
    if (!handle || !row || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
    event.preventDefault()
    hold(row)
    moveByKey(row, event.key)
    handle.focus()
    send(row, onRefused)
  })
}

function handleOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('.handle') : null
}

/** Live changes do not touch the list until the new order was sent. */
function hold(row: HTMLElement): void {
  row.classList.add('moving')
  row.closest('form')?.setAttribute('data-keep', 'moving')
}

function dragTo(row: HTMLElement, y: number): void {
  const others = [...(row.parentElement?.children ?? [])].filter((each) => each !== row)
  const after = others.find((each) => {
    const { top, height } = each.getBoundingClientRect()
    return y < top + height / 2
  })
  if ((after ?? null) !== row.nextElementSibling) row.parentElement?.insertBefore(row, after ?? null)
}

function moveByKey(row: HTMLElement, key: 'ArrowUp' | 'ArrowDown'): void {
  const neighbour = key === 'ArrowUp' ? row.previousElementSibling : row.nextElementSibling
  if (key === 'ArrowUp') neighbour?.before(row)
  else neighbour?.after(row)
}

function drop(onRefused: () => void): void {
  if (!dragged) return
  const { row, before } = dragged
  dragged = null
  if (row.nextElementSibling === before) release(row)
  else send(row, onRefused)
}

function release(row: HTMLElement): void {
  row.classList.remove('moving')
  row.closest('form')?.removeAttribute('data-keep')
}

/** Sends the current order; orders are sent one after another. */
function send(row: HTMLElement, onRefused: () => void): void {
  const form = row.closest('form')
  if (!form) return
  const request = { method: 'POST', body: new FormData(form), redirect: 'manual' } as const
  announce(row)
  sending = sending.then(async () => {
    try {
      const { type } = await fetch(form.action, request)
      if (type !== 'opaqueredirect') onRefused()
    } catch {
      onRefused()
    } finally {
      release(row)
    }
  })
}

function announce(row: HTMLElement): void {
  const announcer = document.getElementById('announcer')
  const rows = [...(row.parentElement?.children ?? [])]
  if (announcer) announcer.textContent = `Position ${rows.indexOf(row) + 1} of ${rows.length}`
}
