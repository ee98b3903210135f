import { Hono } from 'hono'
import type { Clock } from '../../core/time.ts'
import type { LogCache } from '../../event-log/log-cache.ts'
import { createLogCache } from '../../event-log/log-cache.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import type { LogoContent } from '../page/logo.ts'
import { LOGO_PATH, logoTypes, readLogoContent } from '../page/logo.ts'

/** The maximum total size of cached logos in bytes. */
const MAX_BYTES = 8 * 1024 * 1024

/** Creates a cache of uploaded logos by file name. A replaced logo leaves the cache with the next event of the log. */
export function createLogoCache(now: Clock): LogCache<LogoContent> {
  return createLogCache({
    ...{ now, maxSize: MAX_BYTES },
    sizeOf: ({ content }) => content?.length ?? 1,
    isCacheable: ({ content }) => content !== null,
  })
}

/** Serves uploaded logos on every host. Browsers cache them forever, because new content gets a new name. */
export function logoRoutes({
  db,
  logos,
}: {
  readonly db: PrismaClient
  readonly logos: Pick<LogCache<LogoContent>, 'get'>
}): Hono {
  const path = `${LOGO_PATH}/:file{[0-9a-f]{64}\\.(?:${Object.keys(logoTypes).join('|')})}`
  return new Hono().get(path, async (c, next) => {
    const file = c.req.param('file') ?? ''
    const { content } = await logos.get(file, () => readLogoContent(db, file))
    if (content === null) return next()
    return c.body(content, 200, { ...headers, 'content-type': logoTypes[file.slice(65) as keyof typeof logoTypes] })
  })
}

/** Any site may show a logo. A logo that is opened directly cannot run scripts, even if the file is in fact a web page. */
const headers = {
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
} as const
