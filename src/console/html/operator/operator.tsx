import type { Hono } from 'hono'
import { createApiKey } from '../../../account/api-key/api-key.ts'
import { deleteOrganization, deletionAt, restoreOrganization } from '../../../account/organization/deletion.ts'
import { setCheckPlan } from '../../../account/organization/organization.ts'
import {
  findOrganization,
  listOrganizations,
  organizationBySlug,
} from '../../../account/organization/organization-queries.ts'
import { permittedAmong, readPrivateTargets } from '../../../account/private-targets/permission.ts'
import { moneyText } from '../../../billing/price.ts'
import { assignPayment, listUnmatchedPayments } from '../../../billing/subscription/payment.ts'
import { setTier } from '../../../billing/subscription/tier.ts'
import { typeOfId } from '../../../core/id.ts'
import type { PaymentEvent } from '../../../generated/prisma/client.ts'
import { Tier } from '../../../generated/prisma/enums.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { CheckboxField, emptyForm, FormProblem, InputField, SelectField } from '../../../http/page/form.tsx'
import { UtcTime } from '../../../http/page/utc-time.tsx'
import type { Member } from '../../../people/membership.ts'
import { addOwner, membersOf } from '../../../people/membership.ts'
import { roleNames, unprovenNote } from '../../../people/role.ts'
import { currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import type { ConsoleOptions } from '../frame/screen-routes.tsx'
import { ShownOnce } from '../frame/shown-once.tsx'
import type { OperatorScreen } from './operator-screen.tsx'
import { createOperatorScreens } from './operator-screen.tsx'
import { operatorStateScreens } from './operator-state.tsx'
import { OrganizationPrivateTargets, switchPrivateTargets } from './private-targets.tsx'

const PAGE_SIZE = 50

/** Creates the operator's screens: organizations, payments, health, workers, blacklists, settings. */
export function operatorScreens(options: ConsoleOptions): Hono {
  return createOperatorScreens(options, (screens) => {
    const { get, action } = screens
    get('organizations', showOrganizations)
    get('organizations/:id', (screen) => showOrganization(screen, emptyForm))
    action(
      'organizations/:id/tier',
      async ({ c, ctx }, { fields }) => {
        const organizationId = c.req.param('id')
        await setTier(ctx, { organizationId, tier: fields.get('tier') || null, version: readVersion(fields) })
        return `organizations/${organizationId}`
      },
      showOrganization,
    )
    action(
      'organizations/:id/plan',
      async (screen, { fields }) => {
        const { id: organizationId, checkPlanUntil } = await organizationIn(screen)
        const plan = { plan: fields.get('plan'), until: untilIn(fields, checkPlanUntil) }
        await setCheckPlan(screen.ctx, { organizationId, ...plan, version: readVersion(fields) })
        return `organizations/${organizationId}`
      },
      showOrganization,
    )
    action(
      'organizations/:id/private-targets',
      async (screen, { fields }) => {
        const { id } = await organizationIn(screen)
        await switchPrivateTargets(screen, fields, id)
        return `organizations/${id}#private-targets`
      },
      showOrganization,
    )
    action(
      'organizations/:id/key',
      async (screen) => {
        const { id } = await organizationIn(screen)
        const { secret } = await createApiKey(actingFor(screen, id), { name: 'From the operator', scope: 'ADMIN' })
        return showOrganization(screen, emptyForm, { title: 'New admin key', text: secret })
      },
      showOrganization,
    )
    action(
      'organizations/:id/owner',
      async (screen, { fields }) => {
        const { id } = await organizationIn(screen)
        await addOwner(actingFor(screen, id), fields.get('email') ?? '', { allowUnproven: fields.has('allowUnproven') })
        return `organizations/${id}`
      },
      showOrganization,
    )
    action(
      'organizations/:id/delete',
      async (screen, { fields }) => {
        const { id } = await organizationIn(screen)
        await deleteOrganization(actingFor(screen, id), { id, slug: fields.get('slug') })
        return `organizations/${id}`
      },
      showOrganization,
    )
    action(
      'organizations/:id/restore',
      async ({ c, ctx }) => {
        const id = c.req.param('id') ?? ''
        await restoreOrganization(ctx, id)
        return `organizations/${id}`
      },
      showOrganization,
    )
    get('payments', (screen) => showPayments(screen, emptyForm))
    action(
      'payments/:id',
      async ({ c, ctx }, { fields }) => {
        const tier = fields.get('tier') || null
        const organizationId = await organizationIdOf(ctx, fields.get('organization') ?? '')
        await assignPayment(ctx, { paymentEventId: c.req.param('id'), organizationId, tier })
        return 'payments'
      },
      showPayments,
    )
    operatorStateScreens(screens)
  })
}

/** Returns the UTC day of a time, as a field shows it. */
const dateOf = (at: Date) => at.toISOString().slice(0, 10)

/** Returns the end of the check plan in a form; null: none. An unchanged date keeps its time of day. */
function untilIn(fields: URLSearchParams, stored: Date | null): Date | null {
  const date = fields.get('until') ?? ''
  if (date === '') return null
  return stored !== null && dateOf(stored) === date ? stored : new Date(date)
}

type OperatorContext = OperatorScreen['ctx']

/** Returns the operator's context acting for an organization. */
function actingFor({ ctx }: OperatorScreen, organizationId: string): OperatorContext {
  return ctx.actor.kind === 'operator' ? { ...ctx, actor: { ...ctx.actor, organizationId } } : ctx
}

/** Returns the id of an organization by its id or slug; empty: none. */
async function organizationIdOf(ctx: OperatorContext, name: string): Promise<string> {
  if (typeOfId(name) === 'Organization') return name
  return (await organizationBySlug(ctx, name.trim()))?.id ?? ''
}

const organizationIn = ({ c, ctx }: OperatorScreen) => findOrganization(ctx, c.req.param('id') ?? '')

async function showOrganizations(screen: OperatorScreen): Promise<Response> {
  const { c, ctx } = screen
  const text = (c.req.query('text') ?? '').slice(0, 100)
  const after = c.req.query('after') ?? ''
  const start = /^[a-z0-9-]{1,63}$/.test(after) ? after : null
  const organizations = await listOrganizations(ctx, { text, after: start, limit: PAGE_SIZE })
  const permitted = await permittedAmong(
    ctx,
    organizations.map(({ id }) => id),
  )
  const last = organizations.length === PAGE_SIZE ? organizations.at(-1) : undefined
  const state = { fields: new URLSearchParams({ text }), problem: null }
  return screen.show(
    'Organizations',
    'organizations',
    <>
      <form method="get" class="filters">
        <InputField label="Name, slug or address" name="text" type="search" state={state} />
        <button type="submit" class="quiet">
          Search
        </button>
      </form>
      {organizations.length === 0 ? (
        <p class="lead">
          No organization matches. <a href={screen.path('organizations')}>Show all</a>
        </p>
      ) : null}
      <ul class="rows">
        {organizations.map(({ id, name, slug, tier, deletedAt }) => (
          <li id={id}>
            <a href={screen.path(`organizations/${id}`)}>{name}</a>
            <span class="row-facts">
              {slug} · {tier}
              {permitted.has(id) ? ' · private targets' : ''}
              {deletedAt === null ? '' : ' · deleted'}
            </span>
          </li>
        ))}
      </ul>
      {last === undefined ? null : (
        <p class="pages">
          <a href={screen.path(`organizations?after=${last.slug}&text=${encodeURIComponent(text)}`)} rel="next">
            More
          </a>
        </p>
      )}
    </>,
  )
}

/** A new key or link, shown once. */
interface NewSecret {
  readonly title: string
  readonly text: string
}

async function showOrganization(
  screen: OperatorScreen,
  state: FormState,
  secret: NewSecret | null = null,
): Promise<Response> {
  const organization = await organizationIn(screen)
  const { id, name, slug, tier, tierFloor, checkPlan, checkPlanUntil, contactEmail, deletedAt, version } = organization
  const until = checkPlanUntil === null ? '' : dateOf(checkPlanUntil)
  const members = await membersOf(actingFor(screen, id))
  const permission = await readPrivateTargets(screen.ctx, id)
  const at = (action: string) => screen.path(`organizations/${id}/${action}`)
  const erasedAt = deletionAt(organization)
  return screen.show(
    name,
    'organizations',
    <>
      <EditProblem state={state} version={version} fields={[]} />
      {secret === null ? null : (
        <section>
          <h2>{secret.title}</h2>
          <p>It is shown only once.</p>
          <ShownOnce text={secret.text} about={secret.title} />
        </section>
      )}
      <p>
        <a href={`/console/${slug}/now`}>Open its console</a> · {contactEmail}
      </p>
      <Members members={members} />
      <form method="post" action={at('tier')} class="filters">
        <VersionField state={state} version={version} />
        <SelectField
          label={`Tier at least (now ${tier})`}
          name="tier"
          state={state}
          value={tierFloor ?? ''}
          hint={currentValue(state, version, { name: 'tier', value: tierFloor ?? '', shown: tierFloor ?? 'Default' })}
          choices={[{ value: '', text: 'Default' }, ...Object.values(Tier).map((value) => ({ value, text: value }))]}
        />
        <button type="submit" class="quiet">
          Save
        </button>
      </form>
      <form method="post" action={at('plan')} class="filters">
        <VersionField state={state} version={version} />
        <SelectField
          label="Check plan"
          name="plan"
          state={state}
          value={checkPlan}
          hint={currentValue(state, version, { name: 'plan', value: checkPlan })}
          choices={['FREE', 'PRO'].map((value) => ({ value, text: value }))}
        />
        <InputField
          label="Until (empty: no end)"
          name="until"
          type="date"
          state={state}
          value={until}
          hint={currentValue(state, version, { name: 'until', value: until })}
        />
        <button type="submit" class="quiet">
          Save
        </button>
      </form>
      <form method="post" action={at('owner')} class="filters">
        <InputField label="New owner’s email address" name="email" type="email" state={state} required />
        {state.problem?.code === 'CONFLICT' && state.fields.has('email') ? (
          <CheckboxField label="Allow an address that is not proven" name="allowUnproven" state={state} />
        ) : null}
        <button type="submit" class="quiet">
          Make owner
        </button>
      </form>
      <OrganizationPrivateTargets permission={permission} action={at('private-targets')} />
      <form method="post" action={at('key')}>
        <button type="submit" class="quiet">
          New admin key
        </button>
      </form>
      {deletedAt === null ? (
        <form method="post" action={at('delete')} class="filters">
          <InputField label={`Type ${slug} to delete`} name="slug" state={state} required autocomplete="off" />
          <button type="submit" class="danger">
            Delete
          </button>
        </form>
      ) : (
        <form method="post" action={at('restore')} class="actions">
          <span>
            Deleted
            {erasedAt === null ? null : (
              <>
                ; erased <UtcTime at={erasedAt} />
              </>
            )}
          </span>
          <button type="submit">Restore</button>
        </form>
      )}
    </>,
    state,
  )
}

function Members({ members }: { readonly members: readonly Member[] }) {
  if (members.length === 0) return <p>It has no members.</p>
  return (
    <ul class="rows">
      {members.map(({ user, role }) => (
        <li id={user.id}>
          <span>
            {user.name}{' '}
            <span class="row-facts">
              {user.email} · {roleNames[role]}
              {user.emailProvenAt === null ? ` · ${unprovenNote}` : ''}
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}

async function showPayments(screen: OperatorScreen, state: FormState): Promise<Response> {
  const payments = await listUnmatchedPayments(screen.ctx, PAGE_SIZE)
  const content =
    payments.length === 0 ? (
      <p class="all-clear">Every payment belongs to an organization.</p>
    ) : (
      <ul class="rows">
        {payments.map((payment) => (
          <Payment {...{ screen, payment }} />
        ))}
      </ul>
    )
  return screen.show(
    'Unmatched payments',
    'payments',
    <>
      <FormProblem state={state} />
      {content}
    </>,
    state,
  )
}

function Payment({ screen, payment }: { readonly screen: OperatorScreen; readonly payment: PaymentEvent }) {
  const { id, provider, type, receivedAt, amount, currency, email, reason } = payment
  const price = amount === null || currency === null ? '' : moneyText({ amount, currency })
  return (
    <li id={id}>
      <span>
        {price} {email}{' '}
        <span class="row-facts">
          {provider} · {type} · {reason} · <UtcTime at={receivedAt} />
        </span>
      </span>
      <form method="post" action={screen.path(`payments/${encodeURIComponent(id)}`)} class="filters">
        <input name="organization" required aria-label={`Organization of ${id}`} placeholder="Slug or id" />
        {provider === 'STRIPE' && (
          <select name="tier" aria-label={`Tier of ${id}`}>
            <option value="">By amount</option>
            <option value="PRO">Pro</option>
            <option value="TEAM">Team</option>
          </select>
        )}
        <button type="submit" class="quiet">
          Assign
        </button>
      </form>
    </li>
  )
}
