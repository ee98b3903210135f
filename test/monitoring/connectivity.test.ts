import { expect, test } from 'vitest'
import { createConnectivity } from '../../src/monitoring/connectivity.ts'
import type { Finding } from '../../src/monitoring/finding.ts'
import { SECOND } from '../../src/time.ts'

const finding = (outcome: Finding['outcome'], suspect: string | null): Finding => ({
  outcome,
  message: outcome === 'UP' ? 'Fine.' : 'No route.',
  latencyMs: outcome === 'UP' ? 12 : null,
  detail: null,
  suspect,
})
const unreached = (host: string) => finding('DOWN', host)
const up = finding('UP', null)

/** The outcomes of findings, one after another; a number lets so many seconds pass, an asterisk means that it was down before. */
function weighed(...steps: readonly (Finding | number | readonly [Finding, '*'])[]): string[] {
  const connectivity = createConnectivity()
  let now = 0
  const outcomes: string[] = []
  for (const step of steps) {
    if (typeof step === 'number') now += step * SECOND
    else if ('outcome' in step) outcomes.push(connectivity.weigh(step, false, now).outcome)
    else outcomes.push(connectivity.weigh(step[0], true, now).outcome)
  }
  return outcomes
}

test('a host or two out of reach are down', () => {
  expect(weighed(unreached('a'), unreached('b'), unreached('a'), unreached('b'))).toEqual(Array(4).fill('DOWN'))
})

test('three hosts out of reach, and none reached, are unknown: our own network is down', () => {
  expect(weighed(up, unreached('a'), unreached('b'), unreached('c'), unreached('a'))).toEqual([
    'UP',
    'DOWN',
    'DOWN',
    'UNKNOWN',
    'UNKNOWN',
  ])
  const said = createConnectivity()
  for (const host of ['a', 'b']) said.weigh(unreached(host), false, 0)
  expect(said.weigh(unreached('c'), false, 0)).toEqual({
    ...finding('UNKNOWN', 'c'),
    message: 'Our own network seems to be down: No route.',
  })
})

test('one host that is reached proves our network', () => {
  expect(weighed(unreached('a'), unreached('b'), up, unreached('c'), unreached('a'))).toEqual([
    'DOWN',
    'DOWN',
    'UP',
    'DOWN',
    'DOWN',
  ])
  expect(weighed(unreached('a'), unreached('b'), finding('DOWN', null), unreached('c')).at(-1)).toBe('DOWN')
})

test('what could not be tried proves nothing', () => {
  const outcomes = weighed(unreached('a'), unreached('b'), finding('UNKNOWN', null), unreached('c'))
  expect(outcomes.at(-1)).toBe('UNKNOWN')
})

test('failures long ago tell nothing of now', () => {
  expect(weighed(unreached('a'), unreached('b'), 31, unreached('c'))).toEqual(['DOWN', 'DOWN', 'DOWN'])
  expect(weighed(unreached('a'), 16, unreached('b'), 16, unreached('c'), unreached('a')).at(-1)).toBe('UNKNOWN')
})

test('hosts that were down before tell nothing of our network, but are not known to be down while that is', () => {
  const outcomes = weighed([unreached('a'), '*'], [unreached('b'), '*'], unreached('c'))
  expect(outcomes).toEqual(['DOWN', 'DOWN', 'DOWN'])
  const cutOff = weighed(unreached('a'), unreached('b'), unreached('c'), [unreached('d'), '*'])
  expect(cutOff.at(-1)).toBe('UNKNOWN')
})
