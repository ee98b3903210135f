import type { Context } from 'hono'
import { shownLogo } from '../../account/page/logo.ts'
import { NotFound } from '../../core/errors.ts'
import { respondInOwnersFrame } from '../../http/page/owner-frame.tsx'
import { hostNameOf } from '../../http/request/host-header.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { languageOfTag, ownersLang } from '../../language/choice.ts'
import { documentLanguage } from '../document-language.ts'
import type { PageAddress } from '../page-address.ts'
import { inLanguage, pageAddressOf, pageAddressOfHost } from '../page-address.ts'
import { sharedState } from '../shared-state.ts'
import type { PageSource } from './rendered-page.tsx'

/** Answers in the owner's look that a status page has nothing at this address. Null: the status page does not exist. */
export async function respondMissing(c: Context, source: PageSource, address: PageAddress): Promise<Response | null> {
  const state = await sharedState(source, address.owner).catch(nullIfNotFound)
  if (state === null) return null
  const { name, accentColor, logoUrl, defaultLanguage } = state.organization
  const language = documentLanguage(state, address.language)
  const { base } = inLanguage(address, address.language === language ? language : null)
  const words = wordsOf(language)
  const content = (
    <p class="lead">
      <a href={base || '/'}>{words.page.current}</a> · <a href={`${base}/history`}>{words.history.title}</a>
    </p>
  )
  const lang = ownersLang(words, defaultLanguage)
  const owner = { name, url: base || '/', accentColor, logoUrl: shownLogo(logoUrl), lang }
  return respondInOwnersFrame(c, source.site, owner, { title: words.page.notFound, words, content, status: 404 })
}

/**
 * Answers for an unknown path below `/status/{slug}`, like `respondMissing`. Null: the path is elsewhere, or one of the
 * public paths that open a private page.
 */
export function respondMissingPath(c: Context, source: PageSource): Promise<Response | null> {
  const [, slug, first] = /^\/status\/([a-z0-9-]{2,63})\/([^/]*)/.exec(c.req.path) ?? []
  if (slug === undefined || first === 'access') return Promise.resolve(null)
  return respondMissing(c, source, inLanguage(pageAddressOf(slug, source), languageOfTag(first)))
}

/** Answers for an unknown path of a custom domain, like `respondMissing`. Null: the host is not one. */
export async function respondMissingOnDomain(c: Context, source: PageSource): Promise<Response | null> {
  const [first = ''] = c.req.path.split('/').slice(1)
  const address = first === 'access' ? null : await pageAddressOfHost(hostNameOf(c.req.header('host')), source)
  return address && respondMissing(c, source, inLanguage(address, languageOfTag(first)))
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof NotFound) return null
  throw error
}
