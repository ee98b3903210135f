import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Site } from '../../http/layout.tsx'
import { Document, pageHeaders } from '../../http/layout.tsx'

/** The name and the address of the status page of a subscription. */
export interface PageLink {
  readonly name: string
  readonly url: string
}

/** Sends a page about subscriptions in the name of the status page's owner. Search engines must not index it. */
export function respondInFrame(
  c: Context,
  site: Site,
  page: PageLink,
  title: string,
  content: Child,
  status: ContentfulStatusCode = 200,
): Response {
  const whole = (
    <Document
      assets={site.assets}
      title={`${title} · ${page.name} status`}
      description={`Updates on the status of ${page.name}.`}
      indexed={false}
      canonical={null}
      sheets={[site.assets.url('subscribe.css')]}
    >
      <header class="site">
        <a class="owner" href={page.url}>
          {page.name} status
        </a>
      </header>
      <main id="main" tabindex={-1}>
        <h1>{title}</h1>
        {content}
      </main>
      <footer class="site">
        <p>
          A status page by <a href={site.baseUrl}>Allclear</a>.
        </p>
      </footer>
    </Document>
  )
  return c.body(`<!DOCTYPE html>${whole}`, status, pageHeaders)
}
