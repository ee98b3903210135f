import { Hono } from 'hono'
import { root } from '../../core/process/paths.ts'
import type { Libraries } from '../assets/libraries.ts'
import { staticText } from '../assets/static-text.ts'
import type { Site } from '../page/layout.tsx'
import { pageHeaders } from '../page/layout.tsx'
import { tabs } from './graphiql-tabs.ts'

/** Starts GraphiQL on its page; bundled as `explorer.js`. */
export const graphiqlScript = new URL('src/http/browser/explorer.ts', root)

/** Creates the route of GraphiQL at `/graphql` for browsers. All files come from this server. */
export function graphiqlRoutes(site: Site, libraries: Libraries): Hono {
  const app = new Hono()
  let send: ReturnType<typeof staticText> | null = null
  for (const path of ['/graphql', '/graphql/']) {
    app.get(path, (c) => {
      // The address is only known now if the system chooses the port.
      send ??= staticText(async () => graphiqlPage(site, await libraries.paths('graphiql')), headersOf(site))
      return send(c)
    })
  }
  return app
}

/** The editor uses inline styles, fonts in its style sheet, and web workers from this server. */
function headersOf({ baseUrl }: Site): Readonly<Record<string, string>> {
  return {
    ...pageHeaders,
    // GraphQL answers at the same address.
    vary: 'accept, accept-encoding',
    'content-security-policy': pageHeaders['content-security-policy']
      .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'; worker-src 'self'")
      .replace("font-src 'self'", "font-src 'self' data:")
      // Older browsers do not count a WebSocket as the page's own origin.
      .replace("connect-src 'self'", `connect-src 'self' ${new URL(baseUrl).origin.replace(/^http/, 'ws')}`),
  }
}

function graphiqlPage({ assets }: Site, file: (name: string) => string): string {
  const settings = {
    options: { title: 'Allclear GraphiQL', subscriptionsProtocol: 'WS', defaultTabs: tabs },
    workers: {
      editorWorkerService: file('graphiql-editor.js'),
      json: file('graphiql-json.js'),
      graphql: file('graphiql-graphql.js'),
    },
  }
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>GraphiQL · Allclear</title>
        <link rel="icon" href={assets.url('favicon.svg')} />
        <link rel="stylesheet" href={file('graphiql.css')} />
        <script src={file('graphiql.js')} defer></script>
        <script src={assets.url('explorer.js')} defer></script>
      </head>
      <body>
        <div id="graphiql" data-settings={JSON.stringify(settings)}></div>
        <noscript>GraphiQL needs JavaScript. The API takes POST requests at /graphql.</noscript>
      </body>
    </html>
  )
  return `<!DOCTYPE html>${page}`
}
