import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../../core/errors.ts'
import { errorPage } from '../../http/page/error-page.tsx'
import type { Site } from '../../http/page/layout.tsx'
import { Document, pageHeaders } from '../../http/page/layout.tsx'
import { wordsOf } from '../../language/catalogue.ts'
import { timeIn } from '../../notification/content/content.ts'
import type { LinkedAlert, LinkedAlerts } from '../acknowledge.ts'
import { acknowledgeByToken, canAcknowledge, linkedAlerts } from '../acknowledge.ts'
import type { AlertWorkContext } from '../context.ts'
import { ACKNOWLEDGE_PATH, changeWords } from '../message.ts'

/**
 * Creates the routes of the page on which the link of a message acknowledges alerts, without login or scripts. Opening the page
 * changes nothing, because mail scanners and link previews open links; only its button acknowledges.
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
  const open = alerts.filter(canAcknowledge)
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
                  {changeWords[alert.change]}: {alert.subjectName}
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
            <p>This stops reminders and escalation. You still get messages about changes.</p>
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

function headingOf(open: readonly LinkedAlert[], isUsed: boolean): string {
  if (open.length === 0) return isUsed ? 'Acknowledged' : 'Nothing to acknowledge'
  if (isUsed) return 'This link has already been used'
  return open.length === 1 ? 'Acknowledge this alert?' : `Acknowledge ${open.length} alerts?`
}

function stateOf(alert: LinkedAlert, time: (at: Date) => string): string {
  const { endedAt, acknowledgedAt, acknowledgedBy, since, hasBegunAgain } = alert
  if (hasBegunAgain && endedAt === null && acknowledgedAt === null)
    return `failed again ${time(since)}: use the link of a later message`
  const by =
    acknowledgedAt === null ? '' : `, acknowledged by ${acknowledgedBy ?? 'a team member'} ${time(acknowledgedAt)}`
  return endedAt === null ? `since ${time(since)}${by}` : `ended ${time(endedAt)}${by}`
}
