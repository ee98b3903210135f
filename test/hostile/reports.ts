import { doorsOf } from '../support/runs.ts'
import { ask, type HostileCase, query, requesting, type Target } from './case.ts'
import { mutation, owned } from './inputs.ts'

/** Months without a report, and invalid months. */
const badMonths = [
  '2026-13',
  '2026-00',
  '2026-1',
  '0000-00',
  '0001-01',
  '1969-12',
  '9999-12',
  '275760-09',
  '-000001-01',
  '2026-02-30',
  '%F0%9F%92%A9',
  '%00',
  '..%2f..%2f',
  '9'.repeat(4000),
]
const files = ['', '/report.csv', '/report.json'] as const
const methods = ['GET', 'HEAD'] as const

/** The months with reports of the largest organization’s page, newest first. */
async function reportedMonths({ url, large }: Target): Promise<string[]> {
  const html = await (await fetch(`${url}/status/${large.slug}/reports`)).text()
  return [...html.matchAll(/\/reports\/(\d{4}-\d{2})"/g)].map(([, month = '']) => month)
}

/** Advances the log of the largest organization, so that no cached part of it is current. */
const moveLog = (target: Target) =>
  query(
    { ...target, key: target.large.key },
    `mutation ($id: ID!, $name: String!) { updateService(input: { id: $id, name: $name }) { __typename } }`,
    { id: target.large.serviceIds[0], name: `Service ${Math.random()}` },
  )

/** Returns the first status that is not allowed, or 200. */
const unexpected = (statuses: readonly number[], allowed: readonly number[]) =>
  statuses.find((status) => !allowed.includes(status)) ?? 200

/** Monthly reports of the largest possible page, which has 24. */
export const reports: readonly HostileCase[] = [
  ...doorsOf(files, methods).flatMap(([file, tried]) =>
    tried.map(
      (method): HostileCase => ({
        name: `${method} of months that there are not: report${file}`,
        statuses: [200],
        async send(target) {
          const paths = badMonths.map((month) => `/status/${target.large.slug}/reports/${month}${file}`)
          const all = await Promise.all(paths.map((path) => ask(target.url, path, { method })))
          return unexpected(all, [400, 404, 414, 431])
        },
      }),
    ),
  ),
  {
    name: 'the reports of 600 months in a row',
    statuses: [200],
    async send(target) {
      const all: number[] = []
      for (let year = 2000; year < 2050; year += 25) {
        const months = Array.from({ length: 300 }, (_, month) => {
          const name = `${year + Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
          return ask(target.url, `/status/${target.large.slug}/reports/${name}`, {})
        })
        all.push(...(await Promise.all(months)))
      }
      return unexpected(all, [200, 404])
    },
  },
  // A HEAD takes as long as a GET.
  ...(
    [
      ['GET', 24],
      ['HEAD', 3],
    ] as const
  ).map(
    ([method, count]): HostileCase => ({
      name: `${method} of the reports of ${count} months, as a page and as files, after a change`,
      statuses: [200],
      async send(target) {
        const all: number[] = []
        const months = await reportedMonths(target)
        if (months.length < 20) return 404
        await moveLog(target)
        for (const [month, tried] of doorsOf(months.slice(0, count), files)) {
          const paths = tried.map((file) => `/status/${target.large.slug}/reports/${month}${file}`)
          all.push(...(await Promise.all(paths.map((path) => ask(target.url, path, { method })))))
        }
        return unexpected(all, [200])
      },
    }),
  ),
  requesting('a report by POST', [404, 405], ({ large }) => `/status/${large.slug}/reports`, {
    method: 'POST',
    body: 'x'.repeat(100_000),
  }),
  requesting(
    'a report in a language of 5,000 letters',
    [200, 400, 404, 414],
    ({ large }) => `/status/${large.slug}/reports/2026-10?language=${'x'.repeat(5000)}`,
  ),
  mutation('reports of an unknown page', 'updatePageReports', () => ({
    ...{ pageId: `pag_${'\u{1F4A9}\u0000'.repeat(20_000)}`, published: true },
  })),
  mutation('reports of a page in a version that it cannot have', 'updatePageReports', ({ organizationId }) => ({
    ...{ pageId: organizationId, published: true, version: -2_147_483_648 },
  })),
  {
    name: 'reports that are published and withdrawn a hundred times at once',
    statuses: [200],
    async send(target) {
      const document = 'mutation ($input: UpdatePageReportsInput!) { updatePageReports(input: $input) { __typename } }'
      const all = Array.from({ length: 100 }, (_, index) => {
        const input = { pageId: target.organizationId, published: index % 2 === 0 }
        return owned('', [], () => ({ query: document, variables: { input } })).send(target)
      })
      return unexpected(await Promise.all(all), [200])
    },
  },
]
