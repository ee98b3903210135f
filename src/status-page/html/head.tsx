import { raw } from 'hono/html'
import { logoUrlAt } from '../../account/page/logo.ts'
import { segmentOf } from '../../language/choice.ts'
import { OPEN_GRAPH_IMAGE_SIZE } from '../open-graph-image.ts'
import { documentPath } from '../page-address.ts'
import type { PageContext } from './page-layout.tsx'

/** The metadata of a page for search engines, feed readers and link previews. */
export interface HeadProps {
  readonly context: PageContext
  readonly title: string
  readonly description: string
  /** The canonical URL of the page. */
  readonly address: string
  /** The path of the page's preview image, after `base`. */
  readonly image: string
  /** Structured data (https://schema.org) without description and URL. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Renders feed links (RSS autodiscovery), link previews (https://ogp.me) and structured data (JSON-LD). */
export function Head({ context, title, description, address, image, data }: HeadProps) {
  const { owner, origin, root, cursor, words, language } = context
  const feed = words.page.feed(owner.name)
  const properties = {
    'og:type': 'website',
    'og:site_name': feed,
    'og:title': title,
    'og:description': description,
    'og:url': address,
    'og:locale': words.locale.replace('-', '_'),
    // A new address for each state of the page bypasses caches of old images.
    'og:image': `${origin}${root}${image}?${language === null ? '' : `language=${segmentOf(language)}&`}at=${cursor}`,
    'og:image:type': 'image/png',
    'og:image:width': String(OPEN_GRAPH_IMAGE_SIZE.width),
    'og:image:height': String(OPEN_GRAPH_IMAGE_SIZE.height),
    'og:image:alt': description,
  }
  return (
    <>
      <link rel="alternate" type="application/atom+xml" title={feed} href={documentPath(context, '/history.atom')} />
      <link rel="alternate" type="application/rss+xml" title={feed} href={documentPath(context, '/history.rss')} />
      {Object.entries(properties).map(([property, content]) => (
        <meta property={property} content={content} />
      ))}
      <meta name="twitter:card" content="summary_large_image" />
      <script type="application/ld+json">
        {raw(jsonInHtml({ '@context': 'https://schema.org', url: address, description, ...data }))}
      </script>
    </>
  )
}

/** Returns the owner of a page as a schema.org `Organization`. */
export function organizationData({ owner: { name, logoUrl }, origin }: Pick<PageContext, 'owner' | 'origin'>) {
  const logo = logoUrlAt(origin, logoUrl)
  return { '@type': 'Organization', name, ...(logo !== null && { logo }) }
}

/** Serializes JSON for a script element, so that no text in it can close the element. */
function jsonInHtml(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
