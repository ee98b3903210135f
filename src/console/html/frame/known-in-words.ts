import type { Knowledge } from '../../../status/service/what-is-known.ts'

/** Returns what is known in one sentence; null: nothing is watched, or each problem is listed. */
export function knownInWords({ kind, all, waiting, silent, unstated }: Knowledge): string | null {
  switch (kind) {
    case 'OPERATIONAL':
      return 'Everything is operational.'
    case 'WAITING':
      return `No problem is known, but ${waiting === all ? 'all' : `${waiting} of ${all}`} services and monitors wait for a first result.`
    case 'UNSTATED':
      return `No problem is known, but ${unstated} of ${all} services and monitors have no status yet.`
    case 'NO_DATA':
      return `No problem is known, but ${silent} of ${all} services and monitors have no data.`
    case 'MAINTENANCE':
      return 'Apart from maintenance, everything is operational.'
    case 'NOTHING':
    case 'PROBLEM':
      return null
  }
}
