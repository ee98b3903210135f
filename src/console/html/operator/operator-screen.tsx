import type { Hono, Context as HttpContext } from 'hono'
import type { Child } from 'hono/jsx'
import { requireOperator } from '../../../core/access.ts'
import { NotFound } from '../../../core/errors.ts'
import { bodyLimits } from '../../../core/input-limits.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, formStatus } from '../../../http/page/form.tsx'
import type { Site } from '../../../http/page/layout.tsx'
import { Document } from '../../../http/page/layout.tsx'
import { privateHeaders } from '../../../people/html/frame.tsx'
import type { ConsoleContext } from '../frame/context.ts'
import { takeNotice, WithNotice } from '../frame/notice.tsx'
import type { ConsoleOptions, ScreenRoutes } from '../frame/screen-routes.tsx'
import { createScreenRoutes } from '../frame/screen-routes.tsx'

/** The maximum size of a form. */
const MAX_FORM_BYTES = bodyLimits.publicForm.most

/** The sections of the operator's menu. */
const operatorSections = [
  { name: 'organizations', title: 'Organizations' },
  { name: 'payments', title: 'Payments' },
  { name: 'health', title: 'Health' },
  { name: 'workers', title: 'Workers' },
  { name: 'lists', title: 'Blacklists' },
  { name: 'settings', title: 'Settings' },
] as const

/** The context of an operator's screen. */
export interface OperatorScreen {
  readonly c: HttpContext
  /** Its actor is the operator. */
  readonly ctx: ConsoleContext
  path(rest: string): string
  /** Sends the screen. */
  show(title: string, section: (typeof operatorSections)[number]['name'], content: Child, state?: FormState): Response
}

/** Adds the operator's screens. Paths are below `/console/operator/`. */
export type OperatorScreens = ScreenRoutes<OperatorScreen>

/** Creates the routes of the operator's screens; `add` adds them. They do not exist for others. */
export function createOperatorScreens(options: ConsoleOptions, add: (screens: OperatorScreens) => void): Hono {
  return createScreenRoutes(options, add, {
    prefix: '/console/operator/',
    maxFormBytes: MAX_FORM_BYTES,
    open: (c, ctx) => openScreen(c, options, ctx),
    ownerOf: () => 'operator',
    // The log announces changes of an organization.
    onChange: () => {},
  })
}

/** @throws NotFound unless the person is the operator. */
function openScreen(c: HttpContext, { site }: ConsoleOptions, ctx: ConsoleContext): OperatorScreen {
  const { actor } = ctx
  if (actor.kind !== 'user' || !actor.isOperator) throw new NotFound('Page not found.')
  const operator: ConsoleContext = {
    ...ctx,
    actor: { kind: 'operator', userId: actor.userId, confirmedAt: actor.confirmedAt },
  }
  requireOperator(operator)
  return {
    c,
    ctx: operator,
    path: (rest) => `/console/operator/${rest}`,
    show: (title, section, content, state = emptyForm) => {
      const whole = (
        <OperatorShell {...{ site, title, section }}>
          <WithNotice notice={takeNotice(c)}>{content}</WithNotice>
        </OperatorShell>
      )
      return c.body(`<!DOCTYPE html>${whole}`, state.problem === null ? 200 : formStatus(state.problem), privateHeaders)
    },
  }
}

function OperatorShell({
  site,
  title,
  section,
  children,
}: {
  readonly site: Site
  readonly title: string
  readonly section: string
  readonly children: Child
}) {
  return (
    <Document
      assets={site.assets}
      title={`${title} · Operator`}
      description={title}
      indexed={false}
      canonical={null}
      sheets={[site.assets.url('console.css')]}
      scripts={['console.js']}
      body={{ 'data-page': 'operator' }}
    >
      <header class="console-bar">
        <a class="wordmark" href="/console/operator/organizations">
          Operator
        </a>
        <nav aria-label="Account">
          <a href="/console">Your organizations</a>
          <form method="post" action="/sign-out">
            <button type="submit" class="link">
              Sign out
            </button>
          </form>
        </nav>
      </header>
      <div class="console-frame">
        <nav class="console-menu" aria-label="Operator">
          <ul>
            {operatorSections.map((each) => (
              <li>
                <a href={`/console/operator/${each.name}`} aria-current={each.name === section ? 'page' : undefined}>
                  {each.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main id="main" tabindex={-1}>
          <div class="screen-head">
            <h1>{title}</h1>
          </div>
          {children}
        </main>
      </div>
    </Document>
  )
}
