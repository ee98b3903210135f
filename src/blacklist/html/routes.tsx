import type { Context } from 'hono'
import { Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { Logger } from 'pino'
import { Invalid, LimitExceeded } from '../../core/errors.ts'
import { root } from '../../core/process/paths.ts'
import type { PageError } from '../../http/page/error-page.tsx'
import { errorPage } from '../../http/page/error-page.tsx'
import { createHtmlStream, zippedStream } from '../../http/page/html-stream.ts'
import type { Site } from '../../http/page/layout.tsx'
import { pageHeaders, renderPageShell, respondWithPage } from '../../http/page/layout.tsx'
import { accepts } from '../../http/response/encoding.ts'
import type { StartedCheck } from '../check.ts'
import type { CheckProgress } from '../checker.ts'
import { geoSources } from '../geo/geo.ts'
import type { Target } from '../target.ts'
import type { LandingProps, ListInfos } from './landing.tsx'
import { Landing } from './landing.tsx'
import { AnswerTemplate, PendingAddresses, PendingReport, targetText } from './pending.tsx'
import { checkPath, FailedCheck, ReportSection } from './report.tsx'

/** The script that fills in a report while it arrives. Bundled as `check.js`. */
export const checkScript = new URL('src/blacklist/browser/check.ts', root)

/** The parts of a started check that the page needs. */
type DisplayedCheck = Pick<StartedCheck, 'target' | 'progress'>

/** The dependencies of the check pages. */
export interface CheckPages {
  readonly site: Site
  readonly log: Logger
  readonly checksPerDay: LandingProps['checksPerDay']
  readonly isSignUpOpen: boolean
  /** Returns the lists with their current health. */
  lists(): ListInfos
  /** Returns the DNS resolvers in use, for an operator; null for visitors. */
  resolvers(c: Context): readonly string[] | null
  /** Returns the caller's address; null: it cannot be checked. */
  ownAddress(c: Context): string | null
  /**
   * Parses the input, counts the check against the caller's plan, and starts it.
   * @throws Invalid or LimitExceeded, which become error pages. The application handles any other error.
   */
  start(c: Context, input: string): Promise<DisplayedCheck>
}

/** Creates the pages `/` and `/check/{target}`, and the redirect between them. */
export function checkPages(pages: CheckPages): Hono {
  const { site } = pages
  const app = new Hono()

  app.get('/', (c) => {
    const page = {
      title: 'Allclear: status pages, monitoring and blacklist checks',
      description:
        'Publish a live status page with uptime monitoring, and check whether an IP address or a domain is on a DNS blacklist.',
      path: '/',
      indexed: true,
    }
    const { baseUrl } = site
    const { checksPerDay, isSignUpOpen } = pages
    const asked = { ownAddress: pages.ownAddress(c), lists: pages.lists(), resolvers: pages.resolvers(c) }
    const props = { baseUrl, checksPerDay, isSignUpOpen, ...asked }
    return respondWithPage(c, site, page, <Landing {...props} />)
  })

  app.get('/check', (c) => {
    const input = c.req.query('target')?.trim() ?? ''
    if (input !== '') return c.redirect(checkPath(input), 303)
    return errorPage(c, site, { status: 400, message: 'Enter an IP address or a domain name.', input })
  })

  app.get('/check/:target{.+}', async (c) => {
    // A HEAD request does not start a check.
    if (c.req.method === 'HEAD') return c.body(null, 200, pageHeaders)
    const input = c.req.param('target')
    try {
      const check = await pages.start(c, input)
      const page = checkPage(pages, check, pages.resolvers(c))
      return accepts(c.req.header('accept-encoding'), 'gzip')
        ? c.body(zippedStream(page), 200, { ...streamHeaders, 'content-encoding': 'gzip' })
        : c.body(page, 200, streamHeaders)
    } catch (error) {
      return errorPage(c, site, toPageError(error, input))
    }
  })

  return app
}

/** Headers that stop proxies from buffering or compressing a stream, which would delay it. */
const streamHeaders = {
  ...pageHeaders,
  vary: 'accept-encoding',
  'cache-control': `${pageHeaders['cache-control']}, no-transform`,
  'x-accel-buffering': 'no',
}

/** Converts an expected error to an error page; rethrows any other. */
function toPageError(error: unknown, input: string): PageError {
  if (error instanceof Invalid) return { status: 400, message: error.message, input }
  if (error instanceof LimitExceeded) return { status: 429, message: error.message, resetsAt: error.resetsAt }
  throw error
}

/**
 * Streams the page of a check: first every list as pending, then each answer as it arrives, then the report. Ends the
 * check when the client disconnects.
 */
function checkPage(
  pages: CheckPages,
  check: DisplayedCheck,
  resolvers: readonly string[] | null,
): ReadableStream<Uint8Array> {
  const name = targetText(check.target)
  const lists = pages.lists()
  const [before, after] = renderPageShell(pages.site, {
    title: `Checking ${name} · Allclear`,
    description: `DNS blacklist report for ${name}.`,
    path: checkPath(name),
    indexed: false,
    earlyScripts: ['check.js'],
    sources: geoSources,
  })
  const head = <PendingReport target={check.target} lists={lists[check.target.kind]} />
  const first = `${before}<p id="announcer" class="hidden" role="status"></p><div id="pending">${head}`
  const ending = (report: Child) => ({ html: `</div>${report}${after}`, isLast: true })
  const progress = check.progress[Symbol.asyncIterator]()
  let ended = false

  return createHtmlStream(first, {
    async next() {
      try {
        const step = await progress.next()
        if (step.done) throw new Error('The check ended without a report.')
        if (step.value.kind === 'report')
          return ending(<ReportSection report={step.value.report} resolvers={resolvers} />)
        return { html: `${renderProgress(step.value, check.target, lists)}\n`, isLast: false }
      } catch (error) {
        if (!ended) pages.log.error(error, 'blacklist: a check failed while its page was being sent')
        return ending(<FailedCheck target={name} />)
      }
    },
    async close() {
      ended = true
      await progress.return?.()
    },
  })
}

function renderProgress(step: Exclude<CheckProgress, { kind: 'report' }>, target: Target, lists: ListInfos) {
  if (step.kind === 'answer') {
    return <AnswerTemplate target={step.target} explained={step.target === targetText(target)} result={step.result} />
  }
  return <PendingAddresses addresses={step.addresses} checked={step.checked} lists={lists.ip} />
}
