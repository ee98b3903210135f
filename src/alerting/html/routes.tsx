import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../../core/errors.ts'
import type { Alert } from '../../generated/prisma/client.ts'
import { errorPage } from '../../http/error-page.tsx'
import type { Site } from '../../http/layout.tsx'
import { Document, pageHeaders } from '../../http/layout.tsx'
import { wordsOf } from '../../language/catalogue.ts'
import { timeIn } from '../../notification/content.ts'
import type { LinkedAlerts } from '../acknowledge.ts'
import { acknowledgeByToken, linkedAlerts } from '../acknowledge.ts'
import type { AlertWorkContext } from '../context.ts'
import { ACKNOWLEDGE_PATH, changeWords } from '../message.ts'

/**
 * Creates the routes of the page to which the link of an alert leads. It needs neither login nor script. Opening it changes nothing:
 * programs that scan mail and show previews follow links. Its button acknowledges.
 */
export function alertPages(options: {
  readonly site: Site
  readonly contextOf: (c: HttpContext) => AlertWorkContext
}): Hono {
  const { site, contextOf } = options
  const app = new Hono()
  const path = `${ACKNOWLEDGE_PATH}/:token`

  app.get(path, (c) => answer(c, linkedAlerts))
  app.post(path, (c) => answer(c, acknowledgeByToken))

  async function answer(
    c: HttpContext,
    read: (ctx: AlertWorkContext, token: string) => Promise<LinkedAlerts>,
  ): Promise<Response> {
    try {
      return page(c, site, await read(contextOf(c), c.req.param('token') ?? ''))
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      throw error
    }
  }
  return app
}

function page(c: HttpContext, site: Site, linked: LinkedAlerts): Response {
  const { organization, alerts, isUsed } = linked
  const open = alerts.filter(isOpen)
  const title = headingOf(open, isUsed)
  const time = timeIn(organization.timeZone, wordsOf('EN'))
  const whole = (
    <Document
      assets={site.assets}
      title={`${title} · ${organization.name}`}
      description={title}
      indexed={false}
      canonical={null}
      sheets={[site.assets.url('console.css')]}
      body={{ 'data-page': 'form' }}
    >
      <header class="site">
        <a class="wordmark" href="/">
          Allclear
        </a>
      </header>
      <main id="main" tabindex={-1}>
        <h1>{title}</h1>
        <p class="lead">{organization.name}</p>
        {alerts.length === 0 ? <p>These alerts have been deleted.</p> : null}
        <ul class="rows">
          {alerts.map((alert) => (
            <li>
              <div class="row-about">
                <span>
                  {changeWords[alert.change]}: {alert.monitorName}
                </span>
                <span class="row-facts">
                  {alert.message === '' ? '' : `${alert.message} · `}
                  {stateOf(alert, time)}
                </span>
              </div>
            </li>
          ))}
        </ul>
        {open.length > 0 && !isUsed ? (
          <form method="post">
            <p>Nobody is reminded any more, and nobody else is called. You stay notified of changes.</p>
            <p class="actions">
              <button type="submit">Acknowledge</button>
            </p>
          </form>
        ) : null}
      </main>
    </Document>
  )
  const headers = { ...pageHeaders, 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' }
  return c.body(`<!DOCTYPE html>${whole}`, 200, headers)
}

const isOpen = ({ endedAt, acknowledgedAt }: Alert) => endedAt === null && acknowledgedAt === null

function headingOf(open: readonly Alert[], isUsed: boolean): string {
  if (open.length === 0) return isUsed ? 'Acknowledged' : 'Nothing to acknowledge'
  if (isUsed) return 'This link was used'
  return open.length === 1 ? 'Acknowledge this alert?' : `Acknowledge ${open.length} alerts?`
}

function stateOf({ endedAt, acknowledgedAt, acknowledgedBy, since }: Alert, time: (at: Date) => string): string {
  const by = acknowledgedAt === null ? '' : `, acknowledged by ${acknowledgedBy ?? 'somebody'} ${time(acknowledgedAt)}`
  return endedAt === null ? `since ${time(since)}${by}` : `over since ${time(endedAt)}${by}`
}
