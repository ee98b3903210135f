import type { StoryBounds } from '../status/story.ts'

/**
 * How much each document says at most, so that none keeps others waiting while it is made: entries, and the bytes of what
 * they say. What is left out is a link away, but for the first entries of endless timelines in documents for programs.
 */
export const bounds = {
  overview: {
    open: { form: 'HTML', updates: 5, bytes: 400_000, services: 50 },
    past: { form: 'HTML', updates: 1, bytes: 200_000, services: 50 },
    maintenances: { form: 'HTML', updates: 5, bytes: 200_000, services: 50 },
  },
  incident: { form: 'HTML', updates: 50, bytes: 400_000, services: 200 },
  history: {
    incidents: { form: 'HTML', updates: 1, bytes: 300_000, services: 50 },
    maintenances: { form: 'HTML', updates: 20, bytes: 300_000, services: 50 },
  },
  /** The newest `whole` entries have their timelines; the others are a title and a link. */
  feed: { entries: 50, whole: 25, story: { form: 'HTML', updates: 20, bytes: 300_000, services: 50 } },
  calendar: { entries: 100, story: { form: 'HTML', updates: 5, bytes: 300_000, services: 50 } },
  /** The newest entry of each of fifty, of any length, fits into the bytes. `services` are at least that many of each. */
  statuspage: {
    entries: 50,
    services: 1000,
    story: { form: 'MARKDOWN', updates: 25, bytes: 2_000_000, services: 25, bytesPerService: 150 },
  },
} as const satisfies Record<string, Bounds>

type Bounds = StoryBounds | { readonly [name: string]: number | Partial<StoryBounds> }
