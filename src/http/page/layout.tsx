import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Assets } from '../assets/assets.ts'
import { hasCurrent, weakEtag } from '../response/etag.ts'

/** The data of the site that every page needs. */
export interface Site {
  readonly assets: Assets
  /** The public address, without a trailing slash. */
  readonly baseUrl: string
  /** Whether anything can be bought here; otherwise no page leads to prices. */
  readonly hasPayments?: boolean
}

export interface PageProps {
  readonly title: string
  /** One or two sentences for search results and link previews. */
  readonly description: string
  /** The page's own path, already encoded; null for pages without an address of their own, such as errors. */
  readonly path: string | null
  /** Whether search engines may index the page. */
  readonly indexed: boolean
  /** Logical names of the page's scripts, which run once the page has been parsed. */
  readonly scripts?: readonly string[]
  /** Logical names of scripts that run while the page is still loading, possibly before any of its content exists. */
  readonly earlyScripts?: readonly string[]
  /** Paths of style sheets after the common one. */
  readonly sheets?: readonly string[]
  /** Content between the header and the main content, such as a menu. */
  readonly aside?: Child
  /** The sources to credit for the data shown. */
  readonly sources?: readonly { readonly text: string; readonly url: string }[]
}

/**
 * Headers of every page: no external resources, inline scripts or framing, and no referrer for other sites. Browsers
 * revalidate a page except on back navigation, so that going back to a report costs no second check.
 */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
} as const

const PRICES = '/pricing'
const navigation = [
  { path: '/docs/status-pages', text: 'Status pages' },
  { path: '/', text: 'Check' },
  { path: PRICES, text: 'Prices' },
  { path: '/docs', text: 'Docs' },
  { path: '/graphql', text: 'GraphQL' },
  { path: '/console', text: 'Console' },
] as const

/** Marks the place of the content. Rendered text cannot contain it, because it is escaped. */
const contentPlaceholder = '<!--content-->'

/**
 * Renders the HTML before and after a page's content. While a page is being sent, the style sheet and scripts recognize
 * by the footer that the content is complete.
 */
export function renderPageShell(site: Site, props: PageProps): readonly [string, string] {
  const [before = '', after = ''] = String(<PageShell site={site} {...props} />).split(contentPlaceholder)
  return [`<!DOCTYPE html>${before}`, after]
}

/** Responds with a complete page. Headers already set on the context override the common ones. */
export function respondWithPage(
  c: Context,
  site: Site,
  props: PageProps,
  content: Child,
  status: ContentfulStatusCode = 200,
): Response {
  const [before, after] = renderPageShell(site, props)
  const html = before + String(content) + after
  const own = Object.fromEntries(Object.entries(pageHeaders).filter(([name]) => !c.res.headers.has(name)))
  return sendWholePage(c, html, status, own)
}

/** Sends a page with its ETag, or 304 to a browser that has it; without an ETag if the headers forbid storing it. */
export function sendWholePage(
  c: Context,
  html: string,
  status: ContentfulStatusCode,
  headers: Readonly<Record<string, string>>,
): Response {
  const mayBeKept = status === 200 && c.req.method === 'GET' && 'cache-control' in headers
  if (!mayBeKept) return c.body(html, status, headers)
  const etag = weakEtag(html)
  const isKnown = hasCurrent(c.req.header('if-none-match'), etag)
  return isKnown ? c.body(null, 304, { ...headers, etag }) : c.body(html, 200, { ...headers, etag })
}

/** The properties of every document, in our own layout or a page owner's. */
export interface DocumentProps
  extends Pick<PageProps, 'title' | 'description' | 'indexed' | 'scripts' | 'earlyScripts' | 'sheets'> {
  /** The canonical URL; null for pages without an address of their own. */
  readonly canonical: string | null
  /** Further elements of the head. */
  readonly head?: Child
  /** Replaces the `SkipLink`, and contains one. */
  readonly skipLink?: Child
  /** Its language (BCP 47) and direction; English by default. */
  readonly language?: { readonly tag: string; readonly dir: 'ltr' | 'rtl' }
  /** Attributes of the body, for the page's own script. */
  readonly body?: Readonly<Record<`data-${string}`, string>>
}

/** Renders a document: its head, and a link that skips to `<main id="main">`. */
export function Document({ assets, children, ...page }: DocumentProps & { assets: Assets; children: Child }) {
  return (
    <html lang={page.language?.tag ?? 'en'} dir={page.language?.dir}>
      <head>
        <meta charset="utf-8" />
        <title>{page.title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content={page.description} />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fbfbf9" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#14181a" media="(prefers-color-scheme: dark)" />
        {page.indexed ? null : <meta name="robots" content="noindex, nofollow" />}
        {page.canonical === null ? null : <link rel="canonical" href={page.canonical} />}
        {page.head}
        <link rel="icon" type="image/svg+xml" href={assets.url('favicon.svg')} />
        {[assets.url('style.css'), ...(page.sheets ?? [])].map((href) => (
          <link rel="stylesheet" href={href} />
        ))}
        {(page.scripts ?? []).map((name) => (
          <script defer src={assets.url(name)} />
        ))}
        {(page.earlyScripts ?? []).map((name) => (
          <script async src={assets.url(name)} />
        ))}
      </head>
      <body {...page.body}>
        {page.skipLink ?? <SkipLink />}
        {children}
      </body>
    </html>
  )
}

/** Renders the first link of a page, for the keyboard and screen readers. */
export function SkipLink({ text = 'Skip to content' }: { readonly text?: string }) {
  return (
    <a class="skip" href="#main">
      {text}
    </a>
  )
}

/** Renders the site's name and navigation. */
function SiteHeader({ site, path }: Pick<PageProps, 'path'> & { readonly site: Site }) {
  return (
    <header class="site">
      <a class="wordmark" href="/">
        Allclear
      </a>
      <nav aria-label="Main">
        {navigation
          .filter(({ path }) => site.hasPayments || path !== PRICES)
          .map((entry) => (
            <a href={entry.path} aria-current={entry.path === path ? 'page' : undefined}>
              {entry.text}
            </a>
          ))}
      </nav>
    </header>
  )
}

function PageShell({ site, path, sources, aside, ...page }: PageProps & { readonly site: Site }) {
  return (
    <Document {...page} assets={site.assets} canonical={path === null ? null : site.baseUrl + path}>
      <SiteHeader site={site} path={path} />
      {aside}
      <main id="main" tabindex={-1}>
        {raw(contentPlaceholder)}
      </main>
      <footer class="site">
        <p>Allclear queries each blacklist directly over DNS. It runs no list and cannot remove entries.</p>
        <p>
          <a href="/docs">Documentation</a> ·{' '}
          <a href="https://www.apache.org/licenses/LICENSE-2.0" rel="noopener noreferrer license">
            Apache License 2.0
          </a>
        </p>
        {sources ? (
          <p>
            {sources.map(({ text, url }, index) => (
              <>
                {index > 0 ? ' · ' : ''}
                <a href={url} rel="noopener noreferrer">
                  {text}
                </a>
              </>
            ))}
          </p>
        ) : null}
      </footer>
    </Document>
  )
}
