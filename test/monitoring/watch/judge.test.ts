import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../../src/core/time.ts'
import type { MonitorState, ProbeOutcome } from '../../../src/generated/prisma/enums.ts'
import type { RegionReport, WatchMemory } from '../../../src/monitoring/watch/judge.ts'
import { judge, judgeMonitor, readRecent } from '../../../src/monitoring/watch/judge.ts'
import { instabilityInWords, readStability, stable } from '../../../src/monitoring/watch/stability.ts'
import { noon } from '../../support/context.ts'

const at = (minute: number) => new Date(noon.getTime() + minute * MINUTE)
const letters = { U: 'UP', G: 'DEGRADED', D: 'DOWN', '?': 'UNKNOWN' } as const
const states = { '.': 'PENDING', U: 'UP', G: 'DEGRADED', D: 'DOWN' } as const

/** Judges outcomes, one per minute. Returns the last state, the minute in which it started, and the retries. */
function run(state: keyof typeof states, outcomes: string, failureThreshold = 2, recoveryThreshold = 1) {
  let memory: WatchMemory = { state: states[state], stateSince: at(0), recent: [], stability: stable }
  let retries = ''
  for (const [index, letter] of [...outcomes].entries()) {
    const outcome = letters[letter as keyof typeof letters]
    const judged = judge(memory, outcome, at(index + 1), { failureThreshold, recoveryThreshold })
    memory = judged.memory
    retries += judged.retry ? 'r' : '-'
  }
  return [memory.state, (memory.stateSince.getTime() - noon.getTime()) / MINUTE, retries]
}

describe('a watch', () => {
  test.each<[from: keyof typeof states, outcomes: string, state: string, since: number, retries: string]>([
    ['.', '', 'PENDING', 0, ''],
    ['.', '?', 'PENDING', 0, '-'],
    ['.', 'U', 'UP', 1, '-'],
    ['.', '?U', 'UP', 2, '--'],
    ['.', 'G', 'DEGRADED', 1, '-'],
    ['.', 'D', 'PENDING', 0, 'r'],
    ['.', 'DD', 'DOWN', 1, 'r-'],
    ['.', 'D?D', 'DOWN', 1, 'r--'],
    ['.', 'DU', 'UP', 2, 'r-'],
    ['.', 'DGD', 'DEGRADED', 2, 'r-r'],
    ['U', 'U', 'UP', 0, '-'],
    ['U', 'D', 'UP', 0, 'r'],
    ['U', 'DUD', 'UP', 0, 'r-r'],
    ['U', 'DD', 'DOWN', 1, 'r-'],
    ['U', 'UUDD', 'DOWN', 3, '--r-'],
    ['U', 'D???D', 'DOWN', 1, 'r----'],
    ['U', '????', 'UP', 0, '----'],
    ['U', 'G', 'UP', 0, 'r'],
    ['U', 'GG', 'DEGRADED', 1, 'r-'],
    ['U', 'GD', 'DEGRADED', 1, 'rr'],
    ['U', 'DG', 'DEGRADED', 1, 'r-'],
    ['U', 'GDD', 'DOWN', 2, 'rr-'],
    ['U', 'GUG', 'UP', 0, 'r-r'],
    ['G', 'G', 'DEGRADED', 0, '-'],
    ['G', 'U', 'UP', 1, '-'],
    ['G', '?', 'DEGRADED', 0, '-'],
    ['G', 'D', 'DEGRADED', 0, 'r'],
    ['G', 'DG', 'DEGRADED', 0, 'r-'],
    ['G', 'DD', 'DOWN', 1, 'r-'],
    ['D', 'D', 'DOWN', 0, '-'],
    ['D', '?', 'DOWN', 0, '-'],
    ['D', 'U', 'UP', 1, '-'],
    ['D', 'G', 'DEGRADED', 1, '-'],
    ['D', 'GU', 'UP', 2, '--'],
  ])('from %s after %s', (from, outcomes, state, since, retries) => {
    expect(run(from, outcomes)).toEqual([state, since, retries])
  })

  test.each<[from: keyof typeof states, outcomes: string, state: string, since: number, retries: string]>([
    ['U', 'DD', 'UP', 0, 'rr'],
    ['U', 'DDD', 'DOWN', 1, 'rr-'],
    ['U', 'GDG', 'DEGRADED', 1, 'rr-'],
    ['D', 'U', 'DOWN', 0, 'r'],
    ['D', 'UD', 'DOWN', 0, 'r-'],
    ['D', 'U?U', 'UP', 1, 'r--'],
    ['D', 'UU', 'UP', 1, 'r-'],
    ['D', 'GU', 'DEGRADED', 1, 'rr'],
    ['D', 'UG', 'DEGRADED', 1, 'r-'],
    ['G', 'U', 'DEGRADED', 0, 'r'],
    ['G', 'UU', 'UP', 1, 'r-'],
    ['G', 'UGU', 'DEGRADED', 0, 'r-r'],
  ])('that fails after three and recovers after two, from %s after %s', (from, outcomes, state, since, retries) => {
    expect(run(from, outcomes, 3, 2)).toEqual([state, since, retries])
  })

  test('with thresholds of 1, such as a heartbeat, changes at once', () => {
    expect(run('U', 'D', 1)).toEqual(['DOWN', 1, '-'])
    expect(run('.', 'D', 1)).toEqual(['DOWN', 1, '-'])
  })

  test('remembers ten outcomes, which is enough for the maximum threshold', () => {
    expect(run('U', `UUU${'D'.repeat(9)}`, 10)).toEqual(['UP', 0, '---rrrrrrrrr'])
    expect(run('U', `UUU${'D'.repeat(10)}`, 10)).toEqual(['DOWN', 4, '---rrrrrrrrr-'])
  })

  const thresholds = fc.record({
    failureThreshold: fc.integer({ min: 1, max: 10 }),
    recoveryThreshold: fc.integer({ min: 1, max: 10 }),
  })
  const streakAfter = (failures: Date[], each: ProbeOutcome, time: Date) => {
    if (each === 'UNKNOWN') return failures
    return each === 'DOWN' ? [...failures, time] : []
  }
  const outcome = fc.constantFrom<ProbeOutcome>('UP', 'DEGRADED', 'DOWN', 'UNKNOWN')

  test('goes DOWN only after consecutive failures reach its threshold, from the first of them', () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 60 }), thresholds, (outcomes, limits) => {
        let memory: WatchMemory = { state: 'PENDING', stateSince: at(0), recent: [], stability: stable }
        let failures: Date[] = []
        for (const [index, each] of outcomes.entries()) {
          const before = memory.state
          memory = judge(memory, each, at(index + 1), limits).memory
          failures = streakAfter(failures, each, at(index + 1))
          if (memory.state !== 'DOWN' || before === 'DOWN') continue
          expect(failures).toHaveLength(limits.failureThreshold)
          expect(memory.stateSince).toEqual(failures[0])
        }
      }),
    )
  })

  test('ignores unknown outcomes', () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 40 }), thresholds, (outcomes, limits) => {
        const known = (each: ProbeOutcome) => each !== 'UNKNOWN'
        const states = (seen: readonly [ProbeOutcome, number][]) => {
          let memory: WatchMemory = { state: 'PENDING', stateSince: at(0), recent: [], stability: stable }
          for (const [each, minute] of seen) memory = judge(memory, each, at(minute), limits).memory
          return memory
        }
        const all = outcomes.map((each, index): [ProbeOutcome, number] => [each, index + 1])
        expect(states(all)).toEqual(states(all.filter(([each]) => known(each))))
      }),
    )
  })

  test('never has a state that starts in the future or before the watch, even when the clock jumps', () => {
    const jumps = fc.array(fc.tuple(outcome, fc.integer({ min: -1e9, max: 1e9 })), { maxLength: 40 })
    fc.assert(
      fc.property(jumps, thresholds, (seen, limits) => {
        const start = noon.getTime()
        let memory: WatchMemory = { state: 'PENDING', stateSince: noon, recent: [], stability: stable }
        let now = start
        for (const [each, jump] of seen) {
          now = Math.max(start, now + jump)
          const before = memory.state
          memory = judge(memory, each, new Date(now), limits).memory
          if (memory.state === before) continue
          expect(memory.stateSince.getTime()).toBeLessThanOrEqual(now)
          expect(memory.stateSince.getTime()).toBeGreaterThanOrEqual(start)
        }
      }),
    )
  })

  describe('that fails occasionally', () => {
    /** Judges outcomes, one per minute. Returns the state after each as a letter. */
    function statesOf(
      outcomes: string,
      from: Partial<WatchMemory> = {},
      limits = { failureThreshold: 2, recoveryThreshold: 1 },
    ) {
      let memory: WatchMemory = { state: 'UP', stateSince: at(0), recent: [], stability: stable, ...from }
      let found = ''
      for (const [index, letter] of [...outcomes].entries()) {
        const judged = judge(memory, letters[letter as keyof typeof letters], at(index + 1), limits)
        memory = judged.memory
        found += memory.state === 'DEGRADED' ? 'G' : memory.state[0]
      }
      return { found, memory }
    }

    test('becomes DEGRADED and unstable when more than a tenth of at least ten probes fail, and explains why', () => {
      const { found, memory } = statesOf('DUDUDUDUDU')
      expect(found).toBe('UUUUUUUUUG')
      expect(memory).toMatchObject({ state: 'DEGRADED', stateSince: at(10) })
      expect(instabilityInWords(memory.stability)).toBe('Unstable: 5 of 10 probes failed in the last hour')
      expect(statesOf(`${'U'.repeat(8)}DUUUUUUUUUUU`).found).not.toContain('G')
      expect(statesOf(`${'U'.repeat(8)}DUDU`).found.at(-1)).toBe('G')
    })

    test('stays unstable until less than a twentieth of the last hour’s probes failed, and is UP from then on', () => {
      const { found, memory } = statesOf(`DUDUDUDUDU${'U'.repeat(80)}`)
      const turn = found.indexOf('U', 10)
      expect(found.slice(9, turn)).toMatch(/^G{40,60}$/)
      expect(found.slice(turn)).toMatch(/^U+$/)
      expect(memory).toMatchObject({ state: 'UP', stateSince: at(turn + 1) })
    })

    test('is not retried because it is unstable', () => {
      const { memory } = statesOf('DUDUDUDUDU')
      expect(judge(memory, 'UP', at(11), { failureThreshold: 2, recoveryThreshold: 1 }).retry).toBe(false)
      expect(judge(memory, 'DOWN', at(11), { failureThreshold: 2, recoveryThreshold: 1 }).retry).toBe(true)
    })

    test('still goes DOWN from the first consecutive failure, and counts anew after the outage', () => {
      const { memory } = statesOf('DUDUDUDUDUUDD')
      expect(memory).toMatchObject({ state: 'DOWN', stateSince: at(12), stability: stable })
      expect(statesOf(`DUDUDUDUDUUDD${'U'.repeat(20)}`).found.slice(11)).toMatch(/^GDU{20}$/)
      // A streak that becomes an outage does not count either.
      expect(statesOf('UUUDDDDDDDDD', {}, { failureThreshold: 10, recoveryThreshold: 1 }).found).toBe('U'.repeat(12))
    })

    test('does not flap: there are several probes between two changes', () => {
      fc.assert(
        fc.property(fc.array(fc.constantFrom('U', 'U', 'U', 'U', 'DU'), { minLength: 50, maxLength: 200 }), (parts) => {
          const { found } = statesOf(parts.join(''))
          expect(found).not.toMatch(/UGUG|GUGU/)
          expect(found).not.toContain('D')
        }),
      )
    })

    test('ignores malformed counts', () => {
      const { stability } = statesOf('DUDUDUDUDU').memory
      expect(readStability(JSON.parse(JSON.stringify(stability)))).toEqual(stability)
      for (const bad of [null, [], {}, { intervals: 1 }, { intervals: [[1, 2]] }, { intervals: [[1, 2, '3']] }]) {
        expect(readStability(bad)).toEqual(stable)
      }
      fc.assert(fc.property(fc.jsonValue(), (json) => readStability(json).intervals.length <= 13))
    })
  })

  test('ignores malformed outcomes', () => {
    const seen = [
      ['UP', 1],
      ['DOWN', 2],
    ] as const
    expect(readRecent(seen)).toEqual(seen)
    for (const bad of [
      null,
      {},
      'UP',
      [['UP']],
      [['PAUSED', 1]],
      [['UP', '1']],
      [['UP', 1e300]],
      [['UP', null]],
      [1],
    ]) {
      expect(readRecent(bad)).toEqual([])
    }
    fc.assert(fc.property(fc.jsonValue(), (json) => readRecent(json).length <= 10))
  })
})

describe('a monitor', () => {
  const report = (letter: string, since: number, known = 60): RegionReport => ({
    state: states[letter as keyof typeof states],
    stateSince: at(since),
    lastKnownAt: at(known),
  })
  const judged = (
    state: MonitorState,
    reports: readonly RegionReport[],
    agreement: number | null = null,
    since = 0,
  ): [string, number] | null => {
    const standing = { state, stateSince: at(since), agreement, staleAfterMs: 5 * MINUTE }
    const next = judgeMonitor(reports, standing, at(61))
    return next && [next.state, (next.since.getTime() - noon.getTime()) / MINUTE]
  }

  test('with one region has the state of that region', () => {
    expect(judged('UP', [report('U', 1)])).toEqual(['UP', 0])
    expect(judged('UP', [report('D', 7)])).toEqual(['DOWN', 7])
    expect(judged('UP', [report('G', 7)])).toEqual(['DEGRADED', 7])
    expect(judged('DOWN', [report('U', 7)])).toEqual(['UP', 7])
    expect(judged('DOWN', [report('G', 7)])).toEqual(['DEGRADED', 7])
    expect(judged('PENDING', [report('U', 7)])).toEqual(['UP', 7])
    expect(judged('PENDING', [report('D', 0)])).toEqual(['DOWN', 0])
  })

  test('keeps its state while no region has a known result', () => {
    expect(judged('UP', [])).toBeNull()
    expect(judged('DOWN', [report('.', 1)])).toBeNull()
    expect(judged('UP', [{ state: 'UP', stateSince: at(1), lastKnownAt: null }])).toBeNull()
    expect(judged('UP', [report('D', 1, 55)])).toBeNull()
  })

  test('is DOWN from when a strict majority of the reporting regions found it DOWN', () => {
    expect(judged('UP', [report('D', 5), report('U', 1)])).toEqual(['UP', 0])
    expect(judged('UP', [report('D', 5), report('D', 9)])).toEqual(['DOWN', 9])
    expect(judged('UP', [report('D', 9), report('U', 1), report('D', 5)])).toEqual(['DOWN', 9])
    expect(judged('UP', [report('D', 9), report('U', 1), report('D', 5), report('U', 1)])).toEqual(['UP', 0])
    expect(judged('UP', [report('D', 9), report('.', 1), report('D', 5)])).toEqual(['DOWN', 9])
  })

  test('is DOWN from when the required number of regions agreed', () => {
    expect(judged('UP', [report('D', 5), report('U', 1), report('U', 1)], 1)).toEqual(['DOWN', 5])
    expect(judged('UP', [report('D', 5), report('D', 9), report('U', 1)], 3)).toEqual(['UP', 0])
    expect(judged('UP', [report('D', 5), report('D', 9), report('D', 2)], 3)).toEqual(['DOWN', 9])
  })

  test('keeps its state if fewer regions report than must agree', () => {
    expect(judged('UP', [report('D', 5)], 2)).toBeNull()
    expect(judged('DOWN', [report('D', 5)], 2)).toBeNull()
    expect(judged('DOWN', [report('U', 5)], 2)).toBeNull()
    expect(judged('UP', [report('U', 5)], 2)).toBeNull()
    expect(judged('PENDING', [report('U', 5)], 2)).toBeNull()
    expect(judged('UP', [report('D', 5), report('U', 1, 50)], 2)).toBeNull()
  })

  test('is DEGRADED when enough regions find it DOWN or DEGRADED', () => {
    expect(judged('UP', [report('D', 5), report('G', 9), report('U', 1)])).toEqual(['DEGRADED', 9])
    expect(judged('UP', [report('G', 5), report('U', 1), report('U', 1)])).toEqual(['UP', 0])
  })

  test('recovers when the deciding region recovers', () => {
    expect(judged('DOWN', [report('U', 20), report('D', 5), report('U', 1)], null, 9)).toEqual(['UP', 20])
    expect(judged('DOWN', [report('G', 20), report('D', 5), report('U', 1)], null, 9)).toEqual(['DEGRADED', 20])
  })

  test('does not recover just because a region that found it DOWN became stale', () => {
    const silent = report('D', 9, 50)
    expect(judged('DOWN', [report('D', 5), report('U', 1), silent], null, 9)).toEqual(['DOWN', 9])
    expect(judged('DOWN', [report('G', 5), report('U', 1), silent], null, 9)).toEqual(['DEGRADED', 61])
    expect(judged('DOWN', [report('U', 20), silent], 1, 9)).toEqual(['DOWN', 9])
    // The reporting regions found it UP, which also overrules the stale region.
    expect(judged('DOWN', [report('U', 20), report('U', 1), silent], null, 9)).toEqual(['UP', 20])
    // The last report of the stale region does not make the monitor DOWN either.
    expect(judged('UP', [report('D', 5), report('U', 1), report('U', 1), silent], 2)).toEqual(['UP', 0])
  })

  test('changes state at the time when a region becomes stale', () => {
    expect(judged('UP', [report('D', 5), report('U', 1, 50), report('U', 1, 50)], null, 20)).toEqual(['DOWN', 61])
  })

  test('never starts a state in the future or before the current one', () => {
    const someReport = fc.record({
      state: fc.constantFrom<MonitorState>('PENDING', 'UP', 'DEGRADED', 'DOWN', 'PAUSED'),
      stateSince: fc.integer({ min: -100, max: 200 }).map(at),
      lastKnownAt: fc.option(fc.integer({ min: 0, max: 200 }).map(at)),
    })
    fc.assert(
      fc.property(
        fc.array(someReport, { maxLength: 6 }),
        fc.constantFrom<MonitorState>('PENDING', 'UP', 'DEGRADED', 'DOWN'),
        fc.option(fc.integer({ min: 1, max: 4 })),
        (reports, state, agreement) => {
          const standing = { state, stateSince: at(10), agreement, staleAfterMs: 5 * MINUTE }
          const next = judgeMonitor(reports, standing, at(61))
          if (next === null) return
          expect(next.since.getTime()).toBeGreaterThanOrEqual(at(10).getTime())
          expect(next.since.getTime()).toBeLessThanOrEqual(at(61).getTime())
          const down = reports.filter((each) => each.state === 'DOWN').length
          if (next.state === 'DOWN') expect(down).toBeGreaterThanOrEqual(agreement ?? 1)
        },
      ),
    )
  })
})
