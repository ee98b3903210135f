import { movedByOne, placedWithin } from '../../../status/service/positions.ts'

/** Reads which button was pressed; an id of null: none. */
export function readMove(fields: URLSearchParams): readonly [id: string | null, direction: 'up' | 'down'] {
  const up = fields.get('up')
  return up === null ? [fields.get('down'), 'down'] : [up, 'up']
}

type Item = { readonly id: string }
const idsOf = (items: readonly Item[]) => items.map(({ id }) => id)

/**
 * Returns the ids of all items in the order of a form: a button moves one by one position among its siblings; without a
 * button, the form has some of them in their new order.
 */
export function newOrder(all: readonly Item[], siblings: readonly Item[], fields: URLSearchParams): string[] {
  const [id, direction] = readMove(fields)
  return id === null
    ? placedWithin(idsOf(all), fields.getAll('ids'))
    : movedByOne(idsOf(all), idsOf(siblings), id, direction)
}

interface OrderProps {
  readonly id: string
  readonly name: string
  readonly shown: boolean
}

/** The position of an item in its form, with a handle that the script shows. */
export function OrderField({ id, name, shown }: OrderProps) {
  if (!shown) return null
  return (
    <>
      <input type="hidden" name="ids" value={id} />
      <button type="button" class="handle" aria-label={`Move ${name}: drag, or use the arrow keys`}>
        ⠿
      </button>
    </>
  )
}

/** The buttons that move an item by one position. */
export function OrderButtons({ id, name, shown }: OrderProps) {
  if (!shown) return null
  return (
    <span class="order-buttons">
      <button type="submit" class="quiet" name="up" value={id} aria-label={`Move ${name} up`}>
        ↑
      </button>
      <button type="submit" class="quiet" name="down" value={id} aria-label={`Move ${name} down`}>
        ↓
      </button>
    </span>
  )
}
