import type { Database } from '../core/context.ts'
import { port } from '../core/port.ts'

/** What the rooms above keep about pages and incidents. Each function runs in the transaction of the change. */
export interface Followers {
  /** Returns the number of subscribers of a page that get notifications. */
  readonly countSubscribers: (db: Database, pageId: string) => Promise<number>
  /** Moves what follows an incident to the one that it was merged into. */
  readonly moveIncident: readonly ((db: Database, from: string, to: string) => Promise<void>)[]
  /** Forgets the uptime of an organization from a day on, so that it is computed again. */
  readonly forgetUptimeSince: (db: Database, organizationId: string, day: Date) => Promise<void>
}

/** What the rooms above keep about pages and incidents. */
export const followers = port<Followers>('what follows pages and incidents')
