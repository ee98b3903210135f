import { LRUCache } from 'lru-cache'
import type { PageName } from '../account/page/page-guard.ts'
import { createLruMap } from '../core/lru-map.ts'
import type { Clock } from '../core/time.ts'
import type { LogCache } from '../event-log/log-cache.ts'
import { createLogCache } from '../event-log/log-cache.ts'
import type { Language } from '../language/catalogue.ts'
import type { OfferedLanguages } from '../language/choice.ts'
import type { FileContent } from '../status/incident/file-store.ts'
import type { PagePosition } from '../status/page/page-position.ts'
import type { PageState } from '../status/page/page-state.ts'
import type { ServiceHistories } from './service-history.ts'

/** A page or document, ready to send. */
export interface RenderedPage {
  readonly organizationId: string
  readonly language: Language
  /** The languages that a reader of this address may be redirected to; null: it names one, or there is no choice. */
  readonly offered: OfferedLanguages | null
  readonly plain: Buffer<ArrayBuffer>
  /** Identifies the state that it shows. */
  readonly stateVersion: string
  /** The same content in gzip; null: compression would not make it smaller. */
  readonly gzipped: Buffer<ArrayBuffer> | null
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
  /** What an open page needs to follow it; null: open pages do not. */
  readonly live: LivePage | null
}

/** A rendered page as an open page follows it. */
export interface LivePage {
  /** The position of the organization's event log in the page. */
  readonly seq: number
  /** The newest position for which the page is known to be current. */
  reached: number
  readonly parts: PageParts
  /** The changes since earlier versions, ready to send, by version. */
  readonly changes: Map<string, Promise<RenderedPage>>
}

/** A page cut into parts: elements that an open page replaces one by one. */
export interface PageParts {
  /** Identifies this rendering of the page. */
  readonly version: string
  /** The HTML around the parts: before the first, between two, and after the last. */
  readonly around: readonly string[]
  /** The HTML of each part. */
  readonly parts: readonly string[]
  /** A hash of each part. */
  readonly hashes: readonly string[]
  /** Identifies the parts, regardless of the HTML around them. */
  readonly partsVersion: string
}

/** The parts of a page that open pages may show. */
export type ShownParts = Pick<PageParts, 'hashes' | 'partsVersion'>

/** Updates an open page to a newer version. */
export interface PagePatch {
  /** The versions of parts that it applies to. */
  readonly since: readonly string[]
  /** The changes, as HTML in the zlib format in base64. */
  readonly html: string
}

/** A page that open pages follow over websocket. */
export interface FollowedPage {
  /** The parts that open pages may show: those of the last patch, then those rendered since. */
  shown: readonly ShownParts[]
  /**
   * The patches of the newest events: the position of the event, and the position that the patch reaches. Null: too
   * large.
   */
  patches: readonly { readonly seq: number; readonly reached: number; readonly patch: PagePatch | null }[]
  /** Resolves when no patch is in progress. */
  idle: Promise<unknown>
}

/** The state of a page, shared by all documents about it. */
interface SharedState {
  readonly organizationId: string
  readonly state: PageState
}

/** The histories of a page's services, shared by all documents that show them. */
export interface SharedHistories extends ServiceHistories {
  readonly organizationId: string
  /** The positions in the log up to which they are current. */
  readonly position: PagePosition
}

/** The answer at the address of a request. */
export interface KnownAddress {
  /** The key of the page or document. */
  readonly key: string
  /** Identifies the page for the guard. */
  readonly name: PageName
  /** The page of a host name at that time; null: the address has its slug. */
  readonly pageId: string | null
}

/**
 * Caches the states of pages and the rendered pages, so that a public page costs no query until its owner's event log
 * moves.
 */
export interface PageCache {
  /** By the slug or id of the page. */
  readonly states: LogCache<SharedState>
  /** By the id of the page, and the range unless it is the default one. */
  readonly histories: LogCache<SharedHistories>
  readonly pages: LogCache<RenderedPage>
  /** The hashes of the parts of recently rendered pages, by version, so that an open page can be sent the changes. */
  readonly versions: LRUCache<string, readonly string[]>
  /** By the key of the page. */
  readonly followed: LRUCache<string, FollowedPage>
  /** By the host and the address of a request. */
  readonly addresses: LRUCache<string, KnownAddress>
  /** By the page and the id of the file. */
  readonly files: LogCache<FileContent>
  /** Marks an organization's pages as stale after its log moved; null: every organization's. */
  invalidate(organizationId: string | null): void
}

/** The maximum size of the cached pages. */
const MAX_BYTES = 64 * 1024 * 1024
/** The maximum number of hashes of parts: about 8 MB. */
const MAX_PART_HASHES = 100_000
/** The maximum size of the shared states, and of the shared histories, in bytes. */
const MAX_STATE_BYTES = 32 * 1024 * 1024
/** The estimated bytes in memory of a character of a state, and of a day or an incident of a history. */
const BYTES_PER_CHARACTER = 4
const BYTES_PER_DAY = 200
/** The maximum size of the cached files in bytes. */
const MAX_FILE_CACHE_BYTES = 32 * 1024 * 1024
/** The maximum number of followed pages: at most about 40 kB each. */
const MAX_FOLLOWED = 1000
/** The maximum number of known addresses: at most about 1 kB each. */
const MAX_ADDRESSES = 10_000

/** Creates an empty cache. The caller calls `invalidate` whenever a log moves. */
export function createPageCache(now: Clock): PageCache {
  const pages = createLogCache<RenderedPage>({
    maxSize: MAX_BYTES,
    // The parts hold the page a second time.
    sizeOf: ({ plain, gzipped: zipped, live }) => plain.length * (live === null ? 1 : 2) + (zipped?.length ?? 0),
    now,
  })
  const versions = new LRUCache<string, readonly string[]>({
    maxSize: MAX_PART_HASHES,
    sizeCalculation: ({ length }) => length + 1,
  })
  const followed = new LRUCache<string, FollowedPage>({ max: MAX_FOLLOWED })
  const addresses = createLruMap<KnownAddress>(MAX_ADDRESSES)
  const states = createLogCache<SharedState>({
    maxSize: MAX_STATE_BYTES,
    sizeOf: ({ state }) => state.size * BYTES_PER_CHARACTER,
    now,
  })
  const histories = createLogCache<SharedHistories>({
    maxSize: MAX_STATE_BYTES,
    sizeOf: ({ size }) => (1 + size) * BYTES_PER_DAY,
    now,
  })
  const files = createLogCache<FileContent>({ maxSize: MAX_FILE_CACHE_BYTES, sizeOf: ({ size }) => size, now })
  return {
    states,
    histories,
    pages,
    versions,
    followed,
    addresses,
    files,
    invalidate(organizationId) {
      for (const cache of [states, histories, pages, files]) cache.invalidate(organizationId)
    },
  }
}
