import type { Context } from 'hono'
import { Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { Logger } from 'pino'
import { Invalid, LimitExceeded } from '../errors.ts'
import type { PageError } from '../http/error-page.tsx'
import { errorPage } from '../http/error-page.tsx'
import type { Site } from '../http/layout.tsx'
import { pageAround, pageHeaders, respondWithPage } from '../http/layout.tsx'
import { streamOf } from '../http/stream.ts'
import { root } from '../paths.ts'
import type { StartedCheck } from './check.ts'
import type { CheckProgress } from './checker.ts'
import { geoSources } from './geo.ts'
import type { LandingProps, ListInfos } from './html/landing.tsx'
import { Landing } from './html/landing.tsx'
import { ArrivedRow, PendingAddresses, PendingHead, textOf } from './html/pending.tsx'
import { BrokenOff, checkPath, ReportSection } from './html/report.tsx'
import type { Target } from './target.ts'

/** The script that fills a report in while it arrives; bundled as `check.js`. */
export const checkScript = new URL('src/blacklist/browser/check.ts', root)

/** What a page shows of a check that was counted and begun. */
export type ShownCheck = Pick<StartedCheck, 'target' | 'progress'>

/** What the pages need from the rest of the house. */
export interface CheckPages {
  readonly site: Site
  readonly log: Logger
  readonly checksPerDay: LandingProps['checksPerDay']
  /** The lists asked, with their health at this moment. */
  lists(): ListInfos
  /** What the lists are asked through, for a caller who runs this service; null for visitors. */
  resolvers(c: Context): readonly string[] | null
  /** The caller's own address, or null when it cannot be checked. */
  ownAddress(c: Context): string | null
  /**
   * Reads what was typed, counts the check against the caller's plan and starts it.
   * @throws Invalid or LimitExceeded, which become pages; anything else is the application's to handle.
   */
  start(c: Context, input: string): Promise<ShownCheck>
}

/** The pages `/` and `/check/{target}`, and the redirect between them. */
export function checkPages(pages: CheckPages): Hono {
  const { site } = pages
  const app = new Hono()

  app.get('/', (c) => {
    const page = {
      title: 'Allclear: blacklist checks for IP addresses and domains',
      description: 'See whether an IP address or a domain is on a DNS blacklist, why, and where to contest it.',
      path: '/',
      indexed: true,
    }
    const { baseUrl } = site
    const { checksPerDay } = pages
    const asked = { ownAddress: pages.ownAddress(c), lists: pages.lists(), resolvers: pages.resolvers(c) }
    const props = { baseUrl, checksPerDay, ...asked }
    return respondWithPage(c, site, page, <Landing {...props} />)
  })

  app.get('/check', (c) => {
    const input = c.req.query('target')?.trim() ?? ''
    if (input !== '') return c.redirect(checkPath(input), 303)
    return errorPage(c, site, { status: 400, message: 'Type an IP address or a domain name.', input })
  })

  app.get('/check/:target{.+}', async (c) => {
    // Looking whether the page is there is not asking for a check.
    if (c.req.method === 'HEAD') return c.body(null, 200, pageHeaders)
    const input = c.req.param('target')
    try {
      const check = await pages.start(c, input)
      // Proxies of the nginx family hold an answer back to gather it, unless told not to.
      return c.body(checkPage(pages, check, pages.resolvers(c)), 200, { ...pageHeaders, 'x-accel-buffering': 'no' })
    } catch (error) {
      return errorPage(c, site, asPageError(error, input))
    }
  })

  return app
}

/** Gives the page of an expected error; any other is thrown on. */
function asPageError(error: unknown, input: string): PageError {
  if (error instanceof Invalid) return { status: 400, message: error.message, input }
  if (error instanceof LimitExceeded) return { status: 429, message: error.message, resetsAt: error.resetsAt }
  throw error
}

/**
 * The page of a check, sent while it happens: first every list as pending, then each answer as it comes, then the report.
 * When the reader leaves, the check is ended.
 */
function checkPage(
  pages: CheckPages,
  check: ShownCheck,
  resolvers: readonly string[] | null,
): ReadableStream<Uint8Array> {
  const name = textOf(check.target)
  const lists = pages.lists()
  const [before, after] = pageAround(pages.site, {
    title: `Checking ${name} · Allclear`,
    description: `What DNS blacklists say about ${name}.`,
    path: checkPath(name),
    indexed: false,
    scripts: ['check.js'],
    sources: geoSources,
  })
  const head = <PendingHead target={check.target} lists={lists[check.target.kind]} />
  const first = `${before}<p id="announcer" class="hidden" role="status"></p><div id="pending">${head}`
  const ending = (report: Child) => ({ html: `</div>${report}${after}`, last: true })
  const progress = check.progress[Symbol.asyncIterator]()
  let ended = false

  return streamOf(first, {
    async next() {
      try {
        const step = await progress.next()
        if (step.done) throw new Error('The check ended without a report.')
        if (step.value.kind === 'report')
          return ending(<ReportSection report={step.value.report} resolvers={resolvers} />)
        return { html: `${renderStep(step.value, check.target, lists)}\n`, last: false }
      } catch (error) {
        if (!ended) pages.log.error(error, 'a check broke off while its page was being sent')
        return ending(<BrokenOff target={name} />)
      }
    },
    async end() {
      ended = true
      await progress.return?.()
    },
  })
}

function renderStep(step: Exclude<CheckProgress, { kind: 'report' }>, target: Target, lists: ListInfos) {
  if (step.kind === 'answer') {
    return <ArrivedRow target={step.target} explained={step.target === textOf(target)} result={step.result} />
  }
  return <PendingAddresses addresses={step.addresses} checked={step.checked} lists={lists.ip} />
}
