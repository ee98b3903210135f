import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { encodeCursor } from '../../event-log/event.ts'
import { UtcTime } from '../../http/page/utc-time.tsx'
import { accepts } from '../../http/response/encoding.ts'
import { hasCurrent, strongEtag } from '../../http/response/etag.ts'
import type { Answer } from '../../http/response/send-answer.ts'
import { answerWith, sendAnswer } from '../../http/response/send-answer.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { LivePage, PageCache, RenderedPage } from '../page-cache.ts'
import { noteShown } from './page-patch.ts'
import { changedParts, cutIntoParts, joinParts } from './parts.tsx'

const gzipAsync = promisify(gzip)

/**
 * The maximum number of earlier versions for which a page keeps its changes, and the maximum share of the page that
 * they may take.
 */
const MAX_CHANGES = 64
const MAX_CHANGED_SHARE = 0.5

/** Prepares a document for the cache: compresses it and adds an ETag. */
export async function createRenderedPage(
  {
    headers,
    ...of
  }: Pick<RenderedPage, 'organizationId' | 'stateVersion' | 'language' | 'offered'> & {
    readonly headers: Readonly<Record<string, string>>
  },
  body: string | Buffer<ArrayBuffer>,
): Promise<RenderedPage> {
  const isText = typeof body === 'string'
  return {
    ...of,
    plain: isText ? Buffer.from(body) : body,
    gzipped: isText ? await gzipAsync(body) : null,
    headers: { ...headers, etag: strongEtag(body), ...(isText && { vary: varyOf(of) }) },
    live: null,
  }
}

/** Readers of an address without a language may be redirected to another one. */
const varyOf = ({ offered }: Pick<RenderedPage, 'offered'>) =>
  offered === null ? 'accept-encoding' : 'accept-encoding, accept-language'

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

/** Sends a page, or 304 if the client has the same version. */
export function sendPage(c: Context, page: RenderedPage): Response {
  return sendAnswer(c, answerOf(page, c.req.header('accept-encoding'), c.req.header('if-none-match')))
}

/**
 * Returns the answer to a request for a page: 304 if the client has the same version (RFC 9110 §13.1.2).
 * @param accepted the header `Accept-Encoding`.
 */
export function answerOf(page: RenderedPage, accepted: string | undefined, ifNoneMatch: string | undefined): Answer {
  const prepared = preparedAnswers.get(page) ?? prepareAnswers(page)
  const { whole, unchanged, etag } = (accepts(accepted, 'gzip') && prepared.gzipped) || prepared.plain
  return hasCurrent(ifNoneMatch, etag) ? unchanged : whole
}

/** The answers with a page in one encoding. */
interface PreparedAnswer {
  readonly whole: Answer
  readonly unchanged: Answer
  readonly etag: string
}

/** Prepared once per page, because they take a fifth of the time of an answer. */
const preparedAnswers = new WeakMap<
  RenderedPage,
  { readonly plain: PreparedAnswer; readonly gzipped: PreparedAnswer | null }
>()

function prepareAnswers(page: RenderedPage) {
  const { plain, gzipped, headers } = page
  // A strong ETag differs by encoding (RFC 9110 §8.8.3.3).
  const ofGzipped = { ...headers, etag: headers.etag.replace(/"$/, '-gzip"') }
  const prepared = {
    plain: {
      whole: answerWith(plain, 200, headers),
      unchanged: answerWith(null, 304, headers),
      etag: headers.etag,
    },
    gzipped: gzipped && {
      whole: answerWith(gzipped, 200, { ...ofGzipped, 'content-encoding': 'gzip' }),
      unchanged: answerWith(null, 304, ofGzipped),
      etag: ofGzipped.etag,
    },
  }
  preparedAnswers.set(page, prepared)
  return prepared
}

/** Sends a stale page or document, which caches may keep for 4 s. A page shows the time of its data at the top. */
export function sendStalePage(
  c: Context,
  { plain, language, headers: { etag: _, ...headers } }: RenderedPage,
  asOf: Date,
): Response {
  const isPage = headers['content-type']?.startsWith('text/html') ?? false
  const body = isPage
    ? Buffer.from(plain.toString().replace(mainElement, `$&${<StaleNotice at={asOf} words={wordsOf(language)} />}`))
    : plain
  const staleHeaders = {
    ...headers,
    'cache-control': 'public, max-age=0, s-maxage=4',
    'last-modified': asOf.toUTCString(),
    // RFC 7234 §5.5.1.
    warning: '110 - "Response is Stale"',
  }
  return sendAnswer(c, answerWith(body, 200, staleHeaders))
}

/** The start of a page's content. */
const mainElement = /<main id="main"[^>]*>/

function StaleNotice({ at, words }: { readonly at: Date; readonly words: Catalogue }) {
  return (
    <p class="as-of" role="status">
      {words.page.stale(<UtcTime at={at} />)}
    </p>
  )
}
