import { NotFound } from '../../../core/errors.ts'
import type { IncomingBody, Integration } from '../../../generated/prisma/client.ts'
import type { IncomingStatus, IntegrationKind } from '../../../generated/prisma/enums.ts'
import { IncidentImpact } from '../../../generated/prisma/enums.ts'
import { orderOf } from '../../../graphql/list/keyset.ts'
import type { Choice, FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField } from '../../../http/page/form.tsx'
import type { IntegrationWithSecret } from '../../../integration/integration.ts'
import {
  createIntegration,
  deleteIntegration,
  ownIntegration,
  pathsOf,
  rotateIntegration,
  rulesOf,
  updateIntegration,
  urlOf,
} from '../../../integration/integration.ts'
import { listIntegrations, pageableReceived } from '../../../integration/integration-queries.ts'
import { DATADOG_TEMPLATE } from '../../../integration/kind/datadog.ts'
import { findBody, readBody, shownBody } from '../../../integration/received.ts'
import type { Rule } from '../../../integration/rule.ts'
import { canSign } from '../../../integration/signature.ts'
import { offerServices } from '../../../status/service/service-queries.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { impactLabels } from '../../../status-page/view.ts'
import { ConfirmDeletion, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import type { ListPage } from '../frame/paging.tsx'
import { PageLinks, readListPage } from '../frame/paging.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { ShownOnce } from '../frame/shown-once.tsx'

/** The labels of the kinds of senders. */
const kindNames = {
  ALERTMANAGER: 'Prometheus Alertmanager',
  GRAFANA: 'Grafana',
  PAGERDUTY: 'PagerDuty',
  PAGERDUTY_EVENTS: 'PagerDuty Events API',
  DATADOG: 'Datadog',
  SENTRY: 'Sentry',
  SNS: 'Amazon CloudWatch (SNS)',
  UPTIME_KUMA: 'Uptime Kuma',
  GENERIC: 'Any JSON',
} as const satisfies Record<IntegrationKind, string>

const statusNames = {
  PENDING: 'Waiting',
  DONE: 'Read',
  IGNORED: 'Ignored',
  REFUSED: 'Refused',
} as const satisfies Record<IncomingStatus, string>

const modeChoices = [
  { value: 'SUGGEST', text: 'Suggest an incident' },
  { value: 'DRAFT', text: 'Draft an incident' },
  { value: 'PUBLISH', text: 'Publish an incident' },
]
const impactChoices = [
  { value: '', text: 'Impact from the sender' },
  ...Object.values(IncidentImpact).map((value) => ({ value, text: impactLabels[value] })),
]

/** The maximum number of services to choose from, besides those of the rules. */
const MAX_OFFERED = 200

/** Adds the screens of integrations, which receive alerts of other tools. */
export function integrationScreens({ get, form, action }: Screens): void {
  get('integrations', showList)
  form('integrations/new', showNew, async (screen, { fields }) => {
    const given = { kind: fields.get('kind'), ...settingsIn(fields) }
    return showOne(screen, emptyForm, await createIntegration(screen.ctx, given))
  })
  form(
    'integrations/:id',
    (screen, state) => showOne(screen, state),
    async ({ ctx, c }, { fields }) => {
      await updateIntegration(ctx, { id: idOf(c), version: readVersion(fields), ...settingsIn(fields) })
      return `integrations/${idOf(c)}`
    },
  )
  get('integrations/:id/bodies/:body', showBody)
  action(
    'integrations/:id/rotate',
    async (screen) => showOne(screen, emptyForm, await rotateIntegration(screen.ctx, idOf(screen.c))),
    (screen, state) => showOne(screen, state),
  )
  form('integrations/:id/delete', showDeletion, async ({ c, ctx }) => {
    await deleteIntegration(ctx, idOf(c))
    return 'integrations'
  })
}

const idOf = (c: Screen['c']) => c.req.param('id') ?? ''

const kindIn = (text: string | null | undefined) =>
  (Object.keys(kindNames) as IntegrationKind[]).find((kind) => kind === text) ?? null

/** Reads the form. An empty secret stays unchanged. */
function settingsIn(fields: URLSearchParams) {
  const secret = fields.get('signingSecret')
  return {
    name: fields.get('name') ?? '',
    rules: rulesIn(fields),
    ...(fields.has('paths.title') ? { paths: pathsIn(fields) } : {}),
    ...(fields.has('signingSecret.removed') ? { signingSecret: null } : secret ? { signingSecret: secret } : {}),
  }
}

/** Reads the rows of rules; skips those without labels and service, unless they were stored. */
function rulesIn(fields: URLSearchParams): Rule[] {
  const of = (name: string) => fields.getAll(`rules.${name}`)
  const [services, impacts, modes, statuses] = [of('serviceId'), of('impact'), of('mode'), of('status')]
  return of('labels').flatMap((text, index) => {
    const labels = labelsIn(text)
    const serviceId = services[index] || null
    const isKept = statuses[index] !== 'new'
    if (labels.length === 0 && serviceId === null && !isKept) return []
    const status = isKept ? statuses[index] || null : null
    const chosen = { status, impact: impacts[index] || null, mode: modes[index] ?? 'SUGGEST' }
    // The domain validates the values.
    return [{ labels, serviceId, ...(chosen as Pick<Rule, 'status' | 'impact' | 'mode'>) }]
  })
}

/** The fields next to which a form shows problems. */
const SHOWN_FIELDS = ['name', 'signingSecret', 'paths']

const pathFields = [
  { part: 'title', label: 'Title' },
  { part: 'text', label: 'Text' },
  { part: 'key', label: 'Key', hint: 'Messages with the same key belong to the same alert.' },
  { part: 'state', label: 'State' },
  { part: 'severity', label: 'Severity' },
  { part: 'link', label: 'Link' },
  { part: 'labels', label: 'Labels' },
] as const

/** Reads the paths; an empty one defaults to the name of its part. */
function pathsIn(fields: URLSearchParams): object {
  const values = (fields.get('paths.resolvedValues') ?? '').split(',').map((each) => each.trim())
  const resolvedValues = values.filter((each) => each !== '')
  return {
    ...Object.fromEntries(pathFields.map(({ part }) => [part, fields.get(`paths.${part}`)?.trim() || null])),
    resolvedValues: resolvedValues.length === 0 ? null : resolvedValues,
  }
}

/** Reads labels, such as `service=shop*, env=prod`. */
function labelsIn(text: string): { readonly name: string; readonly value: string }[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at === -1
        ? { name: part, value: '*' }
        : { name: part.slice(0, at).trim(), value: part.slice(at + 1).trim() }
    })
}

async function showList(screen: Screen): Promise<Response> {
  const { ctx, organization } = screen
  const integrations = await listIntegrations(ctx, organization.id)
  const content = (
    <>
      <p class="lead">Your other tools send their alerts to a secret address. They become suggested incidents.</p>
      <ul class="rows">
        {integrations.map(({ id, name, kind, lastReceivedAt }) => (
          <li id={id}>
            <a href={screen.path(`integrations/${id}`)}>{name}</a>
            <span class="row-facts">
              {kindNames[kind]} ·{' '}
              {lastReceivedAt === null ? (
                'nothing received yet'
              ) : (
                <>
                  last <Time at={lastReceivedAt} zone={screen.zone} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
  const actions = screen.may('WRITE') ? (
    <a class="button" href={screen.path('integrations/new')}>
      Add an integration
    </a>
  ) : undefined
  return screen.show({ title: 'Alerts from other tools', section: 'alerts', content, actions })
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  const kind = kindIn(state.fields.get('kind') ?? screen.c.req.query('kind'))
  if (kind === null) {
    const content = (
      <ul class="rows">
        {Object.entries(kindNames).map(([value, name]) => (
          <li>
            <a href={screen.path(`integrations/new?kind=${value}`)}>{name}</a>
          </li>
        ))}
      </ul>
    )
    return screen.show({ title: 'Which tool sends alerts?', section: 'alerts', content }, state)
  }
  const content = (
    <IntegrationForm {...{ screen, state, kind }} integration={null} services={await readServices(screen, [])} />
  )
  return screen.show({ title: `New integration: ${kindNames[kind]}`, section: 'alerts', content }, state)
}

async function showOne(screen: Screen, state: FormState, made: IntegrationWithSecret | null = null): Promise<Response> {
  const { c, ctx, organization } = screen
  const integration = made?.integration ?? (await ownIntegration(ctx, organization.id, idOf(c)))
  const { id, kind, name } = integration
  const rules = rulesOf(integration)
  const [services, bodies] = await Promise.all([
    readServices(screen, rules),
    readListPage(c, {
      path: screen.path(`integrations/${id}`),
      order: orderOf('IncomingBody', { position: ['number', 'desc'] }),
      ...pageableReceived(ctx, id),
    }),
  ])
  const url = urlOf(ctx.site, made?.secret ?? null)
  const content = (
    <>
      {url === null ? null : (
        <section>
          <h2>Copy the address now</h2>
          <p>It is shown only once.{kind === 'PAGERDUTY_EVENTS' ? ' Its last part is the routing key.' : null}</p>
          <ShownOnce text={url} about="the address" />
        </section>
      )}
      {kind === 'DATADOG' ? (
        <section>
          <h2>Payload for Datadog</h2>
          <pre>{DATADOG_TEMPLATE}</pre>
        </section>
      ) : null}
      {screen.may('WRITE') ? (
        <IntegrationForm {...{ screen, state, kind, integration, services }} />
      ) : (
        <FormProblem state={state} />
      )}
      <Bodies {...{ screen, page: bodies }} />
    </>
  )
  const actions = screen.may('WRITE') ? (
    <>
      <form method="post" action={screen.path(`integrations/${id}/rotate`)}>
        <button type="submit" class="quiet">
          New address
        </button>
      </form>
      <a class="button quiet" href={screen.path(`integrations/${id}/delete`)}>
        Delete
      </a>
    </>
  ) : undefined
  return screen.show({ title: name, section: 'alerts', content, actions }, state)
}

/** Reads the services to choose from: those of the rules, and others. */
async function readServices({ ctx, organization }: Screen, rules: readonly Rule[]): Promise<Choice[]> {
  const chosen = rules.flatMap(({ serviceId }) => serviceId ?? [])
  const offer = await offerServices(ctx, organization.id, chosen, MAX_OFFERED)
  return [
    { value: '', text: 'No service' },
    ...[...offer.chosen, ...offer.others].map(({ id, name }) => ({ value: id, text: name })),
  ]
}

interface FormProps {
  readonly screen: Screen
  readonly state: FormState
  readonly kind: IntegrationKind
  /** Null: a new one. */
  readonly integration: Integration | null
  readonly services: readonly Choice[]
}

function IntegrationForm({ screen, state, kind, integration, services }: FormProps) {
  const stored = integration === null ? [] : rulesOf(integration)
  const typed = state.fields.has('rules.labels') ? rulesIn(state.fields) : stored
  const rows: (Rule | null)[] = [...typed, null]
  return (
    <form
      method="post"
      action={screen.path(`integrations/${integration?.id ?? 'new'}`)}
      class="stack"
      id="integration-form"
    >
      {integration === null ? (
        <FormProblem state={state} fields={SHOWN_FIELDS} />
      ) : (
        <EditProblem state={state} version={integration.version} fields={SHOWN_FIELDS} />
      )}
      <input type="hidden" name="kind" value={kind} />
      {integration === null ? null : <VersionField state={state} version={integration.version} />}
      <InputField label="Name" name="name" state={state} value={integration?.name ?? ''} required autocomplete="off" />
      {canSign(kind) ? (
        <InputField
          label="Signing secret"
          name="signingSecret"
          state={state}
          autocomplete="off"
          hint={
            integration?.signingSecret
              ? 'One is stored and never shown. Empty: it stays the same.'
              : kind === 'GENERIC'
                ? 'A Standard Webhooks secret (whsec_…). Empty: signatures are not checked.'
                : 'As the sender shows it. Empty: signatures are not checked.'
          }
        />
      ) : null}
      <fieldset class="stack">
        <legend>Rules</legend>
        <p class="hint">
          Labels such as service=shop*, env=prod. The first rule that matches decides. Without rules, everything is
          suggested.
        </p>
        {rows.map((rule, index) => (
          <RuleRow {...{ rule, index, services }} />
        ))}
      </fieldset>
      {kind === 'GENERIC' ? <PathFields {...{ state, integration }} /> : null}
      <p class="actions">
        <button type="submit">Save</button>
        <a href={screen.path('integrations')}>Cancel</a>
      </p>
    </form>
  )
}

function PathFields({ state, integration }: Pick<FormProps, 'state' | 'integration'>) {
  const paths = integration === null ? {} : pathsOf(integration)
  const isUsed = state.problem !== null || Object.values(paths).some((each) => each != null)
  return (
    <details open={isUsed}>
      <summary>Paths to the parts of an alert</summary>
      <p class="hint">Paths such as alert.title or tags[0]. Empty: the member of that name.</p>
      <div class="stack">
        {pathFields.map(({ part, label, ...hint }) => (
          <InputField
            {...{ label, state, ...hint }}
            name={`paths.${part}`}
            value={paths[part] ?? ''}
            placeholder={part}
            autocomplete="off"
          />
        ))}
        <InputField
          label="States that mean resolved"
          name="paths.resolvedValues"
          state={state}
          value={paths.resolvedValues?.join(', ') ?? ''}
          placeholder="resolved, ok, up"
          autocomplete="off"
        />
      </div>
    </details>
  )
}

function RuleRow({
  rule,
  index,
  services,
}: {
  readonly rule: Rule | null
  readonly index: number
  readonly services: readonly Choice[]
}) {
  const labels = (rule?.labels ?? []).map(({ name, value }) => `${name}=${value}`).join(', ')
  const of = `of rule ${index + 1}`
  return (
    <div class="rule-row">
      <input type="hidden" name="rules.status" value={rule === null ? 'new' : (rule.status ?? '')} />
      <input name="rules.labels" value={labels} aria-label={`Labels ${of}`} placeholder="Labels" autocomplete="off" />
      <Select name="rules.serviceId" label={`Service ${of}`} choices={services} value={rule?.serviceId ?? ''} />
      <Select name="rules.impact" label={`Impact ${of}`} choices={impactChoices} value={rule?.impact ?? ''} />
      <Select name="rules.mode" label={`Result ${of}`} choices={modeChoices} value={rule?.mode ?? 'SUGGEST'} />
    </div>
  )
}

function Select({
  name,
  label,
  choices,
  value,
}: {
  readonly name: string
  readonly label: string
  readonly choices: readonly Choice[]
  readonly value: string
}) {
  return (
    <select name={name} aria-label={label}>
      {choices.map((choice) => (
        <option value={choice.value} selected={choice.value === value}>
          {choice.text}
        </option>
      ))}
    </select>
  )
}

function Bodies({ screen, page }: { readonly screen: Screen; readonly page: ListPage<IncomingBody> }) {
  return (
    <section>
      <h2>Received</h2>
      {page.rows.length === 0 ? <p>Nothing was received within seven days.</p> : null}
      <ul class="rows">
        {page.rows.map((body) => (
          <li id={body.id}>
            <details>
              <summary>
                {statusNames[body.status]} · <Time at={body.receivedAt} zone={screen.zone} /> · {body.note}
              </summary>
              <pre>{shownBody(screen.ctx.seal, body)}</pre>
              <p>
                <a href={screen.path(`integrations/${body.integrationId}/bodies/${body.id}`)}>Full message</a>
              </p>
            </details>
          </li>
        ))}
      </ul>
      <PageLinks {...page} />
    </section>
  )
}

async function showBody(screen: Screen): Promise<Response> {
  const { c, ctx, organization } = screen
  const { id, name } = await ownIntegration(ctx, organization.id, idOf(c))
  const body = await findBody(ctx, id, c.req.param('body') ?? '')
  if (body === null) throw new NotFound('Message not found. Messages are kept for seven days.')
  const content = (
    <>
      <p class="lead">
        {statusNames[body.status]} · <Time at={body.receivedAt} zone={screen.zone} /> · {body.note}
      </p>
      <pre>{readBody(ctx.seal, body)}</pre>
      <p class="more">
        <a href={screen.path(`integrations/${id}`)}>{name}</a>
      </p>
    </>
  )
  return screen.show({ title: 'Received message', section: 'alerts', content })
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx, organization } = screen
  const { id, name } = await ownIntegration(ctx, organization.id, idOf(c))
  const content = (
    <ConfirmDeletion {...{ state, what: name, back: screen.path(`integrations/${id}`) }}>
      <p>Its address stops working, and received messages are deleted. Its incidents stay. This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this integration?', section: 'alerts', content }, state)
}
