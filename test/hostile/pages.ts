import { doorsOf } from '../support/runs.ts'
import { ask, type HostileCase, mutate, requesting } from './case.ts'

const paths = [
  '',
  '/history',
  '/history.atom',
  '/history.rss',
  '/maintenance.ics',
  '/badge.svg',
  '/embed',
  '/picture.png',
  ...['summary', 'status', 'components', 'incidents', 'incidents/unresolved', 'scheduled-maintenances'].map(
    (name) => `/api/v2/${name}.json`,
  ),
]

const length = 9960
/** Messages that are hard to render. */
const messages = {
  stars: '*a_'.repeat(length / 3),
  brackets: '![[[]()'.repeat(length / 7),
  'nested quotes': '> - '.repeat(length / 4),
  'nested lists': '1) '.repeat(length / 3),
  autolinks: 'www.a_'.repeat(length / 6),
  backticks: 'a`b``'.repeat(length / 5),
  entities: '&amp;'.repeat(length / 5),
  headings: 'a\n=\n'.repeat(length / 4),
  definitions: '[a]:\n'.repeat(length / 5),
} as const

const doors = ['incident', 'post-mortem'] as const

/** The messages that are hard to render, and where each is used. */
const sentMessages = doorsOf(Object.entries(messages), doors)
/** The messages used there, by name. */
export const messagesOf = (door: (typeof doors)[number]): (readonly [name: string, message: string])[] =>
  sentMessages.filter(([, sent]) => sent.includes(door)).map(([message]) => message)

/** A page with the maximum number of texts, in every format, and messages that are hard to render. */
export const pages: readonly HostileCase[] = [
  ...[
    '',
    '/2026-10',
    '/0001-01',
    '/9999-12',
    '/2026-13',
    `/${'9'.repeat(8000)}-01`,
    '/%00',
    '/2026-10?language=%00',
  ].map((path) =>
    requesting(`reports${path.slice(0, 30)}`, [200, 400, 404, 414], ({ slug }) => `/status/${slug}/reports${path}`),
  ),
  ...['-', ' ', '.-', '_', '\u2028', '%5F', '%CC%81'].flatMap((piece) =>
    [15_000, 4000].map((length) =>
      requesting(
        `a page to find, a and ${length} times ${JSON.stringify(piece)}`,
        [200, 303, 404, 414, 431],
        `/status?page=a${encodeURI(piece)
          .replaceAll('%25', '%')
          .repeat(length / piece.length)}b`,
      ),
    ),
  ),
  ...['%1B%5B31m', 'a%0D%0Ab', 'a%00', '%E2%80%AEa'].flatMap((name) => [
    ...['', '/de', '/de/reports', '/en/history'].map((path) =>
      requesting(`a page named ${name}${path}`, [302, 400, 404], `/status/${name}${path}`, {
        headers: { accept: 'text/html' },
      }),
    ),
    requesting(`a subscription of ${name}`, [303, 400, 404], `/subscriptions/${name}/unsubscribe`),
  ]),
  ...paths.map(
    (path): HostileCase => ({
      name: `500 updates of three incidents: ${path || 'the page'}`,
      statuses: [200, 503],
      async send(target) {
        // Changed parts are rendered again.
        const input = { id: target.incidentIds[0], title: `One ${Math.random()}` }
        await mutate(target, 'updateIncident', input, '... on Incident { id }')
        return ask(target.url, `/status/${target.slug}${path}`, {})
      },
    }),
  ),
  requesting(
    '500 updates: the incident',
    [200],
    ({ slug, incidentIds }) => `/status/${slug}/incidents/${incidentIds[0]}`,
  ),
  ...['none', `mnt_${'0'.repeat(24)}`, '%00', '%C3%28', 'x'.repeat(5000), `mnt_x?before=${'9'.repeat(5000)}`].flatMap(
    (id) => [
      requesting(
        `the maintenance ${id.slice(0, 20)}`,
        [400, 404, 414, 431],
        ({ slug }) => `/status/${slug}/maintenance/${id}`,
      ),
      // The page may have had this language.
      requesting(
        `the maintenance ${id.slice(0, 20)} in German`,
        [302, 400, 404, 414, 431],
        ({ slug }) => `/status/${slug}/de/maintenance/${id}`,
      ),
    ],
  ),
  ...[
    'range=year',
    'range=24h',
    `range=${'9'.repeat(5000)}`,
    'day=2026-02-30',
    'day=9999-01-01',
    `day=${'2'.repeat(5000)}`,
  ].map((query) =>
    requesting(
      `the days of a service: ${query.slice(0, 20)}`,
      [200, 404, 414, 431],
      ({ slug, serviceId }) => `/status/${slug}/services/${serviceId}?${query}`,
    ),
  ),
  {
    name: '200 requests at once for what changed on a page',
    statuses: [200],
    async send(target) {
      const path = `/status/${target.slug}`
      const html = await (await fetch(target.url + path)).text()
      const version = /data-version="([^"]+)"/.exec(html)?.[1] ?? ''
      const input = { id: target.incidentIds[0], title: `One ${Math.random()}` }
      await mutate(target, 'updateIncident', input, '... on Incident { id }')
      // A known version, others of up to 4 kB, and positions that the log has and has not reached.
      const paths = Array.from({ length: 200 }, (_, index) => {
        const since = index % 2 === 0 ? version : 'x'.repeat(20 * index)
        return `${path}?since=${since}&at=${index % 3 === 0 ? 'zzzzzzz' : index}`
      })
      const statuses = await Promise.all(paths.map((address) => ask(target.url, address, {})))
      return statuses.find((status) => status !== 200 && status !== 204) ?? 200
    },
  },
  requesting(
    '500 updates: an invalid page of them',
    [404, 414],
    ({ slug, incidentIds }) => `/status/${slug}/incidents/${incidentIds[0]}?before=${'x'.repeat(5000)}`,
  ),
  ...messagesOf('incident').map(
    ([name, message]): HostileCase => ({
      name: `markdown: ${name}`,
      statuses: [200],
      async send(target) {
        const input = { title: 'Bomb', status: 'RESOLVED', impact: 'NONE', message: `${message}${Math.random()}` }
        await mutate(target, 'createIncident', input, '... on Incident { id }')
        return 200
      },
    }),
  ),
]
