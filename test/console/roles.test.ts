import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createApiKey } from '../../src/account/api-key.ts'
import { newId } from '../../src/core/id.ts'
import type { Scope } from '../../src/generated/prisma/enums.ts'
import { Role } from '../../src/generated/prisma/enums.ts'
import { createIncident } from '../../src/status/incident-opening.ts'
import { createService } from '../../src/status/service.ts'
import type { Browser } from '../support/console.ts'
import { testConsole } from '../support/console.ts'
import { testContext } from '../support/context.ts'
import { runs } from '../support/runs.ts'

const { app, database, organization } = await testConsole()
const own = await organization('own')
const foreign = await organization('foreign')

const operator = testContext(database.prisma, {
  actor: { kind: 'operator', organizationId: own.organization.id },
  now: () => new Date(),
})
const organizationId = own.organization.id
const lasting = { since: new Date(), openedAt: new Date(), message: 'Refused.' }
const { id: alertId } = await database.prisma.alert.create({
  data: {
    ...{ id: newId('Alert'), organizationId, monitorId: newId('Monitor'), monitorName: 'API' },
    ...{ change: 'DOWN', state: 'DOWN', ...lasting },
  },
})
const { id: integrationId } = await database.prisma.integration.create({
  data: {
    ...{ id: newId('Integration'), organizationId, name: 'Checks', kind: 'GENERIC', hash: 'none', rules: [] },
    createdAt: new Date(),
  },
})
const { id: serviceId } = await createService(operator, { name: 'Shop' })
const found = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
const { id: incidentId } = await createIncident(operator, found)

interface Action {
  /** The least role that may, and the least scope of a key; null: no key may. */
  readonly role: Role
  readonly scope: Scope | null
  /** The form of the console; without fields a screen. */
  readonly path: string
  readonly fields?: Record<string, string>
  readonly graphql: string | ((organizationId: string) => string)
}

/** The table of the contract: what needs which role or scope. Every door has to agree with it. */
const actions: Readonly<Record<string, Action>> = {
  'read incidents': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'incidents' },
    graphql: '{ organization { id incidents(first: 1) { totalCount } } }',
  },
  'add a service': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'services/new', fields: { name: 'Website' } },
    graphql: 'mutation { createService(input: {name: "Website"}) { __typename } }',
  },
  'report an incident': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'incidents/new' },
    fields: { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' },
    graphql: `mutation { createIncident(input: {title: "Slow", status: INVESTIGATING, impact: MINOR, message: "We look."}) {
      __typename } }`,
  },
  'create a key': {
    ...{ role: 'ADMIN', scope: 'ADMIN', path: 'keys', fields: { name: 'A key', scope: 'READ', expiresAt: '' } },
    graphql: 'mutation { createApiKey(input: {name: "A key", scope: READ}) { __typename } }',
  },
  'set up the page': {
    ...{ role: 'ADMIN', scope: 'ADMIN', path: 'page', fields: { description: 'About us.' } },
    graphql: 'mutation { updateOrganization(input: {description: "About us."}) { __typename } }',
  },
  'create a page': {
    ...{ role: 'ADMIN', scope: 'ADMIN', path: 'pages/new', fields: { name: 'Staff', slug: 'own-staff' } },
    graphql: 'mutation { createPage(input: {name: "Staff", slug: "own-staff"}) { __typename } }',
  },
  'read alerts': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'alerts' },
    graphql: '{ organization { id alertChannels { totalCount } } }',
  },
  'add an alert channel': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'alerts/channels/new' },
    fields: { kind: 'ntfy', name: 'Ops', 'ntfy.topic': 'ops' },
    graphql: 'mutation { createAlertChannel(input: {name: "Ops", ntfy: {topic: "ops"}}) { __typename } }',
  },
  'acknowledge an alert': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `alerts/${alertId}/acknowledge`, fields: { acknowledge: 'true' } },
    graphql: `mutation { acknowledgeAlert(id: "${alertId}") { __typename } }`,
  },
  'read what came in': {
    ...{ role: 'VIEWER', scope: 'READ', path: `integrations/${integrationId}` },
    graphql: '{ organization { id integrations { received { body } } } }',
  },
  'read objectives': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'objectives' },
    graphql: '{ organization { objectives { nodes { standing { verdict } } } } }',
  },
  'add an objective': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'objectives/new' },
    fields: { serviceId, target: '99', windowDays: '' },
    graphql: `mutation { createObjective(input: {serviceId: "${serviceId}", target: 99}) { __typename } }`,
  },
  'add an integration': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'integrations/new', fields: { kind: 'GENERIC', name: 'Checks' } },
    graphql: 'mutation { createIntegration(input: {name: "Checks", kind: GENERIC}) { __typename } }',
  },
  'replace the address of an integration': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `integrations/${integrationId}/rotate`, fields: { rotate: 'true' } },
    graphql: `mutation { rotateIntegration(id: "${integrationId}") { __typename } }`,
  },
  'publish a suggestion': {
    ...{
      role: 'EDITOR',
      scope: 'WRITE',
      path: `incidents/${incidentId}/publish`,
      fields: { tellSubscribers: 'false' },
    },
    graphql: `mutation { publishIncident(input: {id: "${incidentId}"}) { __typename } }`,
  },
  'repeat maintenance': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'maintenance/series/new' },
    fields: { title: 'Restart', message: 'So.', startsAt: '2999-01-01T02:00', durationMinutes: '5', repeat: 'DAILY' },
    graphql: `mutation { createMaintenanceSeries(input: {title: "Restart", message: "So.", startsAt: "2999-01-01T02:00:00Z",
      durationMinutes: 5, rule: "FREQ=DAILY"}) { __typename } }`,
  },
  'watch something': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'monitors/new' },
    fields: { kind: 'HEARTBEAT', name: 'Backup', intervalSeconds: '600', 'heartbeat.graceSeconds': '60' },
    graphql: 'mutation { createMonitor(input: {name: "Backup", heartbeat: {}}) { __typename } }',
  },
  'see who subscribed': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'subscribers' },
    graphql: '{ organization { id subscribers(first: 1) { totalCount } } }',
  },
  'invite somebody': {
    ...{ role: 'OWNER', scope: null, path: 'people', fields: { email: 'new@example.com', role: 'VIEWER' } },
    graphql: 'mutation { invite(input: {email: "new@example.com", role: VIEWER}) { __typename } }',
  },
  'delete the organization': {
    // The wrong name, so that nobody's is deleted.
    ...{ role: 'OWNER', scope: 'ADMIN', path: 'page/delete', fields: { slug: 'not-its-name' } },
    graphql: (id) => `mutation { deleteOrganization(input: {id: "${id}", slug: "not-its-name"}) { __typename } }`,
  },
}

const roles = Object.values(Role)
const scopes = ['READ', 'WRITE', 'ADMIN'] as const
const people = new Map<Role, Browser>()
for (const role of roles) people.set(role, await own.signIn(role))
const keys = new Map<Scope, string>()
for (const scope of scopes) {
  keys.set(scope, (await createApiKey(operator, { name: scope, scope })).secret)
}

async function isAllowedByForm(person: Browser, slug: string, { path, fields }: Action): Promise<boolean> {
  const address = `/console/${slug}/${path}`
  const { status, html } = await (fields ? person.post(address, fields) : person.get(address))
  return status !== 403 && status !== 404 && !/requires the role|Only an owner may/.test(html)
}

async function isAllowedByGraphql(headers: Record<string, string>, { graphql }: Action, id: string): Promise<boolean> {
  const response = await fetch(`${app.baseUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify({ query: typeof graphql === 'string' ? graphql : graphql(id) }),
  })
  const { data, errors } = await response.json()
  const codes = (errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code)
  if (codes.length > 0) expect(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND']).toContain(codes[0])
  const isMissing = JSON.stringify(data ?? null).includes('NotFoundError')
  return codes.length === 0 && !isMissing && Object.values(data ?? {}).every((value) => value !== null)
}

const action = fc.constantFrom(...Object.entries(actions))

test('a person may what the table says, by forms and by GraphQL, in its own organization only', async () => {
  const place = fc.constantFrom(own.organization, foreign.organization)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...roles), action, place, async (role, [, what], { id, slug }) => {
      const person = people.get(role) ?? expect.unreachable()
      const expected = id === own.organization.id && roles.indexOf(role) >= roles.indexOf(what.role)
      const byForm = await isAllowedByForm(person, slug, what)
      const headers = { cookie: `allclear_session=${person.token}`, 'x-organization': slug }
      expect({ byForm, byGraphql: await isAllowedByGraphql(headers, what, id) }).toEqual({
        ...{ byForm: expected, byGraphql: expected },
      })
    }),
    runs(60, 120),
  )
})

test('a key may what the table says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...scopes), action, async (scope, [, what]) => {
      const expected = what.scope !== null && scopes.indexOf(scope) >= scopes.indexOf(what.scope)
      expect(await isAllowedByGraphql({ authorization: `Bearer ${keys.get(scope)}` }, what, own.organization.id)).toBe(
        expected,
      )
    }),
    runs(30, 60),
  )
})
