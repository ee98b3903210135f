import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { UtcTime } from '../../http/page/utc-time.tsx'
import { accepts } from '../../http/response/encoding.ts'
import { hasCurrent, strongEtag } from '../../http/response/etag.ts'
import type { Answer } from '../../http/response/send-answer.ts'
import { answerWith, sendAnswer } from '../../http/response/send-answer.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { RenderedPage } from '../page-cache.ts'

const gzipAsync = promisify(gzip)

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
