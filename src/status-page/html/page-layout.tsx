import type { Child } from 'hono/jsx'
import { originOfHost } from '../../account/custom-domain/domain-name.ts'
import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { Assets } from '../../http/assets/assets.ts'
import { themeStylesheetPath } from '../../http/assets/theme.ts'
import { Document, SkipLink } from '../../http/page/layout.tsx'
import { OwnerName } from '../../http/page/owner-frame.tsx'
import type { Catalogue, Language } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { segmentOf } from '../../language/choice.ts'
import { documentPath } from '../page-address.ts'
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
  /** Whether its readers can read its monthly reports. */
  readonly publishesReports: boolean
  /** What the uptime of its services counts. */
  readonly uptimeSource: UptimeSource
}

/** The data that every page needs: its owner, its address and the time of its data. */
export interface PageContext {
  readonly owner: Owner
  readonly assets: Assets
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** The base URL of this service. */
  readonly homeUrl: string
  /**
   * The prefix of the owner's pages: `/status/{slug}`, empty on the owner's custom domain, and the language if it is in
   * the address.
   */
  readonly base: string
  readonly zone: Zone
  /** The words of the page’s language. */
  readonly words: Catalogue
  /** The languages that it offers. */
  readonly offered: readonly Language[]
  /** The language in the address; null: none. */
  readonly language: Language | null
  /** The language of the page. */
  readonly shownIn: Language
  /** The attributes of elements with a text of the owner, see `attributesOf`. */
  readonly ownersText: { readonly dir: 'auto'; readonly lang?: '' }
  /** The prefix of the owner's paths without a language. */
  readonly root: string
  /** The newest position in the owner's event log when the page was read. */
  readonly cursor: string
  /** Whether it is a preview: without script and metadata, and its links do nothing. */
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
  const { owner, assets, zone, words } = context
  const theme = themeStylesheetPath(owner.accentColor)
  const sheet = assets.url('status.css')
  const script = assets.url('live.js')
  const address = canonicalUrl(context, context.language, page.path)
  const data = page.data ?? { '@type': 'WebPage', name: page.title, about: organizationData(context) }
  return (
    <Document
      assets={assets}
      language={words}
      title={page.title}
      description={page.description}
      indexed
      skipLink={
        <Part>
          <SkipLink text={words.page.skip} />
        </Part>
      }
      canonical={address}
      head={
        context.isDraft ? (
          // A frame that may not open windows does not follow these links.
          <base target="_blank" />
        ) : (
          <>
            <Head image="/picture.png" {...page} context={context} address={address} data={data} />
            <Alternates context={context} path={page.path} />
          </>
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
        <p id="announcer" class="hidden" role="status" data-words={liveWords(words, zone)}></p>
      </Part>
      <Part>
        <OwnerHeader context={context} />
      </Part>
      <main id="main" tabindex={-1}>
        {children}
      </main>
      <Part>
        <Colophon context={context} path={page.path} />
      </Part>
      {context.isDraft ? null : (
        <Part>
          <script src={script} defer></script>
        </Part>
      )}
    </Document>
  )
}

/** Renders the owner's name and links. */
function OwnerHeader({ context }: { readonly context: PageContext }) {
  const { owner, base, words, ownersText } = context
  return (
    <header id="owner" class="site owner">
      <OwnerName {...owner} url={base || '/'} lang={ownersText.lang} />
      <nav aria-label={words.page.ownersLinks(owner.name)}>
        {owner.links.map(({ label, url }) => (
          <a href={url} rel="noopener noreferrer" {...ownersText}>
            {label}
          </a>
        ))}
        <a href={documentPath(context, '/subscribe')}>{words.page.getUpdates}</a>
      </nav>
    </header>
  )
}

/** Renders the footer of a page: its languages, description, links, time zone and documents. */
function Colophon({ context, path }: { readonly context: PageContext; readonly path: string }) {
  const { owner, base, root, zone, words } = context
  return (
    <footer id="colophon" class="site">
      <Languages context={context} path={path} />
      {owner.description === '' ? null : (
        <p class="description" {...context.ownersText}>
          {owner.description}
        </p>
      )}
      <p>
        {path === '' ? null : (
          <>
            <a href={base || '/'}>{words.page.current}</a> · <a href={`${base}/history`}>{words.history.title}</a> ·{' '}
          </>
        )}
        {owner.publishesReports ? (
          <>
            <a href={`${base}/reports`}>{words.report.title}</a> ·{' '}
          </>
        ) : null}
        {words.page.timesIn(zone.name)}
      </p>
      <p class="ways">
        <a
          href={documentPath(context, '/subscribe?channel=FEED')}
          aria-label={words.page.feeds}
          title={words.page.feeds}
        >
          <Icon path={feedIcon} />
        </a>
        <a
          href={documentPath(context, '/subscribe?channel=CALENDAR')}
          aria-label={words.page.calendar}
          title={words.page.calendar}
        >
          <Icon path={calendarIcon} />
        </a>
        <a href={`${root}/api/v2/summary.json`}>JSON</a>
      </p>
      <p>{words.page.by(<a href={context.homeUrl}>Allclear</a>)}</p>
    </footer>
  )
}

const feedIcon =
  'M3 11a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM1 6v2.5A6.5 6.5 0 0 1 7.5 15H10A9 9 0 0 0 1 6Zm0-5v2.5A11.5 11.5 0 0 1 12.5 15H15A14 14 0 0 0 1 1Z'
const calendarIcon = 'M4 1v2H2v12h12V3h-2V1h-2v2H6V1H4Zm-.5 6h9v6.5h-9V7Z'

function Icon({ path }: { readonly path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
      <path fill="currentColor" fill-rule="evenodd" d={path} />
    </svg>
  )
}

/** Returns the texts of the live script, in which `{time}` stands for a time or a duration, and the time zone. */
function liveWords({ live, day, duration }: Catalogue, zone: Zone): string {
  const time = '{time}'
  const states = [live.live, live.upToDateAt(time), live.lastUpdatedAt(time), live.lost(time)]
  return JSON.stringify([...states, live.ownTime(time), day.soFar(time), duration(0), zone.name])
}

/**
 * Returns the URL of a page in a language, on the owner's custom domain when there is one. @param language null: in the
 * default one.
 */
function canonicalUrl({ owner, origin, root, homeUrl }: PageContext, language: Language | null, path: string): string {
  const segment = language === null ? '' : `/${segmentOf(language)}`
  if (owner.customDomain === null) return origin + (root + segment + path || '/')
  return `${originOfHost(homeUrl, owner.customDomain)}${segment + path || '/'}`
}

/** Renders the page's addresses in each language, for search engines. */
function Alternates({ context, path }: { readonly context: PageContext; readonly path: string }) {
  if (context.offered.length < 2) return null
  return (
    <>
      {context.offered.map((language) => (
        <link rel="alternate" hreflang={wordsOf(language).tag} href={canonicalUrl(context, language, path)} />
      ))}
      <link rel="alternate" hreflang="x-default" href={canonicalUrl(context, null, path)} />
    </>
  )
}

/** Renders the choice of a language. */
function Languages({ context, path }: { readonly context: PageContext; readonly path: string }) {
  const { offered, root, words } = context
  if (offered.length < 2) return null
  return (
    <nav class="languages" aria-label={words.page.language}>
      {offered.map((language) => {
        const { tag, name } = wordsOf(language)
        const href = `${root}/${segmentOf(language)}${path}`
        return (
          <a href={href} lang={tag} hreflang={tag} aria-current={tag === words.tag ? 'true' : undefined}>
            {name}
          </a>
        )
      })}
    </nav>
  )
}

/** Shows whether the page is live; the live script fills it in. Without scripts, asks the reader to reload. */
export function LiveState({ words }: { readonly words: Catalogue }) {
  return (
    <Part>
      <p class="freshness">
        <span id="live" data-keep></span>
        <noscript>{words.page.reload}</noscript>
      </p>
    </Part>
  )
}
