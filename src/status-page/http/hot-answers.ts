import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { PageGuard } from '../../account/page/page-guard.ts'
import { writeAnswer } from '../../http/response/send-answer.ts'
import { preferredLanguage } from '../../language/choice.ts'
import type { PageAddress } from '../page-address.ts'
import type { KnownAddress, PageCache } from '../page-cache.ts'
import { answerOf } from './page-response.tsx'

/** Longer addresses are not remembered, because they are rarely shared. */
const MAX_ADDRESS_LENGTH = 500

/** Remembers the cached page or document at the address of a request, for `answerHot`. */
export function rememberAddress(
  c: Context,
  { addresses }: Pick<PageCache, 'addresses'>,
  { owner, host }: Pick<PageAddress, 'owner' | 'host'>,
  key: string,
): void {
  const request = (c.env as Partial<HttpBindings> | undefined)?.incoming
  if (request === undefined || request.method !== 'GET') return
  const at = addressOf(request)
  if (at.length > MAX_ADDRESS_LENGTH || addresses.peek(at)?.key === key) return
  const known = host === null ? { key, name: { slug: owner }, pageId: null } : { key, name: { host }, pageId: owner }
  addresses.set(at, known)
}

/**
 * Answers a request for a public page or document that was sent at this address before and is still current, without
 * the router, which takes twice as long as everything else. Returns whether it did; otherwise the router decides.
 */
export function answerHot(
  { cache, guard }: { readonly cache: PageCache; readonly guard: Pick<PageGuard, 'known'> },
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (request.method !== 'GET') return false
  const known = cache.addresses.get(addressOf(request))
  if (known === undefined || !isPublic(known, guard)) return false
  const page = cache.pages.current(known.key)
  if (page === null) return false
  const { headers } = request
  // Readers who prefer another language are redirected.
  if (page.offered && preferredLanguage(headers['accept-language'], page.offered) !== page.language) return false
  writeAnswer(response, answerOf(page, headers['accept-encoding']?.toString(), headers['if-none-match']))
  return true
}

/** Returns whether the page at an address is known to be public, without a statement. */
function isPublic({ name, pageId }: KnownAddress, guard: Pick<PageGuard, 'known'>): boolean {
  const page = guard.known(name)?.[0]
  // A host name may belong to another page by now.
  return page !== undefined && page.kind === 'PUBLIC' && (pageId === null || page.pageId === pageId)
}

const addressOf = ({ headers: { host = '' }, url = '' }: IncomingMessage) => `${host} ${url}`
