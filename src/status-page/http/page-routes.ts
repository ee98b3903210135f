import type { Context, Hono } from 'hono'
import { slugText } from '../../account/page/page-settings.ts'
import { typeOfId } from '../../core/id.ts'
import { hostNameOf } from '../../http/request/host-header.ts'
import { languageOfTag, languagePattern } from '../../language/choice.ts'
import type { PageAddress, PageFinder } from '../page-address.ts'
import { inLanguage, pageAddressOf, pageAddressOfHost } from '../page-address.ts'

/**
 * Adds a route for a path of every owner's page, under `/status/{slug}` and on custom domains. Calls `answer` with null
 * for an address that cannot be a page. `inLanguages` also adds the addresses with a language.
 */
export function addPageRoute(
  routes: Hono,
  finder: PageFinder,
  path: string,
  answer: (c: Context, address: PageAddress | null) => Response | Promise<Response>,
  { inLanguages = false } = {},
): void {
  const languages = inLanguages ? ['', `/:language{${languagePattern}}`] : ['']
  for (const language of languages) addRoute(routes, finder, { language, path }, answer)
}

function addRoute(
  routes: Hono,
  finder: PageFinder,
  { language, path }: { readonly language: string; readonly path: string },
  answer: (c: Context, address: PageAddress | null) => Response | Promise<Response>,
): void {
  /** An address with another tag of the language, such as `/zh-cn`, redirects to the usual one. */
  function answerIn(c: Context, address: PageAddress): Response | Promise<Response> {
    const tag = c.req.param('language')
    const own = inLanguage(address, languageOfTag(tag))
    const prefix = `${address.root}/${tag}`
    if (own.language === null || prefix === own.base) return answer(c, own)
    return c.redirect(own.base + c.req.path.slice(prefix.length) + new URL(c.req.url).search, 302)
  }
  routes.get(`/status/:slug${language}${path}`, (c) => {
    const slug = c.req.param('slug') ?? ''
    // The query also finds pages by id, which would be a second address for them.
    const isId = typeOfId(slug) !== null
    // A name that no page can have might not be possible in the address of a redirect either.
    const isRedirectable = language === '' || slugText.safeParse(slug).success
    return isId || !isRedirectable ? answer(c, null) : answerIn(c, pageAddressOf(slug, finder))
  })
  routes.get(language + path || '/', async (c, next) => {
    const address = await pageAddressOfHost(hostNameOf(c.req.header('host')), finder)
    return address === null ? next() : answerIn(c, address)
  })
}
