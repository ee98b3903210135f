import { raw } from 'hono/html'
import { PICTURE_SIZE } from '../picture.ts'
import type { Owner, Served } from './frame.tsx'

/** What a page says of itself to programs: search engines, feed readers, and whoever shows a link to it. */
export interface HeadProps {
  readonly served: Served
  readonly title: string
  readonly description: string
  /** The page's one public address. */
  readonly address: string
  /** The path of the page's picture, after `base`. */
  readonly picture: string
  /** What it is in the words of https://schema.org, but for its names and address. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Feeds to follow (RSS autodiscovery), what a link shows (https://ogp.me), and structured data (JSON-LD). */
export function Head({ served, title, description, address, picture, data }: HeadProps) {
  const { owner, origin, base, cursor } = served
  const feed = `${owner.name} status`
  const properties = {
    'og:type': 'website',
    'og:site_name': feed,
    'og:title': title,
    'og:description': description,
    'og:url': address,
    // Whoever keeps pictures asks for another when the page has changed.
    'og:image': `${origin}${base}${picture}?at=${cursor}`,
    'og:image:type': 'image/png',
    'og:image:width': String(PICTURE_SIZE.width),
    'og:image:height': String(PICTURE_SIZE.height),
    'og:image:alt': description,
  }
  return (
    <>
      <link rel="alternate" type="application/atom+xml" title={feed} href={`${base}/history.atom`} />
      <link rel="alternate" type="application/rss+xml" title={feed} href={`${base}/history.rss`} />
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

/** The owner in the words of schema.org. */
export function organizationData({ name, logoUrl }: Owner) {
  return { '@type': 'Organization', name, ...(logoUrl !== null && { logo: logoUrl }) }
}

/** JSON that no text in it can end the element of. */
function jsonInHtml(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
