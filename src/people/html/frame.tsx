import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { themeStylesheetPath } from '../../http/assets/theme.ts'
import type { Site } from '../../http/page/layout.tsx'
import { Document, pageHeaders } from '../../http/page/layout.tsx'

/** Headers of pages for one person. The pages are not cached, and can be installed as an app. */
export const privateHeaders = {
  ...pageHeaders,
  'content-security-policy': `${pageHeaders['content-security-policy']}; manifest-src 'self'`,
  'cache-control': 'private, no-store',
} as const

interface FormPageLook {
  readonly language?: { readonly tag: string; readonly dir: 'ltr' | 'rtl' }
  /** The colour of an owner, as `#rrggbb`; absent: ours. */
  readonly accentColor?: string
}

/** Sends a narrow page with one form, such as the page to sign in. */
export function respondWithFormPage(
  c: Context,
  site: Site,
  title: string,
  content: Child,
  status: ContentfulStatusCode = 200,
  { language, accentColor }: FormPageLook = {},
): Response {
  const whole = (
    <Document
      assets={site.assets}
      title={`${title} · Allclear`}
      description={title}
      {...(language && { language })}
      indexed={false}
      canonical={null}
      sheets={[site.assets.url('console.css'), ...(accentColor ? [themeStylesheetPath(accentColor)] : [])]}
      scripts={['console.js']}
      body={{ 'data-page': 'form' }}
    >
      <header class="site">
        <a class="wordmark" href="/">
          Allclear
        </a>
      </header>
      <main id="main" tabindex={-1}>
        <h1>{title}</h1>
        {content}
      </main>
    </Document>
  )
  return c.body(`<!DOCTYPE html>${whole}`, status, privateHeaders)
}
