// @slow
import { inflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { post, websocketClient } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

const database = await testDatabase()
const { baseUrl: url } = await testApp({
  database,
  dns: await startDnsServer(scriptedLists()),
  settings: { DEFAULT_TIER: 'pro' },
})

interface Answer {
  readonly [member: string]: unknown
  readonly id?: string
  readonly code?: string
  readonly __typename?: string
}

/** Casts the data of an answer. */
const given = <T>({ data }: { readonly data?: unknown }) => data as T

let made = 0

/** An organization with two services, and its mutations. */
async function organization() {
  const slug = `pages-${++made}`
  const created = await post(url, {
    query: `mutation ($slug: String!) { createOrganization(input: { name: "Acme", slug: $slug, contactEmail: "a@b.example" }) {
      ... on CreateOrganizationPayload { organization { id statusPage { id } } apiKey { secret } } ... on Error { message } } }`,
    variables: { slug },
    key: operatorToken,
  })
  const { organization, apiKey } = given<{
    createOrganization: {
      organization: { id: string; statusPage: { id: string } }
      apiKey: { secret: string }
    }
  }>(created).createOrganization
  const key = apiKey.secret
  /** Runs a mutation. Returns its field. */
  async function run(name: string, input: Record<string, unknown>, fields = '... on Node { id }'): Promise<Answer> {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input!`
    const query = `mutation ($input: ${type}) { ${name}(input: $input) { __typename ${fields} ... on Error { code message } } }`
    const answer = await post(url, { query, key, variables: { input } })
    if (!answer.data) throw new Error(JSON.stringify(answer.errors))
    return given<Record<string, Answer>>(answer)[name] ?? {}
  }
  const service = async (name: string) => String((await run('createService', { name, status: 'OPERATIONAL' })).id)
  return { slug, key, run, service, id: organization.id, pageId: organization.statusPage.id }
}

const incident = (title: string, serviceIds: readonly string[]) => ({
  title,
  status: 'IDENTIFIED',
  impact: 'MAJOR',
  message: `About ${title}.`,
  services: serviceIds.map((serviceId) => ({ serviceId, status: 'PARTIAL_OUTAGE' })),
})

const everything = `name services { id name position } serviceGroups { name services { name } } status { description }
  incidents { id title services { service { name } } updates(first: 9) { edges { node { message services { service { name } } } } } }
  maintenances { title services { name } }
  pastIncidents(first: 9) { totalCount edges { node { title services { service { name } } } } }
  pastMaintenances(first: 9) { totalCount edges { node { title } } }`

describe('a page with chosen services', () => {
  test('mentions no other services in any of its documents', async () => {
    const acme = await organization()
    const [secret, open] = [await acme.service('Zebra payroll'), await acme.service('Checkout')]
    const page = await acme.run('createPage', { slug: `${acme.slug}-b`, name: 'For customers', serviceIds: [open] })
    expect(page).toMatchObject({ __typename: 'StatusPage' })
    const hidden = await acme.run('createIncident', incident('Zebra fire', [secret]))
    const shared = await acme.run('createIncident', incident('Both are slow', [secret, open]))
    const past = { ...incident('Zebra flood', [secret]), status: 'RESOLVED' }
    await acme.run('createIncident', past)
    await acme.run('createIncident', incident('Everywhere', []))
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
    const work = { message: 'We work.', startsAt: hours(1), endsAt: hours(2) }
    const unseen = await acme.run('scheduleMaintenance', { ...work, title: 'Zebra grooming', serviceIds: [secret] })
    const seen = await acme.run('scheduleMaintenance', { ...work, title: 'Paint it all', serviceIds: [secret, open] })

    const base = `${url}/status/${acme.slug}-b`
    const paths = [
      '',
      '/history',
      '/subscribe',
      `/services/${open}`,
      `/incidents/${shared.id}`,
      `/maintenance/${seen.id}`,
    ]
    const documents = ['/history.atom', '/history.rss', '/maintenance.ics', '/badge.svg', `/services/${open}/badge.svg`]
    const json = ['summary', 'status', 'components', 'incidents', 'incidents/unresolved', 'scheduled-maintenances']
    const upcoming = ['scheduled-maintenances/upcoming', 'scheduled-maintenances/active']
    for (const path of [...paths, ...documents, ...[...json, ...upcoming].map((name) => `/api/v2/${name}.json`)]) {
      const response = await fetch(base + path)
      const text = await response.text()
      expect([path, response.status]).toEqual([path, 200])
      expect(text, path).not.toMatch(/zebra/i)
      expect(text, path).not.toContain(secret)
    }
    for (const path of [
      `/services/${secret}`,
      `/services/${secret}/badge.svg`,
      `/incidents/${hidden.id}`,
      `/maintenance/${unseen.id}`,
      `/incidents/${hidden.id}/picture.png`,
      `/maintenance/${unseen.id}/picture.png`,
    ])
      expect([path, (await fetch(base + path)).status]).toEqual([path, 404])
    // It shows its own.
    const summary = (await (await fetch(`${base}/api/v2/summary.json`)).json()) as {
      components: { name: string }[]
      incidents: { name: string; components: { name: string }[] }[]
    }
    expect(summary.components.map(({ name }) => name)).toEqual(['Checkout'])
    expect(summary.incidents.map(({ name }) => name).toSorted()).toEqual(['Both are slow', 'Everywhere'])
    expect(summary.incidents.flatMap(({ components }) => components.map(({ name }) => name))).toEqual(['Checkout'])

    const asked = await post(url, { query: `{ statusPage(slug: "${acme.slug}-b") { ${everything} } }` })
    expect(asked.errors).toBeUndefined()
    expect(JSON.stringify(asked.data)).not.toMatch(/zebra/i)
    expect(asked.data).toMatchObject({ statusPage: { name: 'For customers', services: [{ id: open, position: 0 }] } })
    // The first page shows everything, as before.
    const first = await post(url, { query: `{ statusPage(slug: "${acme.slug}") { ${everything} } }` })
    expect(JSON.stringify(first.data)).toMatch(/Zebra payroll.*Zebra fire/)
  })

  test('receives the events that concern it, and no others', async () => {
    const acme = await organization()
    const [secret, open] = [await acme.service('Zebra payroll'), await acme.service('Checkout')]
    const slug = `${acme.slug}-b`
    await acme.run('createPage', { slug, name: 'For customers', serviceIds: [open] })
    const html = await (await fetch(`${url}/status/${slug}`)).text()
    const after = /data-cursor="(\w+)"/.exec(html)?.[1] ?? ''
    const parts = /data-parts="([^"]+)"/.exec(html)?.[1] ?? ''
    const client = websocketClient(url, {})
    const events = client.iterate<Record<string, Answer>>({
      query: `subscription { statusPageEvents(slug: "${slug}", after: "${after}") { kind subjectId
        incident { title services { service { name } } } service { name } page { ${everything} } } }`,
    })
    const changes = client.iterate<{ statusPageChanges: { patch: { html: string } | null } }>({
      query: `subscription { statusPageChanges(slug: "${slug}", after: "${after}") { patch { html } } }`,
    })
    const next = async () => {
      const { value } = await events.next()
      return value.data.statusPageEvents as Answer
    }
    const first = next()
    const patch = changes.next()
    await acme.run('updateService', { id: secret, name: 'Zebra wages' })
    await acme.run('createIncident', incident('Zebra fire', [secret]))
    const { id } = await acme.run('createIncident', incident('Both are slow', [secret, open]))
    const reported = await first
    expect(reported).toMatchObject({ kind: 'INCIDENT_CREATED', subjectId: id, incident: { title: 'Both are slow' } })
    expect(JSON.stringify(reported)).not.toMatch(/zebra/i)
    expect(reported['page']).toMatchObject({ name: 'For customers', services: [{ name: 'Checkout' }] })
    const shown = (await patch).value.data.statusPageChanges.patch
    expect(inflateSync(Buffer.from(shown?.html ?? '', 'base64')).toString()).not.toMatch(/zebra/i)
    expect(await (await fetch(`${url}/status/${slug}?since=${parts}`)).text()).not.toMatch(/zebra/i)
    // The shown services may change while it is followed. Deleting the page ends the subscription.
    const { id: pageId } = await acme.run('updatePage', { id: await pageIdOf(slug), serviceIds: [open, secret] })
    await acme.run('updateService', { id: secret, name: 'Zebra pay' })
    let seen = await next()
    while (seen['kind'] !== 'SERVICE_UPDATED') seen = await next()
    expect(seen).toMatchObject({ service: { name: 'Zebra pay' } })
    const deletion = `mutation { deletePage(id: "${pageId}") { ... on DeletePagePayload { id name customDomain } } }`
    expect((await post(url, { query: deletion, key: acme.key })).data).toMatchObject({
      deletePage: { id: pageId, name: 'For customers', customDomain: null },
    })
    // As for a deleted organization: a new subscription finds no page.
    await expect(events.next()).rejects.toMatchObject({ code: 1013 })
    expect((await fetch(`${url}/status/${slug}`)).status).toBe(404)
    await client.dispose()
  })

  test('sends the change of an event to a reader who subscribes after it', async () => {
    const acme = await organization()
    const id = await acme.service('API')
    const html = await (await fetch(`${url}/status/${acme.slug}`)).text()
    const [, after = ''] = /data-cursor="(\w+)"/.exec(html) ?? []
    const [, parts = ''] = /data-parts="([^"]+)"/.exec(html) ?? []
    await acme.run('updateService', { id, statusOverride: 'MAJOR_OUTAGE' })
    const client = websocketClient(url, {})
    const changes = client.iterate<{ statusPageChanges: { patch: { since: string[]; html: string } | null } }>({
      query: `subscription { statusPageChanges(slug: "${acme.slug}", after: "${after}") { patch { since html } } }`,
    })
    const { patch } = (await changes.next()).value.data.statusPageChanges
    expect(patch?.since).toContain(parts)
    expect(inflateSync(Buffer.from(patch?.html ?? '', 'base64')).toString()).toContain('Major outage: API')
    await client.dispose()
  })
})

async function pageIdOf(slug: string): Promise<string> {
  return given<{ statusPage: { id: string } }>(await post(url, { query: `{ statusPage(slug: "${slug}") { id } }` }))
    .statusPage.id
}

describe('objects by id', () => {
  test('contain what a page shows, and nothing more', async () => {
    const acme = await organization()
    const [secret, open, shut] = [
      await acme.service('Zebra payroll'),
      await acme.service('Checkout'),
      await acme.service('Zebra vault'),
    ]
    await acme.run('updatePage', { id: acme.pageId, serviceIds: [open] })
    await acme.run('createPage', { slug: `${acme.slug}-b`, name: 'For staff', serviceIds: [secret] })
    const shared = await acme.run('createIncident', incident('All are slow', [secret, open, shut]))
    const second = await acme.run('createIncident', incident('Two are slow', [secret, shut]))
    const hidden = await acme.run('createIncident', incident('Zebra fire', [shut]))
    const fields = `... on Incident { title services { service { name } } updates { nodes { services { service { name } } } } } ... on Service { name }`
    const ids = [shared.id, second.id, hidden.id, secret, open, shut]
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { FIELDS } }'.replace('FIELDS', fields)
    const affected = (...names: string[]) => names.map((name) => ({ service: { name } }))
    const both = (name: string) => ({ services: affected(name), updates: { nodes: [{ services: affected(name) }] } })
    expect((await post(url, { query, variables: { ids } })).data).toEqual({
      nodes: [
        { title: 'All are slow', ...both('Checkout') },
        { title: 'Two are slow', ...both('Zebra payroll') },
        null,
        { name: 'Zebra payroll' },
        { name: 'Checkout' },
        null,
      ],
    })
    const own = await post(url, { query, variables: { ids }, key: acme.key })
    expect(JSON.stringify(own.data)).toMatch(/Zebra fire.*Zebra vault/)
    const one = await post(url, { query: `{ node(id: "${hidden.id}") { id } }` })
    expect(one).toMatchObject({ data: { node: null } })

    const client = websocketClient(url, {})
    const follow = (id: unknown) =>
      client.iterate<Record<string, Answer>>({
        query: `subscription { incidentEvents(id: "${id}", after: "0") { kind incident { title services { service { name } } } } }`,
      })
    expect((await follow(shared.id).next()).value.data.incidentEvents).toEqual({
      kind: 'INCIDENT_CREATED',
      incident: { title: 'All are slow', services: affected('Checkout') },
    })
    await expect(refusal(follow(hidden.id))).resolves.toMatch(/NOT_FOUND|not found/)
    await client.dispose()
  })
})

/** Returns the refusal of a subscription. */
async function refusal(events: AsyncIterator<unknown>): Promise<string> {
  try {
    return JSON.stringify(await events.next())
  } catch (error) {
    return JSON.stringify(error)
  }
}

describe('an object removed from a page', () => {
  test('is reported to open pages, without its new content', async () => {
    const acme = await organization()
    const [secret, open] = [await acme.service('Zebra payroll'), await acme.service('Checkout')]
    const slug = `${acme.slug}-b`
    await acme.run('createPage', { slug, name: 'For customers', serviceIds: [open] })
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
    const work = { title: 'Paint', message: 'We paint.', startsAt: hours(1), endsAt: hours(2), serviceIds: [open] }
    const gone = await acme.run('createIncident', incident('Gone', [open]))
    const moved = await acme.run('createIncident', incident('Moved', [open]))
    const painted = await acme.run('scheduleMaintenance', work)
    const after = /data-cursor="(\w+)"/.exec(await (await fetch(`${url}/status/${slug}`)).text())?.[1] ?? ''
    const services = [{ serviceId: secret, status: 'PARTIAL_OUTAGE' }]
    await acme.run('updateIncident', { id: moved.id, title: 'Zebra fire', services })
    await acme.run('updateMaintenance', { id: painted.id, title: 'Zebra grooming', serviceIds: [secret] })
    const deletion = `mutation { deleteIncident(id: "${gone.id}") { __typename } }`
    expect((await post(url, { query: deletion, key: acme.key })).errors).toBeUndefined()

    const client = websocketClient(url, {})
    const events = client.iterate<Record<string, Answer>>({
      query: `subscription { statusPageEvents(slug: "${slug}", after: "${after}") {
        kind subjectId incident { title } maintenance { title } page { ${everything} } } }`,
    })
    const reported = []
    for (const _each of [1, 2, 3]) reported.push((await events.next()).value.data.statusPageEvents)
    expect(reported).toMatchObject([
      { kind: 'INCIDENT_UPDATED', subjectId: moved.id, incident: null },
      { kind: 'MAINTENANCE_UPDATED', subjectId: painted.id, maintenance: null },
      { kind: 'INCIDENT_DELETED', subjectId: gone.id, incident: null, page: { incidents: [], maintenances: [] } },
    ])
    expect(JSON.stringify(reported)).not.toMatch(/zebra/i)
    await client.dispose()
  })
})

describe('pages', () => {
  test('are listed, updated with a version, and limited by the tier', async () => {
    const acme = await organization()
    const fields = '... on StatusPage { id slug name accentColor version allServices }'
    const look = { slug: `${acme.slug}-x`, name: 'Staff', accentColor: '#AABBCC' }
    const page = await acme.run('createPage', look, fields)
    expect(page).toMatchObject({ slug: look.slug, accentColor: '#aabbcc', version: 1, allServices: true })
    expect(await acme.run('updatePage', { id: page.id, name: 'Team', version: 1 }, fields)).toMatchObject({
      name: 'Team',
      version: 2,
    })
    expect(await acme.run('updatePage', { id: page.id, name: 'Late', version: 1 })).toMatchObject({ code: 'CONFLICT' })
    expect(await acme.run('createPage', { ...look, slug: acme.slug })).toMatchObject({ code: 'CONFLICT' })
    expect(await acme.run('createPage', { ...look, slug: 'A B' })).toMatchObject({ __typename: 'ValidationError' })
    const unknown = { ...look, slug: 'other', serviceIds: ['svc_000000000000000000000000'] }
    expect(await acme.run('createPage', unknown)).toMatchObject({ __typename: 'NotFoundError' })
    for (const nth of [1, 2, 3]) await acme.run('createPage', { slug: `${acme.slug}-${nth}`, name: 'More' })
    expect(await acme.run('createPage', { ...look, slug: 'sixth' })).toMatchObject({ code: 'TIER_LIMIT_REACHED' })
    const listed = await post(url, { query: '{ organization { pages { slug } } }', key: acme.key })
    const { pages } = given<{ organization: { pages: { slug: string }[] } }>(listed).organization
    const slugs = pages.map(({ slug }) => slug)
    expect(slugs).toEqual([acme.slug, look.slug, ...[1, 2, 3].map((nth) => `${acme.slug}-${nth}`)])
    const first = `mutation { deletePage(id: "${acme.pageId}") { __typename ... on Error { code } } }`
    expect((await post(url, { query: first, key: acme.key })).data).toMatchObject({ deletePage: { code: 'CONFLICT' } })
  })

  test('of which the first is renamed with its organization, and may select services', async () => {
    const acme = await organization()
    const [secret, open] = [await acme.service('Zebra payroll'), await acme.service('Checkout')]
    const slug = `${acme.slug}-new`
    const fields = '... on StatusPage { slug services { name } version }'
    expect(await acme.run('updatePage', { id: acme.pageId, slug, serviceIds: [open] }, fields)).toMatchObject({
      slug,
      services: [{ name: 'Checkout' }],
      version: 2,
    })
    expect((await fetch(`${url}/status/${acme.slug}`)).status).toBe(404)
    expect(await (await fetch(`${url}/status/${slug}`)).text()).not.toContain('Zebra')
    const query = `{ organization { slug services { totalCount } } }`
    expect((await post(url, { query, key: acme.key })).data).toEqual({
      organization: { slug, services: { totalCount: 2 } },
    })
    expect(secret).toMatch(/^svc_/)
  })

  test('that claim the same slug concurrently: one gets it', async () => {
    const [one, other] = [await organization(), await organization()]
    const slug = `${one.slug}-race`
    const results = await Promise.all(
      [one, other, one, other].map(({ run }) => run('createPage', { slug, name: 'Mine' })),
    )
    expect(results.filter(({ __typename }) => __typename === 'StatusPage')).toHaveLength(1)
    expect(results.filter(({ code }) => code === 'CONFLICT')).toHaveLength(3)
    // An organization cannot take the slug of a page either.
    expect(await other.run('updateOrganization', { slug })).toMatchObject({ code: 'CONFLICT' })
  })
})

test('uptime counts what is on the page through which it is read', async () => {
  const acme = await organization()
  const serviceId = await acme.service('Shop')
  await acme.run('createMonitor', {
    name: 'Shop',
    serviceId,
    intervalSeconds: 60,
    probe: { heartbeat: { graceSeconds: 60 } },
  })
  await acme.run('createPage', { slug: `${acme.slug}-b`, name: 'By hand', uptimeSource: 'INCIDENTS' })
  const uptimes = 'services { uptime { source } days(n: 1) { source } }'
  const { data } = await post(url, {
    query: `{ first: statusPage(slug: "${acme.slug}") { ${uptimes} } other: statusPage(slug: "${acme.slug}-b") { ${uptimes} } }`,
  })
  const counted = (source: string) => ({ services: [{ uptime: { source }, days: [{ source }] }] })
  expect(data).toEqual({ first: counted('MONITORS_AND_INCIDENTS'), other: counted('INCIDENTS') })
})

test('a page is created and updated together with its access, and no unseen change is overwritten', async () => {
  const acme = await organization()
  const slug = `${acme.slug}-b`
  const fields = '... on StatusPage { id version access { kind ranges } }'
  const access = { kind: 'ADDRESSES', ranges: ['192.0.2.0/24'] }
  const page = await acme.run('createPage', { slug, name: 'Staff', access }, fields)
  expect(page).toMatchObject({ version: 1, access })
  expect((await fetch(`${url}/status/${slug}`)).status).toBe(401)
  const { id, version } = page
  const opened = await acme.run('updatePage', { id, version, access: { kind: 'PUBLIC' } }, fields)
  expect(opened).toMatchObject({ version: 2, access: { kind: 'PUBLIC' } })
  const late = { __typename: 'ConflictError' }
  const closed = { pageId: id, access: { kind: 'MEMBERS' }, version }
  expect(await acme.run('updatePageAccess', closed, '... on PageAccess { kind }')).toMatchObject(late)
  expect(await acme.run('removeDomain', { pageId: id, version }, fields)).toMatchObject(late)
  expect(await acme.run('updatePage', { id, name: 'Late', version }, fields)).toMatchObject(late)
  expect((await fetch(`${url}/status/${slug}`)).status).toBe(200)
})
