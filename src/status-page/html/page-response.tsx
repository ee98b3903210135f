import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { hasCurrent, weakEtag } from '../../http/etag.ts'
import { sendBody } from '../../http/send-body.ts'
import { UtcTime } from '../../http/utc-time.tsx'
import type { RenderedPage } from '../page-cache.ts'

const gzipAsync = promisify(gzip)

/** Prepares a page or a document for the cache: compresses it and adds an ETag. */
export async function createRenderedPage(
  organizationId: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Promise<RenderedPage> {
  const isText = typeof body === 'string'
  return {
    organizationId,
    plain: isText ? Buffer.from(body) : body,
    gzipped: isText ? await gzipAsync(body) : null,
    // Weak, because the same page is sent with and without compression.
    headers: { ...headers, etag: weakEtag(body), ...(isText && { vary: 'accept-encoding' }) },
  }
}

/** Sends a page, or 304 when the client has the same version (RFC 9110 §13.1.2). */
export function sendPage(c: Context, { plain, gzipped: zipped, headers }: RenderedPage): Response {
  if (hasCurrent(c.req.header('if-none-match'), headers.etag)) return sendBody(c, null, 304, headers)
  const zips = /(^|[,\s])gzip(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(c.req.header('accept-encoding') ?? '')
  return zips && zipped !== null
    ? sendBody(c, zipped, 200, { ...headers, 'content-encoding': 'gzip' })
    : sendBody(c, plain, 200, headers)
}

/** Sends a stale page or document, not to be cached. A page shows the time of its data at the top. */
export function sendStalePage(
  c: Context,
  { plain, headers: { etag: _, ...headers } }: RenderedPage,
  asOf: Date,
): Response {
  const isPage = headers['content-type']?.startsWith('text/html') ?? false
  const body = isPage ? Buffer.from(plain.toString().replace(mainElement, `$&${<StaleNotice at={asOf} />}`)) : plain
  return sendBody(c, body, 200, {
    ...headers,
    'cache-control': 'no-store',
    'last-modified': asOf.toUTCString(),
    // RFC 7234 §5.5.1.
    warning: '110 - "Response is Stale"',
  })
}

/** The start of a page's content. */
const mainElement = /<main id="main"[^>]*>/

function StaleNotice({ at }: { readonly at: Date }) {
  return (
    <p class="as-of" role="status">
      This page shows the status as of <UtcTime at={at} />. We cannot check for newer updates at the moment.
    </p>
  )
}
