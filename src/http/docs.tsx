import { Hono } from 'hono'
import { root } from '../paths.ts'
import type { Site } from './layout.tsx'
import { pageHeaders } from './layout.tsx'
import type { Libraries } from './libraries.ts'

/** Starts Swagger UI on the page; bundled as `docs.js`. */
export const docsScript = new URL('src/http/browser/docs.ts', root)

/** Swagger UI styles its own elements inline, which the other pages' policy forbids; scripts stay ours alone. */
const docsHeaders = {
  ...pageHeaders,
  'content-security-policy': pageHeaders['content-security-policy'].replace(
    "style-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  ),
}

/** `/docs`, which shows `/openapi.json` with Swagger UI, and what it needs; all from this server. */
export function docsRoutes(site: Site, libraries: Libraries, openApi: () => object): Hono {
  const app = new Hono()
  app.get('/openapi.json', (c) => c.json(openApi(), 200, { 'access-control-allow-origin': '*' }))
  app.get('/docs', async (c) => c.body(docsPage(site, await libraries.paths('swagger-ui')), 200, docsHeaders))
  return app
}

function docsPage({ assets }: Site, file: (name: string) => string): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API docs · Allclear</title>
        <link rel="icon" href={assets.url('favicon.svg')} />
        <link rel="stylesheet" href={file('swagger-ui.css')} />
        <script src={file('swagger-ui.js')} defer></script>
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
