import { setTimeout as sleep } from 'node:timers/promises'
import DataLoader from 'dataloader'
import { LRUCache } from 'lru-cache'
import type { Context, Database } from '../../core/context.ts'
import type { PageHost } from '../../core/host-name.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { changesPages } from '../../event-log/page-effect.ts'
import type { EventKind } from '../../generated/prisma/enums.ts'
import { pageHostOf } from './domain-name.ts'

/** Knows which host names are custom domains of pages, however many other names strangers ask about. */
export interface ProvenDomains {
  /** Returns whether a name is a proven domain, if that takes no query; null: unknown. */
  known(name: string): boolean | null
  /** Returns whether a name is a proven domain. @throws when the database is unavailable and the name was not proven before. */
  isProven(name: string): Promise<boolean>
  /** Looks all names up again after events that can change them. @param events absent or empty: unknown. */
  invalidate(events?: readonly { readonly kind: EventKind }[]): void
}

/** How long the answers about proven and other names are used, unless events end them. */
const PROVEN_FOR = MINUTE
const OTHER_FOR = 10 * SECOND
/** Kept apart, so that names which strangers make up displace no proven ones. */
const MAX_PROVEN = 100_000
const MAX_OTHERS = 10_000
/** The maximum number of names that one statement looks up, and the time between two statements, however many names wait. */
const MAX_NAMES_AT_ONCE = 1000
const PAUSE_MS = 20

/** Creates it. Nothing is looked up yet. */
export function createProvenDomains({
  db,
  site,
  now,
}: Pick<Context, 'db' | 'now'> & { readonly site: { readonly baseUrl: string } }): ProvenDomains {
  const proven = new LRUCache<string, Answered>({ max: MAX_PROVEN })
  const others = new LRUCache<string, Answered>({ max: MAX_OTHERS })
  let changes = 0
  let turn: Promise<unknown> = Promise.resolve()
  const loader = new DataLoader(
    async (names: readonly PageHost[]) => {
      const reading = readProven(db, names)
      turn = reading.catch(() => {}).then(() => sleep(PAUSE_MS))
      const found = await reading
      return names.map((name) => found.has(name))
    },
    { cache: false, maxBatchSize: MAX_NAMES_AT_ONCE, batchScheduleFn: (read) => void turn.then(read) },
  )

  const isCurrent = (answered: Answered | undefined) =>
    answered !== undefined && answered.changes === changes && answered.until > now().getTime()

  function known(name: string): boolean | null {
    if (isCurrent(proven.get(name))) return true
    return isCurrent(others.get(name)) ? false : null
  }

  async function lookUp(name: PageHost): Promise<boolean> {
    const before = changes
    const is = await loader.load(name)
    const [kept, dropped] = is ? [proven, others] : [others, proven]
    kept.set(name, { until: now().getTime() + (is ? PROVEN_FOR : OTHER_FOR), changes: before })
    dropped.delete(name)
    return is
  }

  return {
    known,
    async isProven(name) {
      const answer = known(name)
      const host = answer === null ? pageHostOf(site.baseUrl, name) : null
      if (host === null) return answer ?? false
      try {
        return await lookUp(host)
      } catch (error) {
        if (proven.has(name)) return true
        throw error
      }
    },
    invalidate(events = []) {
      if (events.length === 0 || events.some(({ kind }) => changesPages('access', kind))) changes += 1
    },
  }
}

/** When a name was looked up: until when the answer is used, and how many changes there had been before. */
interface Answered {
  readonly until: number
  readonly changes: number
}

/** Returns those of the names that are domains of pages. */
async function readProven(db: Database, names: readonly PageHost[]): Promise<ReadonlySet<string | null>> {
  const pages = await db.page.findMany({
    where: { customDomain: { in: [...names] }, organization: { deletedAt: null } },
    select: { customDomain: true },
  })
  return new Set(pages.map(({ customDomain }) => customDomain))
}
