import { SECOND } from '../../core/time.ts'

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Formats milliseconds as their two largest units: `12 minutes`, `1 hour 5 minutes`. */
export function durationInWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / SECOND))
  const largest = units.findIndex(([, size]) => seconds >= size)
  if (largest === -1) return '0 seconds'
  let rest = seconds
  const words = units.slice(largest, largest + 2).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`
  })
  return words.filter((word) => word !== '').join(' ')
}
