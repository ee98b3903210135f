import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Catalogue } from '../../language/catalogue.ts'
import { themeStylesheetPath } from '../assets/theme.ts'
import type { Site } from './layout.tsx'
import { Document, pageHeaders, SkipLink, sendWholePage } from './layout.tsx'

/** The owner of a status page, under whose name a page is sent. */
export interface FrameOwner {
  readonly name: string
  /** The URL of the status page. */
  readonly url: string
  /** `#rrggbb`. */
  readonly accentColor: string
  /** An https URL, or a path of this service; null: no logo. */
  readonly logoUrl: string | null
  /** Empty: the name is not in the language of the page. */
  readonly lang?: '' | undefined
}

/** A page under the name of an owner, besides the status page itself. */
export interface FramedPage {
  readonly title: string
  readonly words: Catalogue
  /** Logical names of further style sheets. */
  readonly sheets?: readonly string[]
  readonly content: Child
  readonly status?: ContentfulStatusCode
}

/** Sends a page with the owner's name, logo and colour. Search engines must not index it. */
export function respondInOwnersFrame(c: Context, site: Site, owner: FrameOwner, page: FramedPage): Response {
  const { title, words, sheets = [], content, status = 200 } = page
  const whole = (
    <Document
      assets={site.assets}
      title={words.page.title(title, owner.name)}
      description={words.subscription.description(owner.name)}
      language={words}
      skipLink={<SkipLink text={words.page.skip} />}
      indexed={false}
      canonical={null}
      sheets={[...sheets.map((name) => site.assets.url(name)), themeStylesheetPath(owner.accentColor)]}
      body={{ 'data-owned': '' }}
    >
      <header class="site owner">
        <OwnerName {...owner} />
      </header>
      <main id="main" tabindex={-1}>
        <h1>{title}</h1>
        {content}
      </main>
      <footer class="site">
        <p>{words.page.by(<a href={site.baseUrl}>Allclear</a>)}</p>
      </footer>
    </Document>
  )
  return sendWholePage(c, `<!DOCTYPE html>${whole}`, status, { ...pageHeaders, ...logoPolicy(owner.logoUrl) })
}

/** Renders the owner's logo and name, which link to the status page. */
export function OwnerName({ name, url, logoUrl, lang }: Omit<FrameOwner, 'accentColor'>) {
  return (
    <a class="name" href={url}>
      {logoUrl === null ? null : (
        // The name beside it is its text alternative.
        <img src={logoUrl} alt="" height="40" referrerpolicy="no-referrer" />
      )}
      <bdi lang={lang}>{name}</bdi>
    </a>
  )
}

/** Returns the header that lets a page show a logo, which is the only resource that may be external. */
export function logoPolicy(logoUrl: string | null) {
  const from = logoUrl === null || logoUrl.startsWith('/') ? '' : ` ${new URL(logoUrl).origin}`
  const policy = pageHeaders['content-security-policy'].replace("img-src 'self'", `img-src 'self'${from}`)
  return { 'content-security-policy': policy } as const
}
