import { expect, test } from 'vitest'
import { testConsole } from '../../../support/console.ts'

const { app, database, organization } = await testConsole()
const { prisma } = database
const acme = await organization('managed')
const admin = await acme.signIn('ADMIN')
const where = { organizationId: acme.organization.id }

const yaml = `allclear: 1
groups: { core: { name: Core } }
services: { api: { name: API } }
monitors: { health: { name: Health, service: api, http: { url: https://example.com/, headers: [{ name: X, value: y }] } } }
pages: { managed: { slug: managed, name: Managed, links: [{ label: Home, url: https://example.com/ }] }, shop: { slug: managed-shop, name: Shop, services: [api], links: [] } }
channels: { team: { name: Team, webhook: { url: "https://hooks.example.com/\${HOOK}" }, when: [DOWN] } }
`

const variables = [{ name: 'HOOK', value: 'a' }]

await prisma.organization.update({ where: { id: acme.organization.id }, data: { tier: 'TEAM' } })

/** Applies the file. Returns the ids of its objects. */
async function apply() {
  const { planHash } = await ask<{ planHash: string }>('planConfiguration', 'PlanConfigurationInput', {})
  await ask('applyConfiguration', 'ApplyConfigurationInput', { planHash })
  const rows = await prisma.managedObject.findMany({ where })
  return new Map(rows.map(({ section, objectId, key }) => [`${section}.${key}`, objectId]))
}

async function ask<T>(name: string, type: string, more: object): Promise<T> {
  const failing = '... on Error { message } ... on ValidationError { issues { line path message } }'
  const query = `mutation ($input: ${type}!) { done: ${name}(input: $input) { ... on ConfigurationPlan { planHash } ${failing} } }`
  const response = await fetch(`${app.baseUrl}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${acme.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { input: { yaml, file: 'acme.yaml', variables, ...more } } }),
  })
  const { data, errors } = (await response.json()) as { data?: { done: T & object }; errors?: unknown }
  if (data === undefined || !('planHash' in data.done)) throw new Error(JSON.stringify(data ?? errors))
  return data.done
}

const ids = await apply()
const id = (place: string) => ids.get(place) ?? ''

test.each([
  ['groups.core', () => `services/groups/${id('groups.core')}`, ['name']],
  ['services.api', () => `services/${id('services.api')}`, ['name']],
  ['monitors.health', () => `monitors/${id('monitors.health')}/edit`, ['name', 'http.url', 'serviceId']],
  ['pages.managed', () => 'page', ['name', 'slug']],
  ['pages.shop', () => `pages/${id('pages.shop')}`, ['name', 'slug', 'shows']],
  ['channels.team', () => `alerts/channels/${id('channels.team')}`, ['name']],
])('the form of %s disables what the file sets, and saves the rest', async (place, path, names) => {
  const { html } = await admin.get(path())
  expect(html).toContain(`Managed by <b>acme.yaml</b> as ${place}.`)
  for (const name of names) expect(html).toMatch(new RegExp(`<(input|select) id="${name}"[^>]*(readonly|disabled)`))
  const before = await rows()
  // Browsers do not send disabled fields.
  const version = /name="version" value="(\d+)"/.exec(html)?.[1] ?? ''
  const locked = /name="locked" value="([^"]*)"/.exec(html)?.[1] ?? ''
  const own: Record<string, string> =
    path() === 'page' ? { contactEmail: 'managed@example.com', timeZone: 'UTC', accentColor: '#0f766e' } : {}
  const sent = await admin.post(path(), { version, locked, kind: 'HTTP', ...own })
  expect([sent.status, /id="problem".*?<\/p>/.exec(sent.html)?.[0]]).toEqual([303, undefined])
  expect(await rows()).toEqual(before)
})

/** The file's values, as stored. */
async function rows() {
  return [
    await prisma.serviceGroup.findMany({ where, select: { name: true } }),
    await prisma.service.findMany({ where, select: { name: true, groupId: true } }),
    await prisma.monitor.findMany({ where, select: { name: true, serviceId: true, options: true } }),
    await prisma.page.findMany({ where, select: { name: true, slug: true, allServices: true, links: true } }),
    await prisma.alertChannel.findMany({ where, select: { name: true, changes: true, address: true } }),
  ]
}

test('a form from before the file was applied is refused, and shows the stored values', async () => {
  const stale = { name: 'Typed', description: '', statusOverride: '', version: '' }
  const path = `services/${id('services.api')}`
  const { version } = await prisma.service.findUniqueOrThrow({ where: { id: id('services.api') } })
  const { status, html } = await admin.post(path, { ...stale, version: String(version) })
  expect(status).toBe(422)
  expect(html).toContain('acme.yaml manages name of services.api.')
  expect(html).toContain('value="API"')
  expect((await admin.post(`${path}/delete`, {})).html).toContain('acme.yaml manages services.api.')
})

test('a button unlocks an object until the file is applied again; viewers have none', async () => {
  const path = `services/${id('services.api')}`
  const viewer = await acme.signIn('VIEWER')
  expect((await viewer.get(path)).html).not.toContain('/unlock')
  expect((await viewer.post(`managed/${id('services.api')}/unlock`, {})).status).not.toBe(303)
  const unlocked = await admin.post(`managed/${id('services.api')}/unlock`, {})
  expect(unlocked.location).toBe(`/console/managed/${path}`)
  expect((await admin.get(path)).html).toContain('changes it back when it is applied next')
  const version = String((await prisma.service.findUniqueOrThrow({ where: { id: id('services.api') } })).version)
  expect((await admin.post(path, { name: 'Emergency', description: '', version })).status).toBe(303)
  await admin.post(`managed/${id('services.api')}/lock`, {})
  expect((await admin.get(path)).html).toContain('value="Emergency"')
  await apply()
  expect((await admin.get(path)).html).toContain('value="API"')
})
