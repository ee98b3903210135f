import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { sendWhole } from '../../http/send-whole.ts'
import { UtcTime } from '../../http/utc-time.tsx'
import type { RenderedPage } from '../page-cache.ts'

const zip = promisify(gzip)

/** A page or a document as it is to be kept and sent, with a tag by which its reader can ask whether it has changed. */
export async function rendered(
  organizationId: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Promise<RenderedPage> {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22)
  const isText = typeof body === 'string'
  return {
    organizationId,
    plain: isText ? Buffer.from(body) : body,
    zipped: isText ? await zip(body) : null,
    // Weak, for the same page is sent zipped and as it is.
    headers: { ...headers, etag: `W/"${hash}"`, ...(isText && { vary: 'accept-encoding' }) },
  }
}

/** Sends a page, or only that it has not changed (RFC 9110 §13.1.2). */
export function send(c: Context, { plain, zipped, headers }: RenderedPage): Response {
  const known = c.req.header('if-none-match')?.split(',') ?? []
  if (known.some((tag) => tag.trim() === headers.etag)) return sendWhole(c, null, 304, headers)
  const zips = /(^|[,\s])gzip(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(c.req.header('accept-encoding') ?? '')
  return zips && zipped !== null
    ? sendWhole(c, zipped, 200, { ...headers, 'content-encoding': 'gzip' })
    : sendWhole(c, plain, 200, headers)
}

/** Sends a page or a document as it was last known, and says so: a page in its first line. Nobody is to keep it. */
export function sendAsOf(c: Context, { plain, headers: { etag: _, ...headers } }: RenderedPage, asOf: Date): Response {
  const isPage = headers['content-type']?.startsWith('text/html') ?? false
  const body = isPage ? Buffer.from(plain.toString().replace(MAIN, `$&${<AsOf at={asOf} />}`)) : plain
  return sendWhole(c, body, 200, {
    ...headers,
    'cache-control': 'no-store',
    'last-modified': asOf.toUTCString(),
    // RFC 7234 §5.5.1.
    warning: '110 - "Response is Stale"',
  })
}

/** Where a page's content begins. */
const MAIN = /<main id="main"[^>]*>/

function AsOf({ at }: { readonly at: Date }) {
  return (
    <p class="as-of" role="status">
      This page shows the status as of <UtcTime at={at} />. We cannot check for newer updates at the moment.
    </p>
  )
}
