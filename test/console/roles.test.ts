// @slow
import { expect, test } from 'vitest'
import { createApiKey } from '../../src/account/api-key/api-key.ts'
import { newId } from '../../src/core/id.ts'
import type { Scope } from '../../src/generated/prisma/enums.ts'
import { Role } from '../../src/generated/prisma/enums.ts'
import { correctUptime } from '../../src/monitoring/objective/correction.ts'
import { createIncidentNote } from '../../src/status/incident/incident-note.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { savePostmortem } from '../../src/status/incident/postmortem.ts'
import { requestPostmortemReview } from '../../src/status/incident/postmortem-review.ts'
import { createService } from '../../src/status/service/service.ts'
import { createTemplate } from '../../src/status/template/template.ts'
import type { Browser } from '../support/console.ts'
import { testConsole } from '../support/console.ts'
import { testContext } from '../support/context.ts'
import { mutate, uploadFile } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { post } from '../support/graphql-client.ts'

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
    ...{ id: newId('Alert'), organizationId, subjectId: newId('Monitor'), subjectName: 'API' },
    ...{ change: 'DOWN', state: 'DOWN', ...lasting },
  },
})
await database.prisma.organization.update({ where: { id: organizationId }, data: { tier: 'TEAM' } })
/** Creates something of ours by its mutation. */
const made = <T = { readonly id: string }>(field: string, type: string, input: object, selection = 'id') =>
  mutate<T>(app.baseUrl, own.key, field, type, { ...input }, selection)
const checks = { name: 'Checks', kind: 'GENERIC' }
const integration = await made<{ id: string; url: string }>('createIntegration', 'Integration', checks, 'id url')
const { id: integrationId } = integration
await fetch(integration.url, { method: 'POST', body: '{"title": "Disk full"}' })
const { id: bodyId } = await database.prisma.incomingBody.findFirstOrThrow({ where: { integrationId } })
/** An integration beyond the tier's limit. */
const newIntegration = async () => {
  const data = { organizationId, ...checks, kind: 'GENERIC', rules: [], createdAt: new Date() } as const
  const id = newId('Integration')
  return (await database.prisma.integration.create({ data: { ...data, id, hash: id } })).id
}
/** Nothing listens there, so a test of it fails at once. */
const hook = { name: 'Hook', address: { webhook: { url: `http://127.0.0.1:${await freePort()}/` } } }
const newChannel = async () => (await made('createAlertChannel', 'AlertChannel', hook)).id
const channelId = await newChannel()
const { id: serviceId } = await createService(operator, { name: 'Shop' })
const found = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' }
const { id: incidentId } = await createIncident(operator, found)
const { id: otherIncidentId } = await createIncident(operator, found)

/** A resolved incident with a post-mortem, whose review is requested. */
async function reviewed(): Promise<string> {
  const { id } = await createIncident(operator, { ...found, status: 'RESOLVED' })
  await savePostmortem(operator, { incidentId: id, message: 'A disk was full.' })
  await requestPostmortemReview(operator, id)
  return id
}
const { id: resolvedId } = await createIncident(operator, { ...found, status: 'RESOLVED' })
await savePostmortem(operator, { incidentId: resolvedId, message: 'A disk was full.' })
const reviewedId = await reviewed()
/** The times of a correction, in the formats of forms and of GraphQL. */
const wrong = { startsAt: '2026-11-01T02:00', endsAt: '2026-11-01T03:00', kind: 'GOOD', reason: 'So.' }
const incidentTemplate = { kind: 'INCIDENT', name: 'Outage', message: 'We look.' }
const maintenanceTemplate = { kind: 'MAINTENANCE', name: 'Restart', message: 'We restart.' }
const { id: pageId } = await database.prisma.page.findFirstOrThrow({ where: { organizationId } })

interface Action {
  /** The lowest role that may, and the lowest scope of a key; null: no key may. */
  readonly role: Role
  readonly scope: Scope | null
  /** The form of the console; without fields, a screen. */
  readonly path: string | ((thingId: string) => string)
  readonly fields?: Record<string, string>
  readonly graphql: string | ((organizationId: string, thingId: string) => string)
  /** Creates what the action consumes. Returns its id. */
  readonly make?: () => Promise<string>
}

/** The contract: the role or scope that each action requires, in forms and in GraphQL alike. */
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
    graphql: 'mutation { createAlertChannel(input: {name: "Ops", address: {ntfy: {topic: "ops"}}}) { __typename } }',
  },
  'read an alert channel': {
    ...{ role: 'VIEWER', scope: 'READ', path: `alerts/channels/${channelId}` },
    graphql: `{ node(id: "${channelId}") { ... on AlertChannel { address messages(first: 1) { totalCount } } } }`,
  },
  'test an alert channel': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `alerts/channels/${channelId}/test`, fields: { test: 'true' } },
    graphql: `mutation { testAlertChannel(id: "${channelId}") { __typename } }`,
  },
  'change an alert channel': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `alerts/channels/${channelId}`, fields: { name: 'Ops', version: '1' } },
    graphql: `mutation { updateAlertChannel(input: {id: "${channelId}", name: "Ops"}) { __typename } }`,
  },
  'rotate the secret of an alert channel': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `alerts/channels/${channelId}/secret`, fields: {} },
    graphql: `mutation { rotateAlertChannelSecret(id: "${channelId}") { __typename } }`,
  },
  'delete an alert channel': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {}, make: newChannel },
    path: (id) => `alerts/channels/${id}/delete`,
    graphql: (_, id) => `mutation { deleteAlertChannel(id: "${id}") { __typename } }`,
  },
  'acknowledge an alert': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `alerts/${alertId}/acknowledge`, fields: { acknowledge: 'true' } },
    graphql: `mutation { acknowledgeAlert(id: "${alertId}") { __typename } }`,
  },
  'read what came in': {
    ...{ role: 'VIEWER', scope: 'READ', path: `integrations/${integrationId}` },
    graphql: '{ organization { id alertIntegrations(first: 1) { nodes { bodies(first: 1) { totalCount } } } } }',
  },
  'read a message that came in': {
    ...{ role: 'VIEWER', scope: 'READ', path: `integrations/${integrationId}/bodies/${bodyId}` },
    graphql: '{ organization { alertIntegrations(first: 1) { nodes { bodies(first: 1) { nodes { body } } } } } }',
  },
  'change an integration': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `integrations/${integrationId}` },
    fields: { name: 'Probes', version: '1' },
    graphql: `mutation { updateIntegration(input: {id: "${integrationId}", name: "Probes"}) { __typename } }`,
  },
  'delete an integration': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {}, make: newIntegration },
    path: (id) => `integrations/${id}/delete`,
    graphql: (_, id) => `mutation { deleteIntegration(id: "${id}") { __typename } }`,
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
      fields: { notifySubscribers: 'false' },
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
    graphql: 'mutation { createMonitor(input: {name: "Backup", probe: {heartbeat: {}}}) { __typename } }',
  },
  'see who subscribed': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'subscribers' },
    graphql: '{ organization { id subscribers(first: 1) { totalCount } } }',
  },
  'invite someone': {
    ...{ role: 'OWNER', scope: null, path: 'people', fields: { email: 'new@example.com', role: 'VIEWER' } },
    graphql: 'mutation { invite(input: {email: "new@example.com", role: VIEWER}) { __typename } }',
  },
  'write a note': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${incidentId}/notes`, fields: { note: 'Disk 3?' } },
    graphql: `mutation { createIncidentNote(input: {incidentId: "${incidentId}", message: "Disk 3?"}) { __typename } }`,
  },
  'delete a note of another person': {
    ...{ role: 'ADMIN', scope: 'ADMIN', fields: {} },
    make: async () => (await createIncidentNote(operator, { incidentId, message: 'Disk 4?' })).id,
    path: (id) => `incidents/${incidentId}/notes/${id}/delete`,
    graphql: (_, id) => `mutation { deleteIncidentNote(id: "${id}") { __typename } }`,
  },
  'read notes, files and the lead': {
    ...{ role: 'VIEWER', scope: 'READ', path: `incidents/${incidentId}` },
    graphql: `{ node(id: "${incidentId}") { ... on Incident { version notes { totalCount } files { id } } } }`,
  },
  'delete a file': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {} },
    make: async () => (await uploadFile(app.baseUrl, own.key, { incidentId, name: 'log.txt' })).id,
    path: (id) => `incidents/${incidentId}/files/${id}/delete`,
    graphql: (_, id) => `mutation { deleteIncidentFile(id: "${id}") { __typename } }`,
  },
  'take the lead': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${incidentId}/lead`, fields: { userId: '' } },
    graphql: `mutation { setIncidentLead(input: {incidentId: "${incidentId}"}) { __typename } }`,
  },
  'move a service': {
    // Into itself, so that the service stays.
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${incidentId}/move` },
    fields: { serviceId, intoId: incidentId },
    graphql: `mutation { moveIncidentService(input: {serviceId: "${serviceId}", fromId: "${incidentId}",
      intoId: "${incidentId}"}) { __typename } }`,
  },
  'merge incidents': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: { intoId: otherIncidentId } },
    make: async () => (await createIncident(operator, found)).id,
    path: (id) => `incidents/${id}/merge`,
    graphql: (_, id) =>
      `mutation { mergeIncidents(input: {id: "${id}", intoId: "${otherIncidentId}"}) { __typename } }`,
  },
  'dismiss a suggestion': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {} },
    make: async () => (await createIncident(operator, { ...found, visibility: 'DRAFT' })).id,
    path: (id) => `incidents/${id}/dismiss`,
    graphql: (_, id) => `mutation { dismissIncident(id: "${id}") { __typename } }`,
  },
  'read the draft of a post-mortem': {
    ...{ role: 'VIEWER', scope: 'READ', path: `incidents/${reviewedId}` },
    graphql: `{ node(id: "${reviewedId}") { ... on Incident { version postmortem { message reviewedAt } } } }`,
  },
  'write a post-mortem': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${resolvedId}/postmortem`, fields: { message: 'A disk.' } },
    graphql: `mutation { savePostmortem(input: {incidentId: "${resolvedId}", message: "A disk."}) { __typename } }`,
  },
  'publish a post-mortem': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${resolvedId}/postmortem/publish`, fields: {} },
    graphql: `mutation { publishPostmortem(input: {incidentId: "${resolvedId}"}) { __typename } }`,
  },
  'withdraw a post-mortem': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${resolvedId}/postmortem/unpublish`, fields: {} },
    graphql: `mutation { unpublishPostmortem(id: "${resolvedId}") { __typename } }`,
  },
  'request a review': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: `incidents/${reviewedId}/postmortem/request-review`, fields: {} },
    graphql: `mutation { requestPostmortemReview(id: "${reviewedId}") { __typename } }`,
  },
  'approve a post-mortem': {
    ...{ role: 'EDITOR', scope: null, fields: { version: '1' }, make: reviewed },
    path: (id) => `incidents/${id}/postmortem/approve`,
    graphql: (_, id) => `mutation { approvePostmortem(input: {incidentId: "${id}", version: 1}) { __typename } }`,
  },
  'cancel a review': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {}, make: reviewed },
    path: (id) => `incidents/${id}/postmortem/cancel-review`,
    graphql: (_, id) => `mutation { cancelPostmortemReview(id: "${id}") { __typename } }`,
  },
  'delete a post-mortem': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {}, make: reviewed },
    path: (id) => `incidents/${id}/postmortem/delete`,
    graphql: (_, id) => `mutation { deletePostmortem(id: "${id}") { __typename } }`,
  },
  'read templates': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'templates' },
    graphql: '{ organization { id templates { id } } }',
  },
  'prepare an incident': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'templates/new', fields: incidentTemplate },
    graphql: 'mutation { createTemplate(input: {kind: INCIDENT, name: "Outage", message: "We look."}) { __typename } }',
  },
  'prepare a maintenance': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'templates/new', fields: maintenanceTemplate },
    graphql:
      'mutation { createTemplate(input: {kind: MAINTENANCE, name: "Restart", message: "We restart."}) { __typename } }',
  },
  'change a template': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: maintenanceTemplate },
    make: async () => (await createTemplate(operator, { ...maintenanceTemplate, name: newId('Template') })).id,
    path: (id) => `templates/${id}`,
    graphql: (_, id) => `mutation { updateTemplate(input: {id: "${id}", message: "We do."}) { __typename } }`,
  },
  'delete a template': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {} },
    make: async () => (await createTemplate(operator, { ...incidentTemplate, name: newId('Template') })).id,
    path: (id) => `templates/${id}/delete`,
    graphql: (_, id) => `mutation { deleteTemplate(id: "${id}") { __typename } }`,
  },
  'read corrections': {
    ...{ role: 'VIEWER', scope: 'READ', path: 'corrections' },
    graphql: '{ organization { id uptimeCorrections { totalCount } } }',
  },
  'correct the uptime': {
    ...{ role: 'EDITOR', scope: 'WRITE', path: 'corrections/new', fields: { serviceId, ...wrong } },
    graphql: `mutation { correctUptime(input: {serviceId: "${serviceId}", startsAt: "${wrong.startsAt}:00Z",
      endsAt: "${wrong.endsAt}:00Z", kind: GOOD, reason: "So."}) { __typename } }`,
  },
  'delete a correction': {
    ...{ role: 'EDITOR', scope: 'WRITE', fields: {} },
    make: async () => {
      const times = { startsAt: new Date(`${wrong.startsAt}Z`), endsAt: new Date(`${wrong.endsAt}Z`) }
      return (await correctUptime(operator, { ...wrong, ...times, serviceId })).id
    },
    path: (id) => `corrections/${id}/delete`,
    graphql: (_, id) => `mutation { deleteUptimeCorrection(id: "${id}") { __typename } }`,
  },
  'read monthly reports': {
    ...{ role: 'VIEWER', scope: 'READ', path: `reports/${pageId}` },
    graphql: `{ node(id: "${pageId}") { ... on StatusPage { version publishesReports } } }`,
  },
  'publish monthly reports': {
    ...{ role: 'ADMIN', scope: 'ADMIN', path: `reports/${pageId}/published`, fields: { published: 'true' } },
    graphql: `mutation { updatePageReports(input: {pageId: "${pageId}", published: true}) { __typename } }`,
  },
  'delete the organization': {
    // The wrong name, so that no organization is deleted.
    ...{ role: 'OWNER', scope: 'ADMIN', path: 'page/delete', fields: { slug: 'not-its-name' } },
    graphql: (id) => `mutation { deleteOrganization(input: {id: "${id}", slug: "not-its-name"}) { __typename } }`,
  },
}

const roles = Object.values(Role)
const scopes = ['READ', 'WRITE', 'ADMIN'] as const
const people = new Map<Role, Browser>()
for (const role of roles) people.set(role, await own.signIn(role))
const stranger = await foreign.signIn('OWNER')
const keys = new Map<Scope, string>()
for (const scope of scopes) {
  keys.set(scope, (await createApiKey(operator, { name: scope, scope })).secret)
}

const idFor = async ({ make }: Action) => (await make?.()) ?? ''

async function isAllowedByForm(person: Browser, slug: string, what: Action): Promise<boolean> {
  const { path, fields } = what
  const address = `/console/${slug}/${typeof path === 'string' ? path : path(await idFor(what))}`
  const { status, html } = await (fields ? person.post(address, fields) : person.get(address))
  return status !== 403 && status !== 404 && !/requires the role|Only an owner may|Only the author/.test(html)
}

async function isAllowedByGraphql(headers: Record<string, string>, what: Action, id: string): Promise<boolean> {
  const { graphql } = what
  const response = await fetch(`${app.baseUrl}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify({ query: typeof graphql === 'string' ? graphql : graphql(id, await idFor(what)) }),
  })
  const { data, errors } = await response.json()
  const codes = (errors ?? []).map(({ extensions }: { extensions: { code: string } }) => extensions.code)
  if (codes.length > 0) expect(['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND']).toContain(codes[0])
  const isMissing = JSON.stringify(data ?? null).includes('NotFoundError')
  return codes.length === 0 && !isMissing && Object.values(data ?? {}).every((value) => value !== null)
}

const entries = Object.entries(actions)
const places = [own.organization, foreign.organization]
const sessionOf = ({ token }: Browser, slug: string) => ({
  cookie: `allclear_session=${token}`,
  'x-organization': slug,
})

test.each(entries)(
  '%s: people of each role by forms and by GraphQL, in their own organization only',
  async (_, what) => {
    for (const role of roles) {
      const person = people.get(role) ?? expect.unreachable()
      // In other organizations, all roles are those of a stranger.
      for (const { id, slug } of role === 'OWNER' ? places : places.slice(0, 1)) {
        const expected = id === organizationId && roles.indexOf(role) >= roles.indexOf(what.role)
        const byForm = await isAllowedByForm(person, slug, what)
        const byGraphql = await isAllowedByGraphql(sessionOf(person, slug), what, id)
        expect({ role, slug, byForm, byGraphql }).toEqual({ role, slug, byForm: expected, byGraphql: expected })
      }
    }
  },
)

test.each(entries)('%s: keys of each scope', async (_, what) => {
  for (const scope of scopes) {
    const expected = what.scope !== null && scopes.indexOf(scope) >= scopes.indexOf(what.scope)
    const allowed = await isAllowedByGraphql({ authorization: `Bearer ${keys.get(scope)}` }, what, organizationId)
    expect({ scope, allowed }).toEqual({ scope, allowed: expected })
  }
})

test.each(entries)('%s: no one from another organization, as its owner or by its key', async (_, what) => {
  const headers = sessionOf(stranger, foreign.organization.slug)
  expect(await isAllowedByForm(stranger, own.organization.slug, what)).toBe(false)
  // Anything that does not name our objects is about the caller's organization.
  const isId = /\b[a-z]{3}_[0-9a-z]{20,}/
  if (typeof what.path !== 'string' || isId.test(what.path))
    expect(await isAllowedByForm(stranger, foreign.organization.slug, what)).toBe(false)
  if (typeof what.graphql === 'string' && !isId.test(what.graphql)) return
  for (const who of [headers, { authorization: `Bearer ${foreign.key}` }])
    expect(await isAllowedByGraphql(who, what, organizationId)).toBe(false)
})

test('the signing secret of a channel is readable for those who may change it', async () => {
  const query = `{ node(id: "${channelId}") { ... on AlertChannel { signingSecret } } }`
  for (const role of roles) {
    const person = people.get(role) ?? expect.unreachable()
    const isExpected = roles.indexOf(role) >= roles.indexOf('EDITOR')
    expect((await person.get(`alerts/channels/${channelId}`)).html.includes('whsec_'), role).toBe(isExpected)
    expect(JSON.stringify(await person.graphql(query)).includes('whsec_'), role).toBe(isExpected)
  }
  for (const scope of scopes) {
    const { data } = await post(app.baseUrl, { query, key: keys.get(scope) })
    expect(JSON.stringify(data ?? null).includes('whsec_'), scope).toBe(scope !== 'READ')
  }
})

test('a received alert does not show its sender’s address, and its forms are offered to those who may send them', async () => {
  for (const role of roles) {
    const person = people.get(role) ?? expect.unreachable()
    const mayChange = roles.indexOf(role) >= roles.indexOf('EDITOR')
    const { html } = await person.get(`integrations/${integrationId}`)
    expect(html).not.toContain(new URL(integration.url).pathname)
    expect(html).toContain('Disk full')
    for (const form of [`${integrationId}/rotate`, `${integrationId}/delete`])
      expect(html.includes(form), `${role} ${form}`).toBe(mayChange)
  }
})
