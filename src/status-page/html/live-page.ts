import type { Context } from 'hono'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import { encodeCursor } from '../../event-log/event.ts'
import { createRenderedPage, sendPage } from '../http/page-response.tsx'
import type { LivePage, PageCache, RenderedPage } from '../page-cache.ts'
import { noteShown } from './page-patch.ts'
import { changedParts, cutIntoParts, joinParts } from './parts.tsx'

/**
 * The maximum number of earlier versions for which a page keeps its changes, and the maximum share of the page that
 * they may take.
 */
const MAX_CHANGES = 64
const MAX_CHANGED_SHARE = 0.5

/** Prepares a page for the cache, and remembers its version. @param html as rendered, with the marks of its parts. */
export async function createLivePage(
  { versions, followed }: Pick<PageCache, 'versions' | 'followed'>,
  {
    key,
    seq,
    reached,
    html,
    ...of
  }: Pick<RenderedPage, 'organizationId' | 'stateVersion' | 'language' | 'offered'> & {
    readonly key: string
    readonly seq: number
    readonly reached: number
    readonly html: string
  },
  headers: Readonly<Record<string, string>>,
): Promise<RenderedPage> {
  await yieldAfterTimeSlice(headers)
  const parts = cutIntoParts(html)
  const page = await createRenderedPage({ ...of, headers }, joinParts(parts))
  versions.set(parts.version, parts.hashes)
  noteShown(followed.peek(key), parts)
  return { ...page, live: { seq, reached, parts, changes: new Map() } }
}

/**
 * Sends the changes of a page since an earlier version: 204 if there are none, the whole page if that version is
 * unknown.
 * @param minimum the position that the client knows the log has reached. No cache may keep an answer from before it.
 */
export async function sendChanges(
  c: Context,
  cache: Pick<PageCache, 'versions'>,
  page: RenderedPage & { readonly live: LivePage },
  { version, minimum }: { readonly version: string; readonly minimum: number },
): Promise<Response> {
  const isCurrent = page.live.parts.version === version
  const changes = isCurrent ? page : await changesSince(cache, page, version)
  const { reached } = page.live
  const headers: RenderedPage['headers'] = {
    ...changes.headers,
    'page-position': encodeCursor(reached),
    ...(reached < minimum && { 'cache-control': 'no-store' }),
  }
  if (!isCurrent) return sendPage(c, { ...changes, headers })
  const { 'content-type': _type, etag: _etag, ...others } = headers
  return c.body(null, 204, others)
}

async function changesSince(
  { versions }: Pick<PageCache, 'versions'>,
  page: RenderedPage & { readonly live: LivePage },
  version: string,
): Promise<RenderedPage> {
  const { live, headers, organizationId, stateVersion, language } = page
  const earlier = versions.get(version)
  let changes = live.changes.get(version)
  if (changes === undefined && earlier !== undefined && live.changes.size < MAX_CHANGES) {
    const html = changedParts(live.parts, earlier)
    const isShort = html.length < MAX_CHANGED_SHARE * page.plain.length
    changes = isShort
      ? createRenderedPage(
          { organizationId, stateVersion, language, offered: null, headers: changesHeaders(headers) },
          html,
        )
      : Promise.resolve(page)
    live.changes.set(version, changes)
  }
  return (await changes) ?? page
}

/** Returns headers with which a browser that opens the changes as a page loads and runs nothing. */
function changesHeaders(headers: RenderedPage['headers']): Readonly<Record<string, string>> {
  const { 'cache-control': cacheControl = '', 'last-modified': modified = '' } = headers
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': cacheControl,
    'last-modified': modified,
  }
}
