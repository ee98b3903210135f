import type { Child } from 'hono/jsx'
import type { Assets } from '../../http/assets.ts'
import { Document, SkipLink } from '../../http/layout.tsx'
import type { Zone } from '../time-format.ts'
import { Head, organizationData } from './head.tsx'
import { Part, shortHash, unversioned } from './parts.tsx'
import { ShapeSheet } from './status-mark.tsx'

/** The organization that owns the page, as every page shows it. */
export interface Owner {
  readonly name: string
  readonly slug: string
  readonly description: string
  /** `#rrggbb`. */
  readonly accentColor: string
  /** An https URL, or a path of this service; null: no logo. */
  readonly logoUrl: string | null
  /** The custom domain, whose addresses are canonical; null: none. */
  readonly customDomain: string | null
  readonly links: readonly { readonly label: string; readonly url: string }[]
}

/** The data that every page needs: its owner, its address and the time of its data. */
export interface PageContext {
  readonly owner: Owner
  readonly assets: Assets
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** The base URL of this service. */
  readonly homeUrl: string
  /** The prefix of the owner's paths: `/status/{slug}`; empty on the owner's custom domain. */
  readonly base: string
  readonly zone: Zone
  /** The newest position in the owner's event log when the page was read. */
  readonly cursor: string
  /** Whether it only shows what the page would look like: without script and metadata, and its links do nothing. */
  readonly isDraft?: boolean
}

export interface PageLayoutProps {
  readonly context: PageContext
  readonly title: string
  readonly description: string
  /** The page's path after `base`, such as `/history`; empty for the overview. */
  readonly path: string
  /** The path of its preview image after `base`; the overview's image by default. */
  readonly image?: string
  /** Structured data (https://schema.org) without description and URL; a `WebPage` about the owner by default. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** Renders a page with its owner's name, links and colour. The live script keeps it up to date. */
export function PageLayout({ context, children, ...page }: PageLayoutProps & { readonly children: Child }) {
  const { owner, assets, base, zone } = context
  const theme = themeStylesheetPath(owner.accentColor)
  const sheet = assets.url('status.css')
  const script = assets.url('live.js')
  const address = canonicalUrl(context, page.path)
  const data = page.data ?? { '@type': 'WebPage', name: page.title, about: organizationData(context) }
  return (
    <Document
      assets={assets}
      title={page.title}
      description={page.description}
      indexed
      skipLink={
        <Part>
          <SkipLink />
        </Part>
      }
      canonical={address}
      head={
        context.isDraft ? (
          // A frame that may open no windows does not follow these links.
          <base target="_blank" />
        ) : (
          <Head image="/picture.png" {...page} context={context} address={address} data={data} />
        )
      }
      sheets={[sheet, theme]}
      body={{
        'data-slug': owner.slug,
        'data-cursor': context.cursor,
        ...unversioned,
        'data-build': shortHash([assets.url('style.css'), sheet, script, theme, owner.logoUrl].join(' ')),
      }}
    >
      <Part>
        <ShapeSheet />
      </Part>
      <Part>
        <p id="announcer" class="hidden" role="status"></p>
      </Part>
      <Part>
        <header id="owner" class="site owner">
          <a class="name" href={base || '/'}>
            {owner.logoUrl === null ? null : (
              // The name beside it is its text alternative.
              <img src={owner.logoUrl} alt="" height="40" referrerpolicy="no-referrer" />
            )}
            {owner.name}
          </a>
          <nav aria-label={`${owner.name} links`}>
            {owner.links.map(({ label, url }) => (
              <a href={url} rel="noopener noreferrer">
                {label}
              </a>
            ))}
            <a href={`${base}/subscribe`}>Get updates</a>
          </nav>
        </header>
      </Part>
      <main id="main" tabindex={-1}>
        {children}
      </main>
      <Part>
        <footer id="colophon" class="site">
          {owner.description === '' ? null : <p class="description">{owner.description}</p>}
          <p>
            {page.path === '' ? null : (
              <>
                <a href={base || '/'}>Current status</a> · <a href={`${base}/history`}>Incident history</a> ·{' '}
              </>
            )}
            Times in {zone.name}.
          </p>
          <p>
            Feeds: <a href={`${base}/history.atom`}>Atom</a>, <a href={`${base}/history.rss`}>RSS</a>,{' '}
            <a href={`${base}/maintenance.ics`}>maintenance calendar</a>,{' '}
            <a href={`${base}/api/v2/summary.json`}>JSON</a>.
          </p>
          <p>
            A live status page by <a href={context.homeUrl}>Allclear</a>.
          </p>
        </footer>
      </Part>
      {context.isDraft ? null : (
        <Part>
          <script src={script} defer></script>
        </Part>
      )}
    </Document>
  )
}

/** Returns the canonical URL of a page, which is on the owner's custom domain when there is one. */
function canonicalUrl({ owner, origin, base, homeUrl }: PageContext, path: string): string {
  if (owner.customDomain === null) return origin + (base + path || '/')
  return `${new URL(homeUrl).protocol}//${owner.customDomain}${path || '/'}`
}

/** Shows whether the page is live; the live script fills it in. Without scripts, asks the reader to reload. */
export function LiveState() {
  return (
    <Part>
      <p class="freshness">
        <span id="live" data-keep></span>
        <noscript>Reload this page for updates.</noscript>
      </p>
    </Part>
  )
}

/** Returns the path of the style sheet with an owner's colour. The path contains the colour, so the content never changes. */
function themeStylesheetPath(accentColor: string): string {
  return `/assets/theme.${accentColor.slice(1).toLowerCase()}.css`
}
