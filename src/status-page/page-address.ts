import { pageOnHost } from '../account/custom-domain/hosted-page.ts'
import type { PageLookup } from '../account/page/page-guard.ts'
import type { PageHost } from '../core/host-name.ts'
import type { Language } from '../language/catalogue.ts'
import { segmentOf } from '../language/choice.ts'

/** The requested address of an owner's pages: under the slug, or on the owner's custom domain. */
export interface PageAddress {
  /** The slug or the id of the page. */
  readonly owner: string
  /** The custom domain; null: the page is under its slug. */
  readonly host: PageHost | null
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** The prefix of the owner's paths without a language: `/status/{slug}`, or empty. */
  readonly root: string
  /** The same with the language, as in links between pages: `/status/{slug}/de`, `/de`. */
  readonly base: string
  /** The language in the address; null: none, which means the page's default. */
  readonly language: Language | null
}

/** Finds the owner of an address. */
export interface PageFinder {
  readonly site: { readonly baseUrl: string }
  readonly guard: PageLookup
}

/** Returns the address of an owner's page on this service. */
export function pageAddressOf(slug: string, { site }: Pick<PageFinder, 'site'>): PageAddress {
  const root = `/status/${slug}`
  return { owner: slug, host: null, origin: site.baseUrl, root, base: root, language: null }
}

/** Returns the address of the same page in a language; null: without one. */
export function inLanguage(address: PageAddress, language: Language | null): PageAddress {
  return { ...address, language, base: language === null ? address.root : `${address.root}/${segmentOf(language)}` }
}

/** Returns the path of a document, or of another page of the owner, in the language of the address. */
export function documentPath({ root, language }: Pick<PageAddress, 'root' | 'language'>, path: string): string {
  const mark = path.includes('?') ? '&' : '?'
  return `${root}${path}${language === null ? '' : `${mark}language=${segmentOf(language)}`}`
}

/** Returns the page address for the name of a host; null: it is not a verified custom domain. */
export async function pageAddressOfHost(name: string, { site, guard }: PageFinder): Promise<PageAddress | null> {
  const hosted = await pageOnHost(guard, site, name)
  if (hosted === null) return null
  const { page, host, origin } = hosted
  return { owner: page.pageId, host, origin, root: '', base: '', language: null }
}
