import { Hono } from 'hono'
import { root } from '../../core/process/paths.ts'
import type { Libraries } from '../assets/libraries.ts'
import { staticText } from '../assets/static-text.ts'
import type { Site } from '../page/layout.tsx'
import { pageHeaders, SiteHeader } from '../page/layout.tsx'

/** Starts Swagger UI on the page; bundled as `api-reference.js`. */
export const referenceScript = new URL('src/http/browser/api-reference.ts', root)

/**
 * The style of the page around Swagger UI, whose elements the common style sheet would change; bundled as
 * `api-reference.css`.
 */
export const referenceSheet = new URL('src/http/assets/api-reference.css', root)

/** Swagger UI sets inline styles on its elements, which other pages' policy forbids; scripts are still only ours. */
const referenceHeaders = {
  ...pageHeaders,
  'content-security-policy': pageHeaders['content-security-policy'].replace(
    "style-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  ),
}

const openApiHeaders = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'x-content-type-options': 'nosniff',
}

/** `/docs/reference`, which shows `/openapi.json` with Swagger UI, and its files; all from this server. */
export function referenceRoutes(site: Site, libraries: Libraries, openApi: () => object): Hono {
  const app = new Hono()
  app.get(
    '/openapi.json',
    staticText(() => JSON.stringify(openApi()), openApiHeaders),
  )
  app.get(
    '/docs/reference',
    staticText(async () => referencePage(site, await libraries.paths('swagger-ui')), referenceHeaders),
  )
  return app
}

function referencePage(site: Site, file: (name: string) => string): string {
  const { assets } = site
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>API reference · Allclear</title>
        <link rel="icon" href={assets.url('favicon.svg')} />
        <meta name="description" content="Every REST path of Allclear, with its parameters and answers." />
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href={file('swagger-ui.css')} />
        <link rel="stylesheet" href={assets.url('api-reference.css')} />
        <script src={file('swagger-ui.js')} defer></script>
        <script src={assets.url('api-reference.js')} defer></script>
      </head>
      <body>
        <SiteHeader site={site} path="/docs/reference" />
        <nav class="crumbs" aria-label="Path">
          <a href="/docs">Docs</a> / API reference
        </nav>
        <div id="reference"></div>
        <noscript>
          The description of the API is at <a href="/openapi.json">/openapi.json</a>.
        </noscript>
      </body>
    </html>
  )
  return `<!DOCTYPE html>${page}`
}
