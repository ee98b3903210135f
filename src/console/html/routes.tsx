import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { root } from '../../core/paths.ts'
import type { Site } from '../../http/layout.tsx'
import { respondWithFormPage } from '../../people/html/frame.tsx'
import { accountScreens } from './account.tsx'
import { blacklistScreens } from './blacklists.tsx'
import { deliveryScreens } from './deliveries.tsx'
import { incidentScreens } from './incident.tsx'
import { incidentEditScreens } from './incident-edits.tsx'
import { incidentListScreens } from './incidents.tsx'
import { keyScreens } from './keys.tsx'
import { logScreens } from './log.tsx'
import { maintenanceScreens } from './maintenance.tsx'
import { maintenanceEditScreens } from './maintenance-edits.tsx'
import { maintenanceFormScreens } from './maintenance-form.tsx'
import { maintenanceListScreens } from './maintenances.tsx'
import { monitorScreens } from './monitor.tsx'
import { monitorDeletionScreens } from './monitor-delete.tsx'
import { monitorEditScreens } from './monitor-edit.tsx'
import { monitorListScreens } from './monitors.tsx'
import { newIncidentScreens } from './new-incident.tsx'
import { nowScreens } from './now.tsx'
import { operatorScreens } from './operator.tsx'
import { pageScreens } from './page.tsx'
import { peopleScreens } from './people.tsx'
import { planScreens } from './plan.tsx'
import { resetLinkScreens } from './reset-link.tsx'
import { createScreens } from './screen.tsx'
import type { ConsoleOptions } from './screen-routes.tsx'
import { answer, signInPath } from './screen-routes.tsx'
import { serviceScreens } from './service.tsx'
import { serviceGroupScreens } from './service-groups.tsx'
import { serviceListScreens } from './services.tsx'
import { startScreens } from './start.tsx'
import { subscriberAddScreens } from './subscriber-add.tsx'
import { subscriberScreens } from './subscribers.tsx'

/** The console's style sheet and script; bundled as `console.css` and `console.js`. */
export const consoleSheet = new URL('src/console/console.css', root)
export const consoleScript = new URL('src/console/browser/console.ts', root)
/** The service worker that shows notifications; bundled as `push-worker.js`. */
export const pushScript = new URL('src/console/browser/push-worker.ts', root)

/** Creates the console, in which people run their organizations. Every action works without scripts. */
export function consolePages(options: ConsoleOptions): Hono {
  const app = new Hono()
  app.get('/console', (c) => {
    const target = c.req.query('watch')
    if (target === undefined) return chooseOrganization(c, options, 'now')
    const query = new URLSearchParams({ kind: 'BLACKLIST', target })
    return chooseOrganization(c, options, `monitors/new?${query}`)
  })
  app.get('/console/app.webmanifest', (c) => c.json(webManifest(options.site), 200, manifestHeaders))
  app.get('/console/push-worker.js', (c) => sendWorker(c, options.site))
  app.route('/', operatorScreens(options))
  app.get('/console/:slug{[a-z0-9-]+}', (c) => c.redirect(`/console/${c.req.param('slug')}/now`, 303))
  app.route(
    '/',
    createScreens(options, (screens) => {
      startScreens(screens)
      nowScreens(screens)
      incidentListScreens(screens)
      newIncidentScreens(screens)
      incidentScreens(screens)
      incidentEditScreens(screens)
      maintenanceListScreens(screens)
      maintenanceFormScreens(screens)
      maintenanceScreens(screens)
      maintenanceEditScreens(screens)
      serviceListScreens(screens)
      serviceGroupScreens(screens)
      serviceScreens(screens)
      monitorListScreens(screens)
      monitorEditScreens(screens)
      monitorDeletionScreens(screens)
      monitorScreens(screens)
      subscriberScreens(screens)
      subscriberAddScreens(screens)
      deliveryScreens(screens)
      pageScreens(screens)
      peopleScreens(screens)
      resetLinkScreens(screens)
      keyScreens(screens)
      planScreens(screens)
      logScreens(screens)
      blacklistScreens(screens)
      accountScreens(screens)
    }),
  )
  return app
}

/** Leads to a path of the person's organization, `/console/{slug}/{path}`; asks which of several. */
function chooseOrganization(c: HttpContext, options: ConsoleOptions, path: string): Promise<Response> {
  return answer(c, options, async ({ actor, db }) => {
    if (actor.kind !== 'user') return c.redirect(signInPath(c), 303)
    const organizations = await db.organization.findMany({
      where: { memberships: { some: { userId: actor.userId } }, deletedAt: null },
      select: { name: true, slug: true },
      orderBy: { name: 'asc' },
    })
    const [only, ...others] = organizations
    if (only && others.length === 0) return c.redirect(`/console/${only.slug}/${path}`, 303)
    if (!only && actor.isOperator) return c.redirect('/console/operator/organizations', 303)
    return respondWithFormPage(c, options.site, 'Organizations', <Choice organizations={organizations} path={path} />)
  })
}

/** Sends the service worker under the folder that it serves, with an address that stays: browsers look for a newer one there. */
async function sendWorker(c: HttpContext, { assets }: Site): Promise<Response> {
  const { body, headers } = await assets.routes.request(assets.url('push-worker.js'), { headers: c.req.raw.headers })
  return new Response(body, { headers: { ...Object.fromEntries(headers), 'cache-control': 'no-cache' } })
}

const manifestHeaders = { 'content-type': 'application/manifest+json', 'cache-control': 'public, max-age=3600' }

/** Returns what makes the console installable (W3C Web Application Manifest). */
function webManifest({ assets }: Site) {
  return {
    name: 'Allclear',
    short_name: 'Allclear',
    start_url: '/console',
    scope: '/console',
    display: 'standalone',
    background_color: '#14181a',
    theme_color: '#14181a',
    icons: [{ src: assets.url('favicon.svg'), sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
  }
}

interface ChoiceProps {
  readonly organizations: readonly { readonly name: string; readonly slug: string }[]
  readonly path: string
}

function Choice({ organizations, path }: ChoiceProps) {
  if (organizations.length === 0) return <p class="lead">You are a member of no organization. Ask for an invitation.</p>
  return (
    <ul class="rows">
      {organizations.map(({ name, slug }) => (
        <li>
          <a href={`/console/${slug}/${path}`}>{name}</a>
        </li>
      ))}
    </ul>
  )
}
