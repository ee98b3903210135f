import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { MINUTE } from '../../core/time.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { LOGO_PATH, logoTypes, readLogoContent } from '../logo.ts'

/** The maximum size of the cached logos in bytes. */
const MAX_BYTES = 8 * 1024 * 1024

/** Serves uploaded logos on every host, for ever: another content has another name. */
export function logoRoutes({ db }: { readonly db: PrismaClient }): Hono {
  const cache = new LRUCache<string, Uint8Array<ArrayBuffer>>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ length }) => length,
    // A logo that was removed is gone after this time.
    ttl: MINUTE,
    fetchMethod: async (file) => (await readLogoContent(db, file)) ?? undefined,
  })
  const path = `${LOGO_PATH}/:file{[0-9a-f]{64}\\.(?:${Object.keys(logoTypes).join('|')})}`
  return new Hono().get(path, async (c, next) => {
    const file = c.req.param('file') ?? ''
    const content = await cache.fetch(file)
    if (!content) return next()
    return c.body(content, 200, { ...headers, 'content-type': logoTypes[file.slice(65) as keyof typeof logoTypes] })
  })
}

/** Any site may show a logo; one that is opened alone can run nothing, even when it is a page in disguise. */
const headers = {
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
} as const
