import type { Hono, Context as HttpContext } from 'hono'
import type { Child } from 'hono/jsx'
import { actingFor } from '../../../account/on-behalf-of.ts'
import { organizationBySlug } from '../../../account/organization/organization-queries.ts'
import { slugText } from '../../../account/page/page-settings.ts'
import { isOperator, roleIncludes } from '../../../core/access.ts'
import type { SignedInUser } from '../../../core/context.ts'
import { NotFound } from '../../../core/errors.ts'
import { bodyLimits } from '../../../core/input-limits.ts'
import { encodeCursor } from '../../../event-log/event.ts'
import type { Organization } from '../../../generated/prisma/client.ts'
import type { Role, Scope } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, formStatus } from '../../../http/page/form.tsx'
import { privateHeaders } from '../../../people/html/frame.tsx'
import type { Person } from '../../../people/user.ts'
import { readPerson } from '../../../people/user.ts'
import type { Zone } from '../../../status-page/time-format.ts'
import { zoneOf } from '../../../status-page/time-format.ts'
import type { ConsoleContext } from './context.ts'
import { takeNotice } from './notice.tsx'
import { allowIfAsked } from './private-targets.tsx'
import type { ConsoleOptions, ScreenRoutes } from './screen-routes.tsx'
import { createScreenRoutes } from './screen-routes.tsx'
import type { Section } from './sections.ts'
import { Shell } from './shell.tsx'

/** The maximum size of a form; imports and logos are the largest. */
const MAX_FORM_BYTES = bodyLimits.consoleForm.most

/** The context of a screen: the request, the caller's context, and the organization. */
export interface Screen {
  readonly c: HttpContext
  /** Its actor acts in the organization. */
  readonly ctx: ConsoleContext
  /** Its actor is the person, even if `ctx` acts as the operator: for the person's account. */
  readonly self: ConsoleContext
  readonly organization: Organization
  readonly user: Person
  /** The role of the person; the operator without a membership is an owner. */
  readonly role: Role
  /** The organization's time zone. */
  readonly zone: Zone
  /** Whether this address can be fetched. */
  readonly hasPage: boolean
  /** Returns whether the person has a scope. */
  may(scope: Scope): boolean
  /** Returns the address of a page of this organization, such as `incidents/new`. */
  path(rest: string): string
  /** Sends the screen. */
  show(page: ScreenPage, state?: FormState): Response
}

/** The content of a screen. */
export interface ScreenPage {
  readonly title: string
  readonly section: Section
  readonly content: Child
  /** Beside the title: links and buttons. */
  readonly actions?: Child
  /** Whether it shows pictures of other hosts; absent: no, and browsers do not load them. */
  readonly hasForeignPictures?: boolean
}

/** Adds screens. Paths are below `/console/:slug/`. */
export type Screens = ScreenRoutes<Screen>

/** Creates the routes of an organization's screens; `add` adds them. */
export function createScreens(options: ConsoleOptions, add: (screens: Screens) => void): Hono {
  return createScreenRoutes(options, add, {
    prefix: '/console/:slug{[a-z0-9-]+}/',
    maxFormBytes: MAX_FORM_BYTES,
    open: (c, ctx, hasPage) => openScreen(c, options, ctx, hasPage),
    ownerOf: ({ organization }) => organization.id,
    onChange: ({ organization }) => options.onChange(organization.id),
    before: async (screen, form) => {
      if (await allowIfAsked(screen, form)) options.onChange(screen.organization.id)
    },
  })
}

const foreignPictures = {
  ...privateHeaders,
  'content-security-policy': privateHeaders['content-security-policy'].replace(
    "img-src 'self' data:",
    "img-src 'self' data: https:",
  ),
} as const

/** @throws NotFound for an unknown organization, or one without the person. */
async function openScreen(
  c: HttpContext,
  { site }: ConsoleOptions,
  ctx: ConsoleContext,
  hasPage: boolean,
): Promise<Screen> {
  const actor = ctx.actor as SignedInUser
  const slug = slugText.safeParse(c.req.param('slug')).data ?? ''
  const [organization, user] = await Promise.all([organizationBySlug(ctx, slug), readPerson(ctx, actor.userId)])
  const acting = organization && actingFor(actor, organization.id)
  if (organization === null || acting === null) throw new NotFound('Organization not found.')
  if (organization.deletedAt !== null && !isOperator(actor)) throw new NotFound('Organization not found.')
  const role = actor.memberships.get(organization.id)?.role ?? 'OWNER'
  const screen: Screen = {
    c,
    ctx: { ...ctx, actor: acting },
    self: ctx,
    organization,
    user,
    role,
    zone: zoneOf(organization.timeZone),
    hasPage,
    may: (scope) => roleIncludes(role, scope),
    path: (rest) => `/console/${organization.slug}/${rest}`,
    show: (page, state = emptyForm) => {
      const position = encodeCursor(organization.lastSeq)
      const isTyped = state.fields.size > 0
      const whole = <Shell {...{ site, screen, page, position, isTyped }} notice={takeNotice(c)} />
      const headers = page.hasForeignPictures ? foreignPictures : privateHeaders
      return c.body(`<!DOCTYPE html>${whole}`, state.problem === null ? 200 : formStatus(state.problem), headers)
    },
  }
  return screen
}

/** Returns the id in the address. */
export const idIn = ({ c }: Screen): string => c.req.param('id') ?? ''
