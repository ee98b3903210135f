import { bomb } from './bomb.ts'
import { type HostileCase, mutate, query, type Target } from './case.ts'

const MIB = 2 ** 20

/** A case of an answer that a monitor reads. */
function answering(
  name: string,
  body: () => Buffer | string,
  options: object,
  headers: Record<string, string> = {},
): HostileCase {
  return {
    name: `a monitor reads ${name}`,
    statuses: [200],
    waits: true,
    async send(target) {
      const url = await target.serve(body(), headers)
      return watch(target, { http: { url, ...options } })
    },
  }
}

let tried = 0

/** Creates a monitor, which is probed once, and deletes it; returns 200 if it was probed. */
export async function watch({ probers, ...given }: Target, probe: object, timeoutMs = 5000): Promise<number> {
  const target = { ...given, probers, key: probers[tried++ % probers.length] ?? given.key }
  const monitor = { name: 'Hostile', intervalSeconds: 3600, timeoutMs, probe }
  const { id } = await mutate<{ id: string }>(target, 'createMonitor', monitor, '... on Monitor { id }')
  const testing = 'mutation ($id: ID!) { testMonitor(id: $id) { __typename } deleteMonitor(id: $id) { __typename } }'
  const { testMonitor } = await query<{ testMonitor: { __typename: string } }>(target, testing, { id })
  return testMonitor.__typename === 'TestMonitorPayload' ? 200 : 429
}

const json = { json: { path: '$.a' } }
const keyword = { keyword: { text: 'well', absent: true } }

/** Answers of foreign servers to monitors. */
export const probes: readonly HostileCase[] = [
  answering('1 MB of brackets as JSON', () => '['.repeat(MIB), json),
  answering('1 MB of nested objects as JSON', () => '{"a":'.repeat(MIB / 5), json),
  answering('1 MB of lists as JSON', () => `[${'[],'.repeat(MIB / 3 - 2)}[]]`, json),
  answering('1 MB of quotes as JSON', () => '"\\"'.repeat(MIB / 3), json),
  answering('1 MB of long numbers as JSON', () => `[${'12345678901234567,'.repeat(MIB / 18 - 2)}1]`, json),
  answering('1 MB without a keyword', () => 'wel'.repeat(MIB / 3), keyword),
  answering('10 MB without a keyword', () => 'wel'.repeat((10 * MIB) / 3), keyword),
  answering('1 MB for a regular expression that would run away', () => 'a'.repeat(MIB), {
    keyword: { text: '^(a|aa|aaa|a*a*)*b$', isRegex: true },
  }),
  answering('1 MB for a large regular expression', () => 'a'.repeat(MIB), {
    keyword: { text: `(?i)${'[\\pL\\pN]{30}'.repeat(14)}`, isRegex: true },
  }),
  {
    name: 'a monitor of Redis reads a web server',
    statuses: [200],
    async send(target) {
      const { port } = new URL(await target.serve('x'.repeat(MIB), {}))
      return watch(target, { redis: { host: '127.0.0.1', port: Number(port) } })
    },
  },
  {
    name: 'a monitor of MongoDB reads a web server',
    statuses: [200],
    async send(target) {
      const { port } = new URL(await target.serve('x'.repeat(MIB), {}))
      return watch(target, { mongodb: { host: '127.0.0.1', port: Number(port) } })
    },
  },
  answering('a body that unpacks to 500 MB', () => bomb(500), keyword, {
    'content-encoding': 'gzip',
  }),
  answering(
    'headers of 60 kB',
    () => '',
    {},
    Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x-${n}`, 'x'.repeat(1000)])),
  ),
  answering('a redirect to itself', () => '', { expectedStatus: ['2xx'], maxRedirects: 10 }, { location: '?' }),
]
