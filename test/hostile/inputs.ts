import { doorsOf } from '../support/runs.ts'
import { ask, asNewVisitor, type HostileCase, mutate, query, type Sent, type Target } from './case.ts'

const ids = (count: number) => Array.from({ length: count }, (_, n) => `svc_${String(n).padStart(24, '0')}`)

/** A case of a mutation, or of a query that requires a key. */
export function owned(
  name: string,
  statuses: readonly number[],
  body: (target: Target) => { readonly query: string; readonly variables?: object },
  headers: Sent['headers'] = {},
): HostileCase {
  return {
    name,
    statuses,
    send: (target) =>
      ask(target.url, '/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${target.key}`, ...headers },
        body: JSON.stringify(body(target)),
      }),
  }
}

/** A case of a mutation with one input. */
export function mutation(name: string, field: string, input: (target: Target) => object): HostileCase {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`
  const query = `mutation ($input: ${type}!) { ${field}(input: $input) { __typename } }`
  return owned(name, [200, 400, 413], (target) => ({ query, variables: { input: input(target) } }))
}

/** Creates a hundred monitors and deletes them, so that other cases have room. */
async function createMonitors(target: Target, mode: string): Promise<number> {
  const items = monitors(100, () => `Hostile ${Math.random()}`)
  const selection = '... on CreateMonitorsPayload { results { result { ... on Monitor { id } } } }'
  const { results } = await mutate<Created>(target, 'createMonitors', { mode, items }, selection)
  const ids = results.map(({ result }) => result.id)
  await mutate(target, 'deleteMonitors', { mode, ids }, '__typename')
  return 200
}

/** Mutations of a hundred objects, in this mode. */
const bulks = [
  (mode: string): HostileCase => ({
    name: `${mode}: 100 monitors, created and deleted`,
    statuses: [200],
    send: (target) => createMonitors(target, mode),
  }),
  (mode: string) => mutation(`${mode}: 100 services that are none`, 'deleteServices', () => ({ mode, ids: ids(100) })),
  (mode: string) =>
    mutation(`${mode}: 100 names of 1,000 letters`, 'createMonitors', () => ({
      mode,
      items: monitors(100, () => 'x'.repeat(1000)),
    })),
]

/** Schedules whose next date is far away, or never comes. */
const hostileSchedules = [
  '0 0 30 2 *',
  '0 0 29 2 1',
  '59 23 31 */11 5',
  `${'0-59,'.repeat(15)}0 0 29 2 *`,
  '*'.repeat(100_000),
]

/**
 * Creates a hundred groups, each a member of all later ones; pauses and resumes the monitor in all of them, and tries a
 * cycle.
 */
async function nestGroups(target: Target): Promise<number> {
  const made: string[] = []
  const create = async (probe: object) => {
    const { id } = await mutate<{ id: string }>(
      target,
      'createMonitor',
      { name: 'Hostile', probe },
      '... on Monitor { id }',
    )
    made.push(id)
    return id
  }
  const leaf = await create({ heartbeat: {} })
  for (let n = 0; n < 100; n++)
    await create({ group: { monitorIds: [...made].reverse().slice(0, 99), require: 'ANY' } })
  const pause = 'mutation ($id: ID!) { pauseMonitor(id: $id) { __typename } resumeMonitor(id: $id) { __typename } }'
  await query(target, pause, { id: leaf })
  const cycle = { id: made[1], probe: { group: { monitorIds: made.slice(-99) } } }
  const refused = 'mutation ($input: UpdateMonitorInput!) { updateMonitor(input: $input) { __typename } }'
  const { updateMonitor } = await query<{ updateMonitor: { __typename: string } }>(target, refused, { input: cycle })
  for (let from = 0; from < made.length; from += 100)
    await mutate(target, 'deleteMonitors', { ids: made.slice(from, from + 100) }, '__typename')
  return updateMonitor.__typename === 'ValidationError' ? 200 : 500
}

interface Created {
  readonly results: readonly { readonly result: { readonly id: string } }[]
}

const monitors = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => ({ name: name(n), probe: { heartbeat: {} } }))
const incident = (title: string, more: object = {}) => ({
  ...{ title, status: 'RESOLVED', impact: 'NONE', message: 'x', ...more },
})
/** Long, with several combining marks per letter. */
const unicode = 'a\u0301\u0302\u0303'.repeat(5000)
const page = (fields: string) => (target: Target) => ({
  query: `{ statusPage(slug: "${target.large.slug}") { ${fields} } }`,
})
const searches = [
  ['missing objects', 'zq9'],
  ['wildcards', '%_'.repeat(50)],
  ['a pattern that takes long', '(a*)*$'.repeat(16)],
  ['a pattern of everything', '.*'.repeat(50)],
  ['what nearly is there', 'we have found **the cause** and are [on it](https://status.example), as of x'],
  ['2,000 letters', 'W'.repeat(2000)],
] as const
const orders = [
  ['services', 'NAME'],
  ['services', 'STATUS'],
  ['monitors', 'NAME'],
  ['monitors', 'STATE_SINCE'],
] as const
const days = 'services { id name days(n: 90) { date percentage } }'

/** Inputs of mutations, credentials, and queries about the largest possible organization. */
export const inputs: readonly HostileCase[] = [
  ...doorsOf(bulks, ['ATOMIC', 'EACH']).flatMap(([bulk, modes]) => modes.map(bulk)),
  ...hostileSchedules.map((schedule) =>
    mutation(`a heartbeat with the schedule ${schedule.slice(0, 30)}`, 'createMonitor', () => ({
      ...{ name: 'Hostile', probe: { heartbeat: { schedule, timeZone: 'Europe/Berlin' } } },
    })),
  ),
  mutation('a group of 100,000 monitors', 'createMonitor', () => ({
    name: 'Hostile',
    probe: { group: { monitorIds: Array.from({ length: 100_000 }, (_, n) => `mon_${n}`) } },
  })),
  {
    name: 'a hundred groups in each other follow a monitor, and may not follow themselves',
    statuses: [200],
    send: nestGroups,
  },
  mutation('101 items', 'createMonitors', () => ({ items: monitors(101, (n) => `Hostile ${n}`) })),
  mutation('an idempotency key of 100 kB', 'createIncident', () => incident('Hostile', { idempotencyKey: unicode })),
  mutation('origins of 100 kB, and a thousand', 'updatePageEmbedding', ({ organizationId }) => ({
    pageId: organizationId,
    origins: [
      `https://${'a.'.repeat(50_000)}`,
      ...Array.from({ length: 1000 }, () => 'https://a.example; script-src *'),
    ],
  })),
  mutation('a title of 100 kB', 'createIncident', () => incident(unicode)),
  mutation('1,000 services of an incident that are none', 'createIncident', () =>
    incident('Hostile', { services: ids(1000).map((serviceId) => ({ serviceId, status: 'OPERATIONAL' })) }),
  ),
  mutation('an update among five hundred', 'postIncidentUpdate', ({ incidentIds }) => ({
    ...{ incidentId: incidentIds[1], status: 'IDENTIFIED', message: '*a_'.repeat(3000) },
    createdAt: new Date(Date.now() - 1000).toISOString(),
  })),
  mutation('a template of 40,000 letters, its placeholders and 1,000 services', 'createTemplate', () => ({
    ...{ kind: 'INCIDENT', name: `Hostile ${Math.random()}`, title: unicode },
    message: '{{service}}'.repeat(4000),
    services: ids(1000).map((serviceId) => ({ serviceId, status: 'OPERATIONAL' })),
  })),
  mutation('two incidents of five hundred updates, merged', 'mergeIncidents', ({ incidentIds }) => ({
    ...{ id: incidentIds[2], intoId: incidentIds[1], message: '*a_'.repeat(3000) },
  })),
  mutation(
    'a post-mortem of 100 kB, and of ten thousand letters that are hard to read',
    'savePostmortem',
    (target) => ({
      incidentId: target.incidentIds[1],
      message: '*a_['.repeat(2500),
      translations: [{ language: 'DE', message: unicode }],
    }),
  ),
  mutation('a post-mortem that is hard to render', 'savePostmortem', ({ incidentIds }) => ({
    ...{ incidentId: incidentIds[1], message: '*a_['.repeat(2500) },
  })),
  mutation('an unknown post-mortem, published', 'publishPostmortem', () => ({ incidentId: `inc_${unicode}` })),
  // Keys cannot approve.
  owned('a post-mortem approved in an invalid version', [200, 400, 403], ({ incidentIds }) => ({
    query: 'mutation ($input: ApprovePostmortemInput!) { approvePostmortem(input: $input) { __typename } }',
    variables: { input: { incidentId: incidentIds[1], version: -2_147_483_648 } },
  })),
  mutation('a note of 100 kB', 'createIncidentNote', ({ incidentIds }) => ({
    ...{ incidentId: incidentIds[1], message: unicode },
  })),
  mutation('a note that is hard to render', 'createIncidentNote', ({ incidentIds }) => ({
    ...{ incidentId: incidentIds[1], message: '[*a_'.repeat(2500) },
  })),
  mutation('1,000 files of a note that are none', 'createIncidentNote', ({ incidentIds }) => ({
    ...{ incidentId: incidentIds[1], message: 'x', fileIds: ids(1000) },
  })),
  mutation('a service moved among five hundred updates', 'moveIncidentService', ({ incidentIds, serviceId }) => ({
    ...{ serviceId, fromId: incidentIds[2], intoId: incidentIds[1], message: '*a_'.repeat(3000) },
  })),
  mutation('an unknown service, moved with 100 kB', 'moveIncidentService', ({ incidentIds }) => ({
    ...{ serviceId: unicode, fromId: unicode, intoId: incidentIds[1], message: unicode },
  })),
  mutation('reports of an unknown page', 'updatePageReports', () => ({ pageId: unicode, published: true })),
  mutation('reports of a page, published', 'updatePageReports', ({ organizationId }) => ({
    ...{ pageId: organizationId, published: true },
  })),
  mutation('a lead of 100 kB', 'setIncidentLead', ({ incidentIds }) => ({
    ...{ incidentId: incidentIds[1], userId: unicode },
  })),
  mutation('a correction of ten thousand years', 'correctUptime', ({ serviceId }) => ({
    ...{ serviceId, kind: 'BAD', reason: unicode },
    ...{ startsAt: '0001-01-01T00:00:00Z', endsAt: '9999-12-31T00:00:00Z' },
  })),
  {
    name: 'an objective of a year, and how all objectives stand',
    statuses: [200],
    async send(target) {
      const input = { serviceId: target.serviceId, target: 99.999, windowDays: 366, timeZone: 'Pacific/Chatham' }
      await mutation('', 'createObjective', () => input).send(target)
      const query =
        '{ organization { objectives(first: 100) { nodes { standing { coverage burnRates { speed } } } } } }'
      return owned('', [], () => ({ query })).send(target)
    },
  },
  owned('a filter of 100 kB', [200, 401, 403], () => ({
    query: 'query ($text: String) { organizations(filter: { text: $text }) { totalCount } }',
    variables: { text: '%_\\'.repeat(30_000) },
  })),
  owned('an X-Organization of 10 kB', [200, 400, 403, 404, 431], () => ({ query: '{ organization { id } }' }), {
    'x-organization': '%00'.repeat(3000),
  }),
  {
    name: '200 wrong keys',
    statuses: [401, 429],
    async send({ url }) {
      // From a separate address, so that the keys of the other cases are still accepted.
      const address = asNewVisitor()
      const tried = Array.from({ length: 200 }, (_, n) =>
        ask(url, '/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ac_${n}_${Math.random()}`, ...address },
          body: '{"query":"{ __typename }"}',
        }),
      )
      return Math.max(...(await Promise.all(tried)))
    },
  },
  ...searches.map(([name, text]) =>
    owned(`a search of 1,500 long updates for ${name}`, [200, 400], () => ({
      query: 'query ($text: String) { organization { incidents(filter: { text: $text }) { totalCount } } }',
      variables: { text },
    })),
  ),
  ...orders.map(
    ([list, field]): HostileCase => ({
      name: `a search of the largest organization’s ${list} in the order of ${field}`,
      statuses: [200],
      send: (target) => {
        const given = `first: 100, filter: { text: "e" }, orderBy: { field: ${field}, direction: DESC }`
        const query = `{ organization { ${list}(${given}) { totalCount nodes { id } } } }`
        return owned('', [], () => ({ query })).send({ ...target, key: target.large.key })
      },
    }),
  ),
  owned('1,000 services', [200], page('services { id name description status uptime { percentage } }')),
  owned('1,000 services × 90 days', [200], page(days)),
  owned(
    '1,000 services × 90 days, all of them',
    [200],
    page(
      `services { ${'abcdef'
        .split('')
        .map((a) => `${a}: days(n: 730) { date percentage }`)
        .join(' ')} }`,
    ),
  ),
  {
    name: 'the page of 500 monitored services',
    statuses: [200, 503],
    async send(target) {
      const authorization = `Bearer ${target.large.key}`
      const query =
        'mutation ($id: ID!, $name: String) { updateService(input: { id: $id, name: $name }) { __typename } }'
      const variables = { id: target.large.serviceIds[0], name: `Service ${Math.random()}` }
      const headers = { 'content-type': 'application/json', authorization }
      // Changed parts are rendered again.
      await ask(target.url, '/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) })
      return ask(target.url, `/status/${target.large.slug}`, {})
    },
  },
]
