import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { Monitor, Watch } from '../../../src/generated/prisma/client.ts'
import type { JudgedMonitor, MonitorEvidence } from '../../../src/monitoring/state/judge-evidence.ts'
import { changesState, isReconciled, judgeEvidence, memberAfter } from '../../../src/monitoring/state/judge-evidence.ts'
import { noon } from '../../support/context.ts'

const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
const monitor = {
  id: 'own',
  name: 'API',
  kind: 'HTTP',
  state: 'UP',
  stateSince: at(0),
  agreement: null,
  unknownSince: null,
  blockedSince: null,
  heldSince: null,
} as unknown as Monitor
const watch = { state: 'UP', stateSince: at(0), lastKnownAt: at(100), unknownSince: null, stability: {} } as Watch
const failed = { ...watch, state: 'DOWN', stateSince: at(90), lastOutcome: 'DOWN' } as Watch
const parent = {
  id: 'parent',
  name: 'Router',
  kind: 'HTTP' as const,
  state: 'UP' as const,
  stateSince: at(0),
  blockedSince: null,
  watches: [{ lastKnownAt: at(100), lastOutcome: 'UP' as const }],
}
/** The schedule of a monitor whose results are fresh for 60 s and stale after 130 s. */
const schedule = { intervalSeconds: 60, timeoutMs: 10_000, graceSeconds: 0, cron: null, maxRunSeconds: null }

function judge(
  given: Partial<Omit<MonitorEvidence, 'monitor'>> & { readonly monitor?: Partial<Monitor> } = {},
  now = 110,
) {
  const own = { ...monitor, ...given.monitor }
  const evidence = { watches: [watch], schedule, parents: [], group: null, ...given, monitor: own }
  return judgeEvidence(evidence, { at: at(now), hasWorker: true })
}

const changesOf = ({ next, staleness, dependency }: JudgedMonitor) => ({
  next: next?.state ?? null,
  staleness: staleness?.kind ?? null,
  dependency: dependency?.kind ?? null,
})
const none = { next: null, staleness: null, dependency: null }
const unknown = { unknownSince: at(60) }
const downParent = { ...parent, state: 'DOWN' as const, stateSince: at(50) }
const stalling = { ...parent, watches: [{ lastKnownAt: at(20), lastOutcome: 'UP' as const }] }

describe('the changes of a monitor', () => {
  test.each<[string, Parameters<typeof judge>, ReturnType<typeof changesOf>]>([
    ['none, while it is up', [], { ...none, next: 'UP' }],
    ['it goes down', [{ watches: [failed] }], { ...none, next: 'DOWN' }],
    ['it becomes stale', [{}, 300], { ...none, staleness: 'BEGAN' }],
    ['it is known again', [{ monitor: unknown }], { ...none, next: 'UP', staleness: 'ENDED' }],
    [
      'it fails while its parent is down',
      [{ watches: [failed], parents: [downParent] }],
      { next: null, staleness: 'BEGAN', dependency: 'BLOCKED' },
    ],
    ['its parent is still down', [{ monitor: { ...unknown, blockedSince: at(60) }, parents: [downParent] }], none],
    [
      'its parent is up again',
      [{ monitor: { ...unknown, blockedSince: at(60) }, parents: [parent] }],
      { ...none, dependency: 'FREE' },
    ],
    [
      'it fails before its parent was probed',
      [{ watches: [failed], parents: [stalling] }],
      { ...none, dependency: 'HELD' },
    ],
    [
      'it fails while its parent is up',
      [{ watches: [failed], parents: [{ ...parent, watches: [{ lastKnownAt: at(110), lastOutcome: 'UP' }] }] }],
      { ...none, next: 'DOWN' },
    ],
    [
      'it recovers while it is held',
      [{ monitor: { heldSince: at(100) }, parents: [stalling] }],
      { ...none, next: 'UP', dependency: 'FREE' },
    ],
  ])('%s', (_, given, changes) => expect(changesOf(judge(...given))).toEqual(changes))
})

describe('a judged monitor', () => {
  test('is reconciled if nothing changes, but never while it is down', () => {
    expect(isReconciled(judge())).toBe(true)
    expect(isReconciled(judge({ watches: [failed] }))).toBe(false)
    expect(isReconciled(judge({ monitor: { state: 'DOWN', stateSince: at(90) }, watches: [failed] }))).toBe(false)
    expect(isReconciled(judge({}, 300))).toBe(false)
  })

  test('changes the groups that contain it by its state and its staleness', () => {
    const still = judge({ monitor: { state: 'DOWN', stateSince: at(90) }, watches: [failed] })
    expect([judge(), still, judge({ watches: [failed] }), judge({}, 300)].map(changesState)).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(memberAfter(judge({ watches: [failed] }))).toEqual({ state: 'DOWN', stateSince: at(90) })
    expect(memberAfter(judge({}, 300))).toMatchObject({ unknownSince: at(160) })
    expect(memberAfter(judge({ monitor: unknown }))).toMatchObject({ unknownSince: null, knownSince: at(100) })
  })
})
