import type { Context } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../../core/errors.ts'
import { root } from '../../core/process/paths.ts'
import { errorPage } from '../../http/page/error-page.tsx'
import { pageHeaders } from '../../http/page/layout.tsx'
import { publicCacheControl } from '../../http/response/cache-control.ts'
import type { Language } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { languageOfTag, ownersLang } from '../../language/choice.ts'
import { isolate } from '../../language/isolate.ts'
import type { PageState } from '../../status/page/page-state.ts'
import { documentLanguage } from '../document-language.ts'
import { rememberAddress } from '../http/hot-answers.ts'
import { createRenderedPage, sendPage, sendStalePage } from '../http/page-response.tsx'
import { addPageRoute } from '../http/page-routes.ts'
import type { PageAddress } from '../page-address.ts'
import { inLanguage } from '../page-address.ts'
import { sharedState, versionOf } from '../shared-state.ts'
import { statusShapes } from '../status-shapes.ts'
import { zoneOf } from '../time-format.ts'
import { headline } from '../view.ts'
import { ownersAttributes, Sentence } from './owners-text.tsx'
import type { PageSource } from './rendered-page.tsx'

/** The style sheet of the status line; minified as `embed.css`. */
export const embedStylesheet = new URL('src/status-page/embed.css', root)

/** How often an embedded status line reloads, in seconds, because it has no script. */
const REFRESH_S = 60

const themes = ['light', 'dark'] as const
type Theme = (typeof themes)[number]

/**
 * Creates the route of the status line, which other sites embed in a frame: one line with the status of a page and a
 * link to it. Only the sites that the owner has listed can embed it. It is cached like a page.
 */
export function embedRoutes(options: PageSource): Hono {
  const { site, cache } = options

  async function answer(c: Context, address: PageAddress | null): Promise<Response> {
    if (address === null) return errorPage(c, site, { status: 404 })
    const theme = themes.find((name) => name === c.req.query('theme')) ?? null
    const requested = languageOfTag(c.req.query('language'))
    const key = JSON.stringify([address.owner, address.origin, 'embed', theme, requested])
    try {
      const { value, asOf } = await cache.pages.getOrStale(key, async (previous) => {
        const state = await sharedState(options, address.owner)
        const stateVersion = versionOf(state)
        if (previous?.stateVersion === stateVersion) return previous
        const language = documentLanguage(state, requested)
        const own = inLanguage(address, requested === language ? language : null)
        const line = <StatusLine {...{ state, language, theme, site }} address={own} />
        const headers = { ...headersOf(state), 'last-modified': state.readAt.toUTCString() }
        const of = { organizationId: state.organization.id, language, offered: null, stateVersion }
        return createRenderedPage({ ...of, headers }, `<!DOCTYPE html>${line}`)
      })
      if (asOf !== null) return sendStalePage(c, value, asOf)
      rememberAddress(c, cache, address, key)
      return sendPage(c, value)
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      throw error
    }
  }

  const routes = new Hono()
  addPageRoute(routes, options, '/embed', answer)
  return routes
}

/** Returns headers that forbid scripts and forms, and let only the listed sites frame the line. */
function headersOf({ organization }: PageState): Readonly<Record<string, string>> {
  const { embedOrigins } = organization
  const ancestors = embedOrigins.length === 0 ? "'none'" : embedOrigins.join(' ')
  return {
    ...pageHeaders,
    'cache-control': publicCacheControl,
    'content-security-policy': `default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors ${ancestors}`,
    'x-robots-tag': 'noindex',
    refresh: String(REFRESH_S),
  }
}

interface StatusLineProps extends Pick<PageSource, 'site'> {
  readonly state: PageState
  readonly language: Language
  readonly theme: Theme | null
  readonly address: PageAddress
}

function StatusLine({ state, language, theme, address, site }: StatusLineProps) {
  const { organization, status, services, incidents } = state
  const words = wordsOf(language)
  const sentence = headline({ status, services, incidents }, zoneOf(organization.timeZone, words), words, isolate)
  const ownersText =
    ownersLang(words, organization.defaultLanguage) === undefined
      ? ownersAttributes.byDefault
      : ownersAttributes.otherwise
  const title = words.page.feed(organization.name)
  return (
    <html lang={words.tag} dir={words.dir} data-theme={theme ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="stylesheet" href={site.assets.url('embed.css')} />
      </head>
      <body>
        <main id="main" data-status={status.shown}>
          <h1>
            <a href={address.origin + (address.base || '/')} target="_blank" rel="noopener" title={title}>
              <svg viewBox="0 0 16 16" aria-hidden="true">
                <path fill-rule="evenodd" d={statusShapes[status.shown]} />
              </svg>
              <span>
                <Sentence text={sentence} context={{ ownersText, words }} />
              </span>
            </a>
          </h1>
        </main>
      </body>
    </html>
  )
}
