import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { root } from '../../core/paths.ts'
import { respondWithFormPage } from '../../people/html/frame.tsx'
import { accountScreens } from './account.tsx'
import { alertScreens } from './alerts.tsx'
import { blacklistScreens } from './blacklists.tsx'
import { correctionScreens } from './corrections.tsx'
import { deliveryScreens } from './deliveries.tsx'
import { incidentScreens } from './incident.tsx'
import { incidentEditScreens } from './incident-edits.tsx'
import { incidentMergeScreens } from './incident-merge.tsx'
import { incidentServiceMoveScreens } from './incident-service-move.tsx'
import { incidentListScreens } from './incidents.tsx'
import type { DrawPng } from './installable-app.ts'
import { installableApp } from './installable-app.ts'
import { integrationScreens } from './integrations.tsx'
import { keyScreens } from './keys.tsx'
import { logScreens } from './log.tsx'
import { maintenanceScreens } from './maintenance.tsx'
import { maintenanceEditScreens } from './maintenance-edits.tsx'
import { maintenanceFormScreens } from './maintenance-form.tsx'
import { maintenanceSeriesScreens } from './maintenance-series.tsx'
import { maintenanceListScreens } from './maintenances.tsx'
import { managedScreens } from './managed.tsx'
import { monitorScreens } from './monitor.tsx'
import { monitorDeletionScreens } from './monitor-delete.tsx'
import { monitorEditScreens } from './monitor-edit.tsx'
import { monitorListScreens } from './monitors.tsx'
import { moveInScreens } from './move-in.tsx'
import { newIncidentScreens } from './new-incident.tsx'
import { nowScreens } from './now.tsx'
import { objectiveScreens } from './objectives.tsx'
import { operatorScreens } from './operator.tsx'
import { organizationDeletionScreens } from './organization-delete.tsx'
import { pageScreens } from './page.tsx'
import { pageAccessScreens } from './page-access.tsx'
import { pageEmbedScreens } from './page-embed.tsx'
import { pageOrderScreens } from './page-order.tsx'
import { pageListScreens } from './pages.tsx'
import { peopleScreens } from './people.tsx'
import { planScreens } from './plan.tsx'
import { postmortemScreens } from './postmortem.tsx'
import { reportScreens } from './reports.tsx'
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
import { templateScreens } from './templates.tsx'

/** The console's style sheet and script; bundled as `console.css` and `console.js`. */
export const consoleSheet = new URL('src/console/console.css', root)
export const consoleScript = new URL('src/console/browser/console.ts', root)
/** The service worker that shows notifications; bundled as `push-worker.js`. */
export const pushScript = new URL('src/console/browser/push-worker.ts', root)

/** Creates the console, in which people run their organizations. Every action works without scripts. */
export function consolePages(options: ConsoleOptions & { readonly pngRenderer: DrawPng }): Hono {
  const app = new Hono()
  app.get('/console', (c) => {
    const target = c.req.query('watch')
    if (target === undefined) return chooseOrganization(c, options, 'now')
    const query = new URLSearchParams({ kind: 'BLACKLIST', target })
    return chooseOrganization(c, options, `monitors/new?${query}`)
  })
  app.route('/', installableApp(options, options.pngRenderer))
  app.route('/', operatorScreens(options))
  app.get('/console/:slug{[a-z0-9-]+}', (c) => c.redirect(`/console/${c.req.param('slug')}/now`, 303))
  app.route(
    '/',
    createScreens(options, (screens) => {
      startScreens(screens)
      nowScreens(screens)
      incidentListScreens(screens)
      newIncidentScreens(screens)
      templateScreens(screens)
      incidentScreens(screens)
      incidentEditScreens(screens)
      incidentMergeScreens(screens)
      incidentServiceMoveScreens(screens)
      postmortemScreens(screens)
      maintenanceListScreens(screens)
      // Before the page of one maintenance, which takes any name.
      maintenanceSeriesScreens(screens)
      maintenanceFormScreens(screens)
      maintenanceScreens(screens)
      maintenanceEditScreens(screens)
      serviceListScreens(screens)
      serviceGroupScreens(screens)
      serviceScreens(screens)
      monitorListScreens(screens)
      moveInScreens(screens)
      monitorEditScreens(screens)
      monitorDeletionScreens(screens)
      monitorScreens(screens)
      alertScreens(screens)
      integrationScreens(screens)
      objectiveScreens(screens)
      correctionScreens(screens)
      reportScreens(screens)
      subscriberScreens(screens)
      subscriberAddScreens(screens)
      deliveryScreens(screens)
      pageScreens(screens)
      organizationDeletionScreens(screens)
      pageListScreens(screens)
      pageAccessScreens(screens)
      pageEmbedScreens(screens)
      pageOrderScreens(screens)
      peopleScreens(screens)
      resetLinkScreens(screens)
      keyScreens(screens)
      planScreens(screens)
      logScreens(screens)
      blacklistScreens(screens)
      managedScreens(screens)
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
