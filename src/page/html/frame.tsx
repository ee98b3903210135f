import type { Child } from 'hono/jsx'
import type { Assets } from '../../http/assets.ts'
import { Document } from '../../http/layout.tsx'
import type { Zone } from '../zone.ts'
import { Head, organizationData } from './head.tsx'

/** Whose page it is, and what of it every page of the owner shows. */
export interface Owner {
  readonly name: string
  readonly slug: string
  readonly description: string
  /** `#rrggbb`. */
  readonly accentColor: string
  /** An https address; null: the name stands alone. */
  readonly logoUrl: string | null
  /** The owner's own host name, whose pages are the ones to be found; null: there is none. */
  readonly customDomain: string | null
  readonly links: readonly { readonly label: string; readonly url: string }[]
}

/** What a page needs to know of where it is served, and as of when. */
export interface Served {
  readonly owner: Owner
  readonly assets: Assets
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** Where this service itself is at home. */
  readonly homeUrl: string
  /** What the paths of the owner's pages begin with: `/status/{slug}`, or nothing on the owner's own domain. */
  readonly base: string
  readonly zone: Zone
  /** Where the owner's log stood when the page was read. */
  readonly cursor: string
  /** When the page was read: its figures of today reach so far. */
  readonly readAt: Date
}

export interface FrameProps {
  readonly served: Served
  readonly title: string
  readonly description: string
  /** The page's path after `base`, such as `/history`; empty for the overview. */
  readonly path: string
  /** The path of its picture after `base`; that of the overview when left out. */
  readonly picture?: string
  /** What it is in the words of https://schema.org, but for its description and address; a page about the owner when left out. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** A whole page in its owner's name, kept true by the live script. */
export function Frame({ served, children, ...page }: FrameProps & { readonly children: Child }) {
  const { owner, assets, base, zone } = served
  const theme = themePath(owner.accentColor)
  const sheet = assets.url('status.css')
  const script = assets.url('live.js')
  const address = addressOf(served, page.path)
  const data = page.data ?? { '@type': 'WebPage', name: page.title, about: organizationData(owner) }
  return (
    <Document
      assets={assets}
      title={page.title}
      description={page.description}
      indexed
      canonical={address}
      head={<Head picture="/picture.png" {...page} served={served} address={address} data={data} />}
      sheets={[sheet, theme]}
      body={{
        'data-slug': owner.slug,
        'data-cursor': served.cursor,
        'data-build': [assets.url('style.css'), sheet, script, theme, owner.logoUrl].join(' '),
      }}
    >
      <p id="announcer" class="hidden" role="status"></p>
      <header id="owner" class="site owner">
        <a class="name" href={base || '/'}>
          {owner.logoUrl === null ? null : (
            // Its words stand beside it.
            <img src={owner.logoUrl} alt="" height="40" referrerpolicy="no-referrer" />
          )}
          {owner.name}
        </a>
        <nav aria-label={`Links of ${owner.name}`}>
          {owner.links.map(({ label, url }) => (
            <a href={url} rel="noopener noreferrer">
              {label}
            </a>
          ))}
          <a href={`${base}/subscribe`}>Get updates</a>
        </nav>
      </header>
      <main id="main" tabindex={-1}>
        {children}
      </main>
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
          <a href={`${base}/maintenance.ics`}>calendar of maintenance</a>,{' '}
          <a href={`${base}/api/v2/summary.json`}>JSON</a>.
        </p>
        <p>
          A live status page by <a href={served.homeUrl}>Allclear</a>.
        </p>
      </footer>
      <script src={script} defer></script>
    </Document>
  )
}

/** The one address of a page that may be served at two: that on the owner's own domain, when there is one. */
function addressOf({ owner, origin, base, homeUrl }: Served, path: string): string {
  if (owner.customDomain === null) return origin + (base + path || '/')
  return `${new URL(homeUrl).protocol}//${owner.customDomain}${path || '/'}`
}

/** How fresh the page is, as the live script tells; without it, how to see what has changed since. */
export function Freshness() {
  return (
    <p class="freshness">
      <span id="live" data-keep></span>
      <noscript>Reload this page to see what has changed.</noscript>
    </p>
  )
}

/** The path of the style sheet with an owner's colour: its name says all that is in it, so that it never changes. */
export function themePath(accentColor: string): string {
  return `/assets/theme.${accentColor.slice(1).toLowerCase()}.css`
}
