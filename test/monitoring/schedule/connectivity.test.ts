import { expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { ProbeResult } from '../../../src/monitoring/result/probe-result.ts'
import { createConnectivity, resolverAnswers } from '../../../src/monitoring/schedule/connectivity.ts'
import { createDnsClient } from '../../../src/network/dns/client.ts'
import { rcodes, startDnsServer } from '../../support/dns-server.ts'
import { silent } from '../../support/scratch.ts'

const result = (outcome: ProbeResult['outcome'], suspect: string | null): ProbeResult => ({
  outcome,
  message: outcome === 'UP' ? 'Fine.' : 'No route.',
  latencyMs: outcome === 'UP' ? 12 : null,
  detail: null,
  suspect,
})
const unreached = (host: string) => result('DOWN', host)
const up = result('UP', null)

type Step = ProbeResult | number | readonly [ProbeResult, '*']

/**
 * Returns the outcomes of consecutive results. A number advances the clock by seconds; an asterisk means that the
 * monitor was down before.
 */
async function weighed(isNetworkUp: boolean | (() => boolean), ...steps: readonly Step[]): Promise<string[]> {
  const { assess } = createConnectivity({
    isNetworkUp: async () => (typeof isNetworkUp === 'boolean' ? isNetworkUp : isNetworkUp()),
    log: silent,
  })
  let now = 0
  const outcomes: string[] = []
  for (const step of steps) {
    if (typeof step === 'number') now += step * SECOND
    else if ('outcome' in step) outcomes.push((await assess(step, false, now)).outcome)
    else outcomes.push((await assess(step[0], true, now)).outcome)
  }
  return outcomes
}

const [a, b, c] = [unreached('a'), unreached('b'), unreached('c')]

test('one or two unreachable hosts are DOWN', async () => {
  expect(await weighed(false, a, b, a, b)).toEqual(Array(4).fill('DOWN'))
})

test('three unreachable hosts without another success are UNKNOWN, because our own network may be down', async () => {
  expect(await weighed(false, up, a, b, c, a)).toEqual(['UP', 'DOWN', 'DOWN', 'UNKNOWN', 'UNKNOWN'])
  const said = createConnectivity({ isNetworkUp: async () => false, log: silent })
  for (const each of [a, b]) await said.assess(each, false, 0)
  expect(await said.assess(c, false, 0)).toEqual({
    ...result('UNKNOWN', 'c'),
    message: 'Neither targets nor resolvers respond, so our own network may be down: No route.',
  })
})

test('any number of unreachable hosts are DOWN when our network works', async () => {
  const hosts = ['a', 'b', 'c', 'd'].map(unreached)
  expect(await weighed(true, ...hosts, 20, ...hosts, 20, ...hosts)).toEqual(Array(12).fill('DOWN'))
})

test('the result of a network check is used for a few seconds', async () => {
  let asked = 0
  const worksOnce = () => ++asked === 1
  expect(await weighed(worksOnce, a, b, c, 5, a, 1, a)).toEqual(['DOWN', 'DOWN', 'DOWN', 'DOWN', 'UNKNOWN'])
  expect(asked).toBe(2)
})

test('an UNKNOWN host becomes DOWN once our network works', async () => {
  let works = false
  const { assess } = createConnectivity({ isNetworkUp: async () => works, log: silent })
  for (const each of [a, b]) await assess(each, false, 0)
  expect((await assess(c, false, 0)).outcome).toBe('UNKNOWN')
  works = true
  expect((await assess(c, false, 6 * SECOND)).outcome).toBe('DOWN')
})

test('one reachable host proves that our network works', async () => {
  expect(await weighed(false, a, b, up, c, a)).toEqual(['DOWN', 'DOWN', 'UP', 'DOWN', 'DOWN'])
  expect((await weighed(false, a, b, result('DOWN', null), c)).at(-1)).toBe('DOWN')
})

test('an UNKNOWN result proves nothing', async () => {
  expect((await weighed(false, a, b, result('UNKNOWN', null), c)).at(-1)).toBe('UNKNOWN')
})

test('old failures do not count', async () => {
  expect(await weighed(false, a, b, 31, c)).toEqual(['DOWN', 'DOWN', 'DOWN'])
  expect((await weighed(false, a, 16, b, 16, c, a)).at(-1)).toBe('UNKNOWN')
})

test('hosts that were already DOWN prove nothing about our network, but are UNKNOWN while it may be down', async () => {
  expect(await weighed(false, [a, '*'], [b, '*'], c)).toEqual(['DOWN', 'DOWN', 'DOWN'])
  expect((await weighed(false, a, b, c, [unreached('d'), '*'])).at(-1)).toBe('UNKNOWN')
})

test('the loss of our network and its return are each logged once', async () => {
  const said: string[] = []
  const log = { warn: (_: unknown, text: string) => said.push(text), info: (text: string) => said.push(text) }
  const { assess } = createConnectivity({ isNetworkUp: async () => false, log: Object.assign(silent.child({}), log) })
  for (const each of [a, b, c, a, b, c, up, up]) await assess(each, false, 0)
  expect(said).toEqual([
    'monitoring: neither targets nor resolvers respond, so our own network may be down; probe results are unknown',
    'monitoring: our own network works again',
  ])
})

test.each([
  ['does not know the name', rcodes.nxdomain, true],
  ['refuses queries', rcodes.refused, false],
  ['fails', rcodes.servfail, false],
] as const)('a resolver that %s (code %i) shows that our network works: %s', async (_what, rcode, works) => {
  const names: string[] = []
  const server = await startDnsServer(({ name }) => {
    names.push(name)
    return { rcode }
  })
  const dns = createDnsClient({ servers: [server], timeoutMs: 10_000, now: () => new Date() })
  expect(await resolverAnswers(dns)).toBe(works)
  await resolverAnswers(dns)
  // The names differ, so that no cache can answer.
  expect(new Set(names).size).toBeGreaterThan(1)
  await dns.close()
  await server.close()
})
