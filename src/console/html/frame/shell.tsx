import type { Site } from '../../../http/page/layout.tsx'
import { Document } from '../../../http/page/layout.tsx'
import { ShapeSheet } from '../../../status-page/html/status-mark.tsx'
import { iconPath, iconSizes } from './installable-app.ts'
import type { Notice } from './notice.tsx'
import { WithNotice } from './notice.tsx'
import type { Screen, ScreenPage } from './screen.tsx'
import { sections } from './sections.ts'

/** Renders a screen in the frame of the console: menu, title, content. */
export function Shell({
  site,
  screen,
  page,
  position,
  isTyped,
  notice,
}: {
  readonly site: Site
  readonly screen: Screen
  readonly page: ScreenPage
  /** The position of the organization's log. */
  readonly position: string
  /** Whether its forms contain input, which the page at the same address would not show. */
  readonly isTyped: boolean
  readonly notice: Notice | null
}) {
  const { organization, user } = screen
  return (
    <Document
      assets={site.assets}
      title={`${page.title} · ${organization.name}`}
      description={page.title}
      indexed={false}
      canonical={null}
      sheets={[site.assets.url('console.css')]}
      scripts={['console.js']}
      head={
        <>
          <link rel="manifest" href="/console/app.webmanifest" />
          <link rel="apple-touch-icon" href={iconPath(iconSizes.APPLE)} />
        </>
      }
      body={{
        'data-page': 'console',
        'data-organization': organization.id,
        'data-cursor': position,
        'data-time-zone': organization.timeZone,
        ...(isTyped && { 'data-typed': 'true' }),
        ...(!screen.hasPage && { 'data-answer-only': 'true' }),
      }}
    >
      <header class="console-bar">
        <a class="wordmark" href={screen.path('now')}>
          {organization.name}
        </a>
        <span id="live" data-keep />
        <nav aria-label="Account">
          <a href={`/status/${organization.slug}`}>Status page</a>
          {hasSeveral(screen) ? <a href="/console">Organizations</a> : null}
          {user.isOperator ? <a href="/console/operator/organizations">Operator</a> : null}
          <a href={screen.path('account')}>{user.name}</a>
          <form method="post" action="/sign-out">
            <button type="submit" class="link">
              Sign out
            </button>
          </form>
        </nav>
      </header>
      <div class="console-frame">
        <nav class="console-menu" aria-label="Console">
          <ul>
            {sections
              .filter(({ scope }) => screen.may(scope))
              .map(({ name, title }) => (
                <li>
                  <a href={screen.path(name)} aria-current={name === page.section ? 'page' : undefined}>
                    {title}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
        <ShapeSheet />
        <main id="main" tabindex={-1}>
          <div class="screen-head">
            <h1>{page.title}</h1>
            {page.actions === undefined ? null : <div class="actions">{page.actions}</div>}
          </div>
          <WithNotice notice={notice}>{page.content}</WithNotice>
        </main>
      </div>
      <p class="hidden" role="status" id="announcer" data-keep />
    </Document>
  )
}

/** Returns whether the person is a member of several organizations. */
function hasSeveral({ self }: Screen): boolean {
  return self.actor.kind === 'user' && self.actor.memberships.size > 1
}
