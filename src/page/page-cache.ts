import type { Clock } from '../time.ts'
import type { LogCache } from './log-cache.ts'
import { createLogCache } from './log-cache.ts'

/** A page as it is sent. */
export interface RenderedPage {
  readonly organizationId: string
  readonly plain: Buffer<ArrayBuffer>
  /** The same in gzip; null: that would be no smaller. */
  readonly zipped: Buffer<ArrayBuffer> | null
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
}

/** What is kept so that a public page costs no query while its owner's log stands still. */
export interface PageCache {
  readonly pages: LogCache<RenderedPage>
  /** Whose page a host name shows; null: nobody's. */
  readonly hosts: LogCache<{ readonly organizationId: string | null }>
  /** An organization's log has moved; null: any of them may have. */
  forget(organizationId: string | null): void
}

/** The most bytes of rendered pages that are kept. */
const KEPT_BYTES = 64 * 1024 * 1024
/** The most host names that are kept. */
const KEPT_HOSTS = 10_000

/** An empty cache; `forget` is to be called whenever a log moves. */
export function createPageCache(now: Clock): PageCache {
  const pages = createLogCache<RenderedPage>({
    maxSize: KEPT_BYTES,
    sizeOf: ({ plain, zipped }) => plain.length + (zipped?.length ?? 0),
    now,
  })
  const hosts = createLogCache<{ organizationId: string | null }>({ maxSize: KEPT_HOSTS, sizeOf: () => 1, now })
  return {
    pages,
    hosts,
    forget(organizationId) {
      pages.forget(organizationId)
      hosts.forget(organizationId)
    },
  }
}
