import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { PageGuard } from '../../account/page/page-guard.ts'
import { hostNameOf } from '../../http/request/host-header.ts'
import { writeAnswer } from '../../http/response/send-answer.ts'
import { preferredLanguage } from '../../language/choice.ts'
import type { PageAddress } from '../html/page-address.ts'
import { answerOf } from '../html/page-response.tsx'
import type { KnownAddress, PageCache } from '../page-cache.ts'

/** Longer addresses are not remembered: they are not shared. */
const MAX_ADDRESS_LENGTH = 500

/** Remembers which cached page or document was sent at the address of a request, for `answerHot`. */
export function rememberAddress(
  c: Context,
  { addresses }: Pick<PageCache, 'addresses'>,
  { owner, root }: Pick<PageAddress, 'owner' | 'root'>,
  key: string,
): void {
  const request = (c.env as Partial<HttpBindings> | undefined)?.incoming
  if (request === undefined || request.method !== 'GET') return
  const at = addressOf(request)
  if (at.length > MAX_ADDRESS_LENGTH || addresses.peek(at)?.key === key) return
  const known =
    root === ''
      ? { key, name: { host: hostNameOf(request.headers.host) }, pageId: owner }
      : { key, name: { slug: owner }, pageId: null }
  addresses.set(at, known)
}

/**
 * Answers a request for a public page or document that was sent at this address before and is still current, without the router,
 * which takes twice as long as everything else. Returns whether it has; otherwise the router decides.
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
  // Who prefers another language is sent to its address.
  if (page.offered && preferredLanguage(headers['accept-language'], page.offered) !== page.language) return false
  writeAnswer(response, answerOf(page, headers['accept-encoding']?.toString(), headers['if-none-match']))
  return true
}

/** Returns whether everybody may read the page at an address, as far as is known without asking the database. */
function isPublic({ name, pageId }: KnownAddress, guard: Pick<PageGuard, 'known'>): boolean {
  const page = guard.known(name)?.[0]
  // A host name may have become another page's.
  return page !== undefined && page.kind === 'PUBLIC' && (pageId === null || page.pageId === pageId)
}

const addressOf = ({ headers: { host = '' }, url = '' }: IncomingMessage) => `${host} ${url}`
