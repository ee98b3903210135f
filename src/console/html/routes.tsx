import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { root } from '../../core/process/paths.ts'
import { respondWithFormPage } from '../../people/html/frame.tsx'
import { organizationsOf } from '../../people/membership.ts'
import { alertScreens } from './alerts/alerts.tsx'
import { integrationScreens } from './alerts/integrations.tsx'
import { blacklistScreens } from './blacklists.tsx'
import type { DrawPng } from './frame/installable-app.ts'
import { installableApp } from './frame/installable-app.ts'
import { managedScreens } from './frame/managed.tsx'
import { createScreens } from './frame/screen.tsx'
import type { ConsoleOptions } from './frame/screen-routes.tsx'
import { answer, signInPath } from './frame/screen-routes.tsx'
import { incidentScreens } from './incidents/incident.tsx'
import { incidentEditScreens } from './incidents/incident-edits.tsx'
import { incidentMergeScreens } from './incidents/incident-merge.tsx'
import { incidentServiceMoveScreens } from './incidents/incident-service-move.tsx'
import { incidentListScreens } from './incidents/incidents.tsx'
import { newIncidentScreens } from './incidents/new-incident.tsx'
import { postmortemScreens } from './incidents/postmortem.tsx'
import { templateScreens } from './incidents/templates.tsx'
import { maintenanceScreens } from './maintenance/maintenance.tsx'
import { maintenanceEditScreens } from './maintenance/maintenance-edits.tsx'
import { maintenanceFormScreens } from './maintenance/maintenance-form.tsx'
import { maintenanceSeriesScreens } from './maintenance/maintenance-series.tsx'
import { maintenanceListScreens } from './maintenance/maintenances.tsx'
import { monitorScreens } from './monitors/monitor.tsx'
import { monitorDeletionScreens } from './monitors/monitor-delete.tsx'
import { monitorEditScreens } from './monitors/monitor-edit.tsx'
import { monitorListScreens } from './monitors/monitors.tsx'
import { nowScreens } from './now.tsx'
import { operatorScreens } from './operator/operator.tsx'
import { importScreens } from './organization/import.tsx'
import { logScreens } from './organization/log.tsx'
import { organizationDeletionScreens } from './organization/organization-delete.tsx'
import { planScreens } from './organization/plan.tsx'
import { pageScreens } from './pages/page.tsx'
import { pageAccessScreens } from './pages/page-access.tsx'
import { pageEmbedScreens } from './pages/page-embed.tsx'
import { pageOrderScreens } from './pages/page-order.tsx'
import { pageListScreens } from './pages/pages.tsx'
import { accountScreens } from './people/account.tsx'
import { keyScreens } from './people/keys.tsx'
import { peopleScreens } from './people/people.tsx'
import { resetLinkScreens } from './people/reset-link.tsx'
import { correctionScreens } from './reports/corrections.tsx'
import { objectiveScreens } from './reports/objectives.tsx'
import { reportScreens } from './reports/reports.tsx'
import { serviceScreens } from './services/service.tsx'
import { serviceGroupScreens } from './services/service-groups.tsx'
import { serviceListScreens } from './services/services.tsx'
import { startScreens } from './start.tsx'
import { deliveryScreens } from './subscribers/deliveries.tsx'
import { subscriberAddScreens } from './subscribers/subscriber-add.tsx'
import { subscriberScreens } from './subscribers/subscribers.tsx'

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
      // Before the page of one maintenance, whose path matches any name.
      maintenanceSeriesScreens(screens)
      maintenanceFormScreens(screens)
      maintenanceScreens(screens)
      maintenanceEditScreens(screens)
      serviceListScreens(screens)
      serviceGroupScreens(screens)
      serviceScreens(screens)
      monitorListScreens(screens)
      importScreens(screens)
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

/**
 * Redirects to a path of the person's organization, `/console/{slug}/{path}`; asks for the organization if there are
 * several.
 */
function chooseOrganization(c: HttpContext, options: ConsoleOptions, path: string): Promise<Response> {
  return answer(c, options, async (ctx) => {
    const { actor } = ctx
    if (actor.kind !== 'user') return c.redirect(signInPath(c), 303)
    const organizations = await organizationsOf(ctx, actor.userId)
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
  if (organizations.length === 0)
    return <p class="lead">You are not a member of any organization. Ask for an invitation.</p>
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
