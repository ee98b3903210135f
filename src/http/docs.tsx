import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Hono } from 'hono'
import { root } from '../paths.ts'
import type { Site } from './layout.tsx'
import { pageHeaders } from './layout.tsx'

/** Starts Swagger UI on the page; bundled as `docs.js`. */
export const docsScript = new URL('src/http/browser/docs.ts', root)

const fromHere = createRequire(import.meta.url)
const swaggerFiles = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const

/** Swagger UI styles its own elements inline, which the other pages' policy forbids; scripts stay ours alone. */
const docsHeaders = {
  ...pageHeaders,
  'content-security-policy': pageHeaders['content-security-policy'].replace(
    "style-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  ),
}

/** `/docs`, which shows `/openapi.json` with Swagger UI, and what it needs; all from this server. */
export function docsRoutes(site: Site, openApi: () => object): Hono {
  const app = new Hono()
  app.get('/openapi.json', (c) => c.json(openApi(), 200, { 'access-control-allow-origin': '*' }))
  app.get('/docs', (c) => c.body(docsPage(site), 200, docsHeaders))
  for (const [file, type] of Object.entries(swaggerFiles)) {
    app.get(`/docs/${file}`, async (c) =>
      c.body(await readFile(fromHere.resolve(`swagger-ui-dist/${file}`)), 200, {
        'content-type': type,
        'cache-control': 'public, max-age=86400',
        'x-content-type-options': 'nosniff',
      }),
    )
  }
  return app
}

function docsPage({ assets }: Site): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API docs · Allclear</title>
        <link rel="icon" href={assets.url('favicon.svg')} />
        <link rel="stylesheet" href="/docs/swagger-ui.css" />
        <script src="/docs/swagger-ui-bundle.js" defer></script>
        <script src={assets.url('docs.js')} defer></script>
      </head>
      <body>
        <div id="docs"></div>
        <noscript>
          The description of the API is at <a href="/openapi.json">/openapi.json</a>.
        </noscript>
      </body>
    </html>
  )
  return `<!DOCTYPE html>${page}`
}
