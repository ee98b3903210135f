import type { Context } from 'hono'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Assets } from './assets.ts'

/** What every page needs to know of the site. */
export interface Site {
  readonly assets: Assets
  /** The public address, without a slash at its end. */
  readonly baseUrl: string
}

export interface PageProps {
  readonly title: string
  /** One or two sentences for search results and link previews. */
  readonly description: string
  /** The page's own path, already encoded; null for pages without an address of their own, such as errors. */
  readonly path: string | null
  /** Whether search engines may keep the page. */
  readonly indexed: boolean
  /** Logical names of the scripts that make the page live. */
  readonly scripts?: readonly string[]
  /** Who is to be named for the data shown. */
  readonly sources?: readonly { readonly text: string; readonly url: string }[]
}

/**
 * Headers of every page: nothing is fetched from elsewhere, run inline, framed or told to the next site. A page is asked for
 * anew each time but when the reader goes back to it, so that going back to a report costs no second check.
 */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
} as const

const navigation = [
  { path: '/', text: 'Check' },
  { path: '/pricing', text: 'Prices' },
  { path: '/docs', text: 'API docs' },
  { path: '/graphql', text: 'GraphQL' },
] as const

/** Where the content goes. Nothing else can hold it: everything rendered is escaped. */
const gap = '<!--content-->'

/**
 * The HTML before and after a page's content. The footer comes only after the content: while a page is still being sent, the
 * style sheet and the scripts take a footer in the document to mean that the content is whole.
 */
export function pageAround(site: Site, props: PageProps): readonly [string, string] {
  const [before = '', after = ''] = String(<Shell site={site} {...props} />).split(gap)
  return [`<!DOCTYPE html>${before}`, after]
}

/** A whole page as a response. Headers set on the context before are kept, also those that every page has. */
export function respondWithPage(
  c: Context,
  site: Site,
  props: PageProps,
  content: Child,
  status: ContentfulStatusCode = 200,
): Response {
  const [before, after] = pageAround(site, props)
  const own = Object.entries(pageHeaders).filter(([name]) => !c.res.headers.has(name))
  return c.body(before + String(content) + after, status, Object.fromEntries(own))
}

/** What every document says of itself, whoever's name is at its head. */
export interface DocumentProps extends Pick<PageProps, 'title' | 'description' | 'indexed' | 'scripts'> {
  /** The page's one public address; null for pages without an address of their own. */
  readonly canonical: string | null
  /** What else its head says. */
  readonly head?: Child
  /** Paths of style sheets after the common one. */
  readonly sheets?: readonly string[]
  /** Attributes of the body, for the page's own script. */
  readonly body?: Readonly<Record<`data-${string}`, string>>
}

/** The frame of every document: its head, and a link that skips what stands before `<main id="main">`. */
export function Document({ assets, children, ...page }: DocumentProps & { assets: Assets; children: Child }) {
  return (
    <html lang="en">
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
          // Not deferred: it is to work while the page is still arriving.
          <script async src={assets.url(name)} />
        ))}
      </head>
      <body {...page.body}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        {children}
      </body>
    </html>
  )
}

function Shell({ site, path, sources, ...page }: PageProps & { readonly site: Site }) {
  return (
    <Document {...page} assets={site.assets} canonical={path === null ? null : site.baseUrl + path}>
      <header class="site">
        <a class="wordmark" href="/">
          Allclear
        </a>
        <nav aria-label="Main">
          {navigation.map((entry) => (
            <a href={entry.path} aria-current={entry.path === path ? 'page' : undefined}>
              {entry.text}
            </a>
          ))}
        </nav>
      </header>
      <main id="main" tabindex={-1}>
        {raw(gap)}
      </main>
      <footer class="site">
        <p>Allclear asks each list directly, over DNS. It keeps no list of its own and can remove nobody from one.</p>
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
