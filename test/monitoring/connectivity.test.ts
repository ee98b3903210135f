import { expect, test } from 'vitest'
import { createConnectivity, resolverAnswers } from '../../src/monitoring/connectivity.ts'
import type { Finding } from '../../src/monitoring/finding.ts'
import { createDnsClient } from '../../src/network/dns/client.ts'
import { SECOND } from '../../src/time.ts'
import { rcodes, startDnsServer } from '../support/dns-server.ts'
import { silent } from '../support/scratch.ts'

const finding = (outcome: Finding['outcome'], suspect: string | null): Finding => ({
  outcome,
  message: outcome === 'UP' ? 'Fine.' : 'No route.',
  latencyMs: outcome === 'UP' ? 12 : null,
  detail: null,
  suspect,
})
const unreached = (host: string) => finding('DOWN', host)
const up = finding('UP', null)

type Step = Finding | number | readonly [Finding, '*']

/** The outcomes of findings, one after another; a number lets so many seconds pass, an asterisk means that it was down before. */
async function weighed(works: boolean | (() => boolean), ...steps: readonly Step[]): Promise<string[]> {
  const { weigh } = createConnectivity({
    works: async () => (typeof works === 'boolean' ? works : works()),
    log: silent,
  })
  let now = 0
  const outcomes: string[] = []
  for (const step of steps) {
    if (typeof step === 'number') now += step * SECOND
    else if ('outcome' in step) outcomes.push((await weigh(step, false, now)).outcome)
    else outcomes.push((await weigh(step[0], true, now)).outcome)
  }
  return outcomes
}

const [a, b, c] = [unreached('a'), unreached('b'), unreached('c')]

test('a host or two out of reach are down', async () => {
  expect(await weighed(false, a, b, a, b)).toEqual(Array(4).fill('DOWN'))
})

test('three hosts out of reach, and nothing else reached, are unknown: our own network may be down', async () => {
  expect(await weighed(false, up, a, b, c, a)).toEqual(['UP', 'DOWN', 'DOWN', 'UNKNOWN', 'UNKNOWN'])
  const said = createConnectivity({ works: async () => false, log: silent })
  for (const each of [a, b]) await said.weigh(each, false, 0)
  expect(await said.weigh(c, false, 0)).toEqual({
    ...finding('UNKNOWN', 'c'),
    message: 'No target is reached, nor a resolver, so our own network may be down: No route.',
  })
})

test('all hosts of an operator are down when our network is shown to work, however many they are', async () => {
  const hosts = ['a', 'b', 'c', 'd'].map(unreached)
  expect(await weighed(true, ...hosts, 20, ...hosts, 20, ...hosts)).toEqual(Array(12).fill('DOWN'))
})

test('what showed that our network works shows it for a few seconds', async () => {
  let asked = 0
  const worksOnce = () => ++asked === 1
  expect(await weighed(worksOnce, a, b, c, 5, a, 1, a)).toEqual(['DOWN', 'DOWN', 'DOWN', 'DOWN', 'UNKNOWN'])
  expect(asked).toBe(2)
})

test('one that could not be told becomes down once our network is shown to work', async () => {
  let works = false
  const { weigh } = createConnectivity({ works: async () => works, log: silent })
  for (const each of [a, b]) await weigh(each, false, 0)
  expect((await weigh(c, false, 0)).outcome).toBe('UNKNOWN')
  works = true
  expect((await weigh(c, false, 6 * SECOND)).outcome).toBe('DOWN')
})

test('one host that is reached proves our network', async () => {
  expect(await weighed(false, a, b, up, c, a)).toEqual(['DOWN', 'DOWN', 'UP', 'DOWN', 'DOWN'])
  expect((await weighed(false, a, b, finding('DOWN', null), c)).at(-1)).toBe('DOWN')
})

test('what could not be tried proves nothing', async () => {
  expect((await weighed(false, a, b, finding('UNKNOWN', null), c)).at(-1)).toBe('UNKNOWN')
})

test('failures long ago tell nothing of now', async () => {
  expect(await weighed(false, a, b, 31, c)).toEqual(['DOWN', 'DOWN', 'DOWN'])
  expect((await weighed(false, a, 16, b, 16, c, a)).at(-1)).toBe('UNKNOWN')
})

test('hosts that were down before tell nothing of our network, but are not known to be down while that may be', async () => {
  expect(await weighed(false, [a, '*'], [b, '*'], c)).toEqual(['DOWN', 'DOWN', 'DOWN'])
  expect((await weighed(false, a, b, c, [unreached('d'), '*'])).at(-1)).toBe('UNKNOWN')
})

test('the process says it once when it seems cut off, and once when it is no more', async () => {
  const said: string[] = []
  const log = { warn: (_: unknown, text: string) => said.push(text), info: (text: string) => said.push(text) }
  const { weigh } = createConnectivity({ works: async () => false, log: Object.assign(silent.child({}), log) })
  for (const each of [a, b, c, a, b, c, up, up]) await weigh(each, false, 0)
  expect(said).toEqual([
    'monitoring: no target is reached, nor a resolver: our own network may be down, and checks are unknown',
    'monitoring: our own network works again',
  ])
})

test.each([
  ['knows no such name', rcodes.nxdomain, true],
  ['refuses', rcodes.refused, false],
  ['fails', rcodes.servfail, false],
] as const)('a resolver that %s shows that our network works: %#', async (_what, rcode, works) => {
  const names: string[] = []
  const server = await startDnsServer(({ name }) => {
    names.push(name)
    return { rcode }
  })
  const dns = createDnsClient({ servers: [server], timeoutMs: 1000, now: () => new Date() })
  expect(await resolverAnswers(dns)).toBe(works)
  await resolverAnswers(dns)
  // None that a cache could answer.
  expect(new Set(names).size).toBeGreaterThan(1)
  await dns.close()
  await server.close()
})
