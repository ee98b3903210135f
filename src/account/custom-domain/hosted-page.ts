import type { PageHost } from '../../core/host-name.ts'
import type { GuardedPage, PageLookup } from '../page/page-guard.ts'
import { originOfHost, pageHostOf } from './domain-name.ts'

/** A page on its custom domain. */
export interface HostedPage {
  readonly page: GuardedPage
  readonly host: PageHost
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
}

/**
 * Returns the page at the host name of a request, as `hostNameOf` reads it; null: the host is not a proven custom
 * domain. Guarding, rendering and forms all ask here, so that they agree about every host.
 */
export async function pageOnHost(
  lookup: PageLookup,
  { baseUrl }: { readonly baseUrl: string },
  name: string,
): Promise<HostedPage | null> {
  const host = pageHostOf(baseUrl, name)
  if (host === null) return null
  const [page] = await lookup.pages({ host })
  return page ? { page, host, origin: originOfHost(baseUrl, host) } : null
}
