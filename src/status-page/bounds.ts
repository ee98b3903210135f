import type { TimelineBounds } from '../status/timeline/timeline-reader.ts'

/**
 * The size limits of each document besides those of the page's state, so that rendering one delays no other request:
 * updates, bytes of their texts, services. Pages link to what they leave out; documents for programs leave out the
 * oldest updates of very long timelines.
 */
export const bounds = {
  /** Listed days with outages or incidents: in total, the minimum per service, and the incidents per day. */
  eventful: { days: 300, daysPerService: 4, incidents: 3 },
  incident: { form: 'HTML', updates: 50, bytes: 400_000, services: 200 },
  maintenance: { form: 'HTML', updates: 50, bytes: 400_000, services: 200 },
  history: {
    incidents: { form: 'HTML', updates: 1, bytes: 300_000, services: 50 },
    maintenances: { form: 'HTML', updates: 20, bytes: 300_000, services: 50 },
  },
  /** The newest `whole` entries have timelines; the others have a title and a link. */
  feed: {
    entries: 50,
    whole: 25,
    postmortems: 200_000,
    timeline: { form: 'HTML', updates: 20, bytes: 300_000, services: 50 },
  },
  calendar: { entries: 100, timeline: { form: 'HTML', updates: 5, bytes: 300_000, services: 50 } },
  /**
   * The newest update of each of fifty incidents fits into `bytes` at any length. Each incident names at least
   * `timeline.services` services.
   */
  statuspage: {
    entries: 50,
    services: 1000,
    timeline: { form: 'MARKDOWN', updates: 25, bytes: 2_000_000, services: 25, bytesPerService: 150 },
  },
} as const satisfies Record<string, Bounds>

type Bounds =
  | TimelineBounds
  | { readonly [name: string]: number | Partial<TimelineBounds> | Readonly<Record<string, number>> }
