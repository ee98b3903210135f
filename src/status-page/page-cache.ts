import type { Clock } from '../core/time.ts'
import type { LogCache } from '../event-log/log-cache.ts'
import { createLogCache } from '../event-log/log-cache.ts'

/** A page or document, ready to send. */
export interface RenderedPage {
  readonly organizationId: string
  readonly plain: Buffer<ArrayBuffer>
  /** The same content in gzip; null: compression would not make it smaller. */
  readonly gzipped: Buffer<ArrayBuffer> | null
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
}

/** Caches rendered pages, so that a public page costs no query until its owner's event log moves. */
export interface PageCache {
  readonly pages: LogCache<RenderedPage>
  /** The organization whose page a host name shows; null: none. */
  readonly hosts: LogCache<{ readonly organizationId: string | null }>
  /** Marks an organization's pages as stale after its log moved; null: every organization's. */
  invalidate(organizationId: string | null): void
}

/** The maximum size of the cached pages. */
const MAX_BYTES = 64 * 1024 * 1024
/** The maximum number of cached host names. */
const MAX_HOSTS = 10_000

/** Creates an empty cache. The caller calls `invalidate` whenever a log moves. */
export function createPageCache(now: Clock): PageCache {
  const pages = createLogCache<RenderedPage>({
    maxSize: MAX_BYTES,
    sizeOf: ({ plain, gzipped: zipped }) => plain.length + (zipped?.length ?? 0),
    now,
  })
  const hosts = createLogCache<{ organizationId: string | null }>({ maxSize: MAX_HOSTS, sizeOf: () => 1, now })
  return {
    pages,
    hosts,
    invalidate(organizationId) {
      pages.invalidate(organizationId)
      hosts.invalidate(organizationId)
    },
  }
}
