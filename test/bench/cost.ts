import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { getOperationAST, parse } from 'graphql'
import { schema } from '../../src/app/schema.ts'
import type { DnsServer } from '../../src/core/config.ts'
import { costOf } from '../../src/graphql/document/cost.ts'
import type { Filled } from '../hostile/organization.ts'
import { fillOrganization } from '../hostile/organization.ts'
import { line, median, title } from './report.ts'
import { type Service, startService } from './service.ts'

const rounds = 3

/** Documents of each kind, of the maximum size or nearly so. */
const kinds = ({ slug, large, incidentIds }: Filled): readonly (readonly [string, string])[] => {
  const page = (fields: string) => `{ statusPage(slug: "${large.slug}") { ${fields} } }`
  const days = (fields: string, n = 90) => page(`services { days(n: ${n}) { ${fields} } }`)
  const quoted = (ids: readonly string[]) => ids.map((id) => `"${id}"`).join(' ')
  return [
    ['nothing', '{ __typename }'],
    ['1,000 services: a name', page('services { name }')],
    ['1,000 services: all plain fields', page('services { id name description groupId position }')],
    ['1,000 services: status', page('services { status unknownSince }')],
    ['1,000 services: uptime', page('services { uptime { percentage } }')],
    ['1,000 services in groups', page('serviceGroups { name services { id name status } }')],
    ['1,000 services × 10 days', days('date percentage', 10)],
    ['1,000 services × 90 days', days('date percentage')],
    ['1,000 services × 90 days, a field', days('percentage')],
    ['1,000 services × 90 days, six fields', days('date percentage coverage upSeconds downSeconds knownSeconds')],
    ['100 nodes', `{ nodes(ids: [${quoted(large.serviceIds.slice(0, 100))}]) { id ... on Service { name status } } }`],
    ['100 services of a connection', '{ organization { services(first: 100) { nodes { name status } } } }'],
    ['100 monitors', '{ organization { monitors(first: 100) { nodes { id name state kind lastResult { at } } } } }'],
    [
      '100 monitors with latencies',
      '{ organization { monitors(first: 100) { nodes { latency(range: DAYS_30) { at p50 } } } } }',
    ],
    ['100 updates of 10,000 characters', timeline(incidentIds[0] ?? '', 'message')],
    ['100 updates without their text', timeline(incidentIds[0] ?? '', 'id status createdAt')],
    [
      '300 updates of 10,000 characters',
      `{ statusPage(slug: "${slug}") { incidents { updates(first: 100) { nodes { message } } } } }`,
    ],
    [
      '20 aliases of a page',
      `{ ${Array.from({ length: 20 }, (_, n) => `a${n}: statusPage(slug: "${slug}") { name }`).join(' ')} }`,
    ],
    ['a part of the schema', '{ a: __typename __schema { types { name fields { name } } } }'],
    ['the lists', '{ blacklists { id name kind zone description health { status } } }'],
  ]
}

const timeline = (id: string, fields: string) =>
  `{ node(id: "${id}") { ... on Incident { updates(first: 100) { nodes { ${fields} } } } } }`

/** (j) What documents of each kind cost in main-thread time and memory, per thousand units of cost. */
export async function cost(dns: DnsServer, dataDir: string): Promise<void> {
  title(`(j) What documents take, and what they cost (medians of ${rounds})`)
  const filled = await fillOrganization(dataDir)
  const service = await startService(dns, dataDir, { LOG_LEVEL: 'fatal' })
  line('    cost   main thread   for 1,000  longest turn     answer   memory')
  try {
    for (const [name, source] of kinds(filled)) await weigh(service, name, source, keyFor(source, filled))
  } finally {
    await service.stop()
  }
}

const keyFor = (source: string, { large }: Filled) => (source.startsWith('{ organization') ? large.key : null)

async function weigh(service: Service, name: string, source: string, key: string | null): Promise<void> {
  const document = parse(source)
  const operation = getOperationAST(document)
  if (!operation) throw new Error('There is more than one operation.')
  const units = costOf({ schema, document, operation, variables: {}, limit: Number.POSITIVE_INFINITY })
  await send(service, source, key)
  const all: Awaited<ReturnType<typeof send>>[] = []
  for (let round = 0; round < rounds; round++) all.push(await send(service, source, key))
  const [busy, turn, bytes, grown] = (['busy', 'turn', 'bytes', 'grown'] as const).map((each) =>
    median(all.map((one) => one[each])),
  ) as [number, number, number, number]
  const figures = [
    units.toLocaleString('en').padStart(8),
    `${busy.toFixed(1)} ms`.padStart(13),
    `${((busy / units) * 1000).toFixed(2)} ms`.padStart(11),
    `${turn.toFixed(0)} ms`.padStart(13),
    `${(bytes / 1024).toFixed(0)} kB`.padStart(10),
    `${(grown / 2 ** 20).toFixed(0)} MB`.padStart(8),
  ]
  line(`${figures.join('')}  ${all[0]?.refused ? `${name} (${all[0].refused})` : name}`)
}

/** Sends a document. Returns its cost to the service. */
async function send({ port, pid, longestTurn }: Service, query: string, key: string | null) {
  const url = `http://127.0.0.1:${port}`
  await sleep(50)
  await longestTurn()
  const before = mainThread(pid)
  const rss = memory(pid)
  const sampling = setInterval(() => (most = Math.max(most, memory(pid))), 5)
  let most = rss
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ query }),
  })
  const text = await response.text()
  clearInterval(sampling)
  const busy = mainThread(pid) - before
  const refused = /"code":"(\w+)"/.exec(text.slice(0, 1000))?.[1]
  return { busy, turn: await longestTurn(), bytes: text.length, grown: Math.max(most, memory(pid)) - rss, refused }
}

/** Milliseconds of processor time of a process's main thread. */
const mainThread = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

const memory = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
