import { describe, expect, test } from 'vitest'
import type { DomainProgress, ProofResult } from '../../../src/account/custom-domain/custom-domain-state.ts'
import { afterCheck, GRACE, outweighs } from '../../../src/account/custom-domain/custom-domain-state.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import { noon } from '../../support/context.ts'

const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const pending: DomainProgress = { state: 'PENDING', provenBy: null, failingSince: null, dueAt: noon }
const proven: DomainProgress = { state: 'PROVEN', provenBy: 'TXT', failingSince: null, dueAt: noon }
const lost: DomainProgress = { ...proven, state: 'LOST' }
const at = (milliseconds: number) => ({ dueAt: later(milliseconds) })

describe('a domain', () => {
  test.each<[before: DomainProgress, found: ProofResult, after: Partial<DomainProgress>]>([
    [pending, 'TXT', { state: 'PROVEN', provenBy: 'TXT', ...at(6 * HOUR) }],
    [pending, 'PATH', { state: 'PROVEN', provenBy: 'PATH', ...at(6 * HOUR) }],
    [pending, 'NONE', { state: 'PENDING', ...at(MINUTE) }],
    [pending, 'FORBIDDEN', { state: 'PENDING', ...at(MINUTE) }],
    [pending, 'UNKNOWN', { state: 'PENDING', ...at(10 * MINUTE) }],
    [proven, 'PATH', { state: 'PROVEN', provenBy: 'PATH', failingSince: null }],
    [proven, 'NONE', { state: 'PROVEN', failingSince: noon, ...at(HOUR) }],
    [proven, 'UNKNOWN', { ...proven, ...at(10 * MINUTE) }],
    [proven, 'FORBIDDEN', { state: 'LOST' }],
    [{ ...proven, failingSince: later(1 - GRACE) }, 'NONE', { state: 'PROVEN', failingSince: later(1 - GRACE) }],
    [{ ...proven, failingSince: later(-GRACE) }, 'NONE', { state: 'LOST', failingSince: null }],
    [{ ...proven, failingSince: later(-GRACE) }, 'UNKNOWN', { state: 'PROVEN' }],
    [{ ...proven, failingSince: later(-GRACE) }, 'TXT', { state: 'PROVEN', failingSince: null }],
    [lost, 'NONE', { state: 'LOST' }],
    [lost, 'TXT', { state: 'PROVEN' }],
  ])('%j where %s is found', (before, found, after) => {
    expect(afterCheck(before, found, noon, noon)).toMatchObject(after)
  })

  test('that is pending is checked less and less often, and not at all after a week', () => {
    const pauses = [0, 2 * HOUR, 2 * DAY, 7 * DAY].map((waited) => {
      const { dueAt } = afterCheck(pending, 'NONE', later(-waited), noon)
      return dueAt && dueAt.getTime() - noon.getTime()
    })
    expect(pauses).toEqual([MINUTE, 10 * MINUTE, HOUR, null])
  })

  test('is served only after a proof, and not lost within the grace period, after any sequence of checks', () => {
    for (const { before, found, after, now, isProvenOnce } of steps(12_000)) {
      if (after.state === 'PROVEN') expect(isProvenOnce).toBe(true)
      if (found === 'FORBIDDEN') expect(after.state).not.toBe('PROVEN')
      else if (before.state === 'PROVEN' && after.state === 'LOST') {
        expect(before.failingSince).not.toBe(null)
        expect(now.getTime() - Number(before.failingSince)).toBeGreaterThanOrEqual(GRACE)
      }
    }
  })
})

/** Checks of domains with any results in any order. Every fortieth check is of a new domain. */
function* steps(count: number) {
  const finds = ['TXT', 'PATH', 'NONE', 'NONE', 'UNKNOWN', 'FORBIDDEN'] as const
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  let [after, now, isProvenOnce] = [pending, noon, false]
  for (let step = 0; step < count; step += 1) {
    if (step % 40 === 0) [after, now, isProvenOnce] = [pending, noon, false]
    const before = after
    const found = finds[random(finds.length)] ?? 'NONE'
    now = new Date(now.getTime() + random(40) * HOUR)
    after = afterCheck(before, found, noon, now)
    isProvenOnce ||= found === 'TXT' || found === 'PATH'
    yield { before, found, after, now, isProvenOnce }
  }
}

test.each([
  ['TXT', 'PATH', true],
  ['TXT', 'TXT', false],
  ['PATH', 'PATH', false],
  ['PATH', 'TXT', false],
] as const)('%s against what was proven by %s: %s', (challenger, holder, wins) => {
  expect(outweighs(challenger, holder)).toBe(wins)
})
