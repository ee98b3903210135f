import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import type { Quota } from '../../src/account/quota.ts'
import {
  bulkCheck,
  type CheckContext,
  checkDomain,
  checkIp,
  MAX_TARGETS,
  startCheck,
} from '../../src/blacklist/check.ts'
import type { Checker, CheckProgress } from '../../src/blacklist/checker.ts'
import { readConfig } from '../../src/core/config.ts'
import type { Actor, Database } from '../../src/core/context.ts'
import type { Invalid } from '../../src/core/errors.ts'
import { createGate } from '../support/dns-server.ts'
import { silent } from '../support/scratch.ts'
import { listed, nothing, startScripted } from './setup.ts'

const pro: Actor = { kind: 'apiKey', keyId: 'key_1', organizationId: 'org_1', scope: 'READ', checkPlan: 'PRO' }
const free: Actor = { ...pro, checkPlan: 'FREE' }

/** Creates a quota in memory. */
function createCounters(): Quota & { readonly counts: ReadonlyMap<string, number> } {
  const counts = new Map<string, number>()
  return {
    counts,
    async consume(subject, _day, limit) {
      const count = counts.get(subject) ?? 0
      if (count >= limit) return { granted: false, count }
      counts.set(subject, count + 1)
      return { granted: true, count: count + 1 }
    },
    isUsedUp: (subject, _day, limit) => (counts.get(subject) ?? 0) >= limit,
  }
}

/** Creates a caller whose checks are counted in memory, so that no database is needed. */
function callerOf(checker: Checker, actor: Actor = { kind: 'visitor' }, signal?: AbortSignal) {
  const usage = createCounters()
  const ctx: CheckContext = {
    config: readConfig({}),
    db: {} as Database,
    actor,
    clientAddress: '198.51.100.9',
    cancellation: signal && { signal },
    now: () => new Date('2026-11-20T12:00:00Z'),
    log: silent,
    checker,
    usage,
  }
  return { ctx, counts: usage.counts }
}

async function startCaller(actor?: Actor, ...script: Parameters<typeof startScripted>) {
  const core = await startScripted(...script)
  return { ...core, ...callerOf(core.checker, actor) }
}

describe('a check', () => {
  test('counts once, against a visitor’s address or the organization of a pro key', async () => {
    const { ctx, counts } = await startCaller()
    const { report, allowance } = await checkIp(ctx, ' 192.0.2.7 ')
    expect(report).toMatchObject({ targetType: 'ip', target: '192.0.2.7' })
    expect(allowance).toEqual({ plan: 'FREE', limit: 100, remaining: 99, resetsAt: new Date('2026-11-21T00:00:00Z') })
    expect((await checkDomain(ctx, 'Example.COM.')).report.target).toBe('example.com')
    expect((await checkDomain({ ...ctx, actor: pro }, 'example.com')).allowance).toMatchObject({
      plan: 'PRO',
      limit: 1000,
    })
    expect([...counts]).toEqual([
      ['ip:198.51.100.9', 2],
      ['organization:org_1', 1],
    ])
  })

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'MISSING_TARGET'],
    ['null', null, 'MISSING_TARGET'],
    ['a blank', '  ', 'MISSING_TARGET'],
    ['a number', 3_232_235_777, 'MISSING_TARGET'],
    ['an array', ['192.0.2.7'], 'MISSING_TARGET'],
    ['a URL', 'https://example.com/', 'INVALID_TARGET'],
    ['a private address', '10.0.0.1', 'TARGET_NOT_PUBLIC'],
    ['a public suffix', 'co.uk', 'INVALID_TARGET'],
  ])('of %s is rejected and costs nothing', async (_what, target, code) => {
    const { ctx, counts, sentQueries } = await startCaller(pro)
    for (const check of [checkIp, checkDomain, startCheck]) {
      // Each function has its own message for an address instead of a domain.
      const expected = check === checkDomain && code === 'TARGET_NOT_PUBLIC' ? 'INVALID_TARGET' : code
      await expect(check(ctx, target)).rejects.toMatchObject({ name: 'Invalid', code: expected })
    }
    expect(counts.size).toBe(0)
    expect(sentQueries()).toEqual([])
  })

  test('of the wrong kind is rejected and costs nothing', async () => {
    const { ctx, counts } = await startCaller()
    await expect(checkIp(ctx, 'example.com')).rejects.toMatchObject({ code: 'INVALID_TARGET' })
    await expect(checkDomain(ctx, '192.0.2.7')).rejects.toMatchObject({ code: 'INVALID_TARGET' })
    expect(counts.size).toBe(0)
  })

  test('over the limit queries no list', async () => {
    const { ctx, sentQueries } = await startCaller()
    const usage: Quota = {
      consume: async (_subject, _day, limit) => ({ granted: false, count: limit }),
      isUsedUp: () => true,
    }
    for (const check of [checkIp, startCheck]) {
      await expect(check({ ...ctx, usage }, '192.0.2.7')).rejects.toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED' })
    }
    expect(sentQueries()).toEqual([])
  })

  test('ends when its caller disconnects', async () => {
    const { checker, server } = await startScripted({}, { timeoutMs: 60_000 })
    const leaving = new AbortController()
    const { ctx } = callerOf(checker, pro, leaving.signal)
    server.behave(() => [])
    const before = server.queries.length
    const one = checkIp(ctx, '192.0.2.7')
    const many = bulkCheck(ctx, ['192.0.2.8', 'example.com'])
    await server.seen(before + 6 + 6 + 4)
    leaving.abort()
    expect((await one).report.failedCount).toBe(6)
    expect((await many).items.map((item) => item.kind)).toEqual(['report', 'report'])
  })
})

describe('a bulk check', () => {
  const targets = (count: number) => Array.from({ length: count }, (_, index) => `192.0.2.${index + 1}`)

  test.each([1, MAX_TARGETS])('of %i targets counts as one check', async (count) => {
    const { ctx, counts } = await startCaller(pro)
    const { items, allowance } = await bulkCheck(ctx, targets(count))
    expect(items.map((item) => (item.kind === 'report' ? item.report.target : item))).toEqual(targets(count))
    expect(allowance.remaining).toBe(999)
    expect([...counts]).toEqual([['organization:org_1', 1]])
  })

  test.each([
    ['no targets', 0, 'NO_TARGETS'],
    ['21 targets', 21, 'TOO_MANY_TARGETS'],
    ['10,000 targets', 10_000, 'TOO_MANY_TARGETS'],
  ])('of %s is rejected and costs nothing', async (_what, count, code) => {
    const { ctx, counts, sentQueries } = await startCaller(pro)
    await expect(bulkCheck(ctx, targets(count))).rejects.toMatchObject({ name: 'Invalid', code })
    expect(counts.size).toBe(0)
    expect(sentQueries()).toEqual([])
  })

  test('without a pro key is rejected first', async () => {
    const { ctx, counts } = await startCaller()
    await expect(bulkCheck(ctx, [])).rejects.toMatchObject({ name: 'Unauthenticated', code: 'API_KEY_REQUIRED' })
    for (const actor of [free, { kind: 'operator' }, { kind: 'system' }] satisfies Actor[]) {
      const refused = bulkCheck({ ...ctx, actor }, [])
      await expect(refused).rejects.toMatchObject({ name: 'Forbidden', code: 'PRO_PLAN_REQUIRED' })
    }
    expect(counts.size).toBe(0)
  })

  test('keeps the order of targets, with an error for each invalid one', async () => {
    const { ctx } = await startCaller(pro, { '7.2.0.192.psbl.surriel.com': listed('127.0.0.2', 'Trapped') })
    const { items } = await bulkCheck(ctx, ['192.0.2.7', 'not a host', 'example.com', '10.0.0.1', '', '2001:db8::7'])
    expect(items).toMatchObject([
      { kind: 'report', report: { target: '192.0.2.7', listedCount: 1 } },
      { kind: 'error', target: 'not a host', code: 'INVALID_TARGET' },
      { kind: 'report', report: { target: 'example.com', targetType: 'domain' } },
      { kind: 'error', target: '10.0.0.1', code: 'TARGET_NOT_PUBLIC' },
      { kind: 'error', target: '', code: 'MISSING_TARGET' },
      { kind: 'report', report: { target: '2001:db8::7' } },
    ])
  })

  test('queries the lists only once for a repeated target', async () => {
    const { ctx, sentQueries } = await startCaller(pro)
    const { items } = await bulkCheck(ctx, ['192.0.2.7', '::ffff:192.0.2.7', ' 192.0.2.7'])
    expect(items).toEqual([items[0], items[0], items[0]])
    expect(sentQueries().length).toBe(6)
  })

  test('with one overlong target fails only for that target', async () => {
    const { ctx } = await startCaller(pro)
    const { items } = await bulkCheck(ctx, ['x'.repeat(100_000), '192.0.2.7'])
    expect(items).toMatchObject([
      { kind: 'error', target: 'x'.repeat(253), code: 'INVALID_TARGET' },
      { kind: 'report' },
    ])
  })

  test('detects that its caller disconnects, without a leak warning or a leftover listener', async () => {
    const { checker } = await startScripted()
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const staying = new AbortController()
    await bulkCheck(callerOf(checker, pro, staying.signal).ctx, targets(MAX_TARGETS))
    // Node.js emits warnings in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
    expect(getEventListeners(staying.signal, 'abort')).toEqual([])
  })

  test('fails as a whole on an unexpected error', async () => {
    const { checker } = await startScripted()
    const { ctx } = callerOf({ ...checker, check: async () => Promise.reject(new Error('broken')) }, pro)
    await expect(bulkCheck(ctx, ['192.0.2.7'])).rejects.toThrow('broken')
  })
})

describe('the progress of a check', () => {
  /** Starts a check. Returns an iterator over its progress. */
  async function start(ctx: CheckContext, target: string): Promise<AsyncIterator<CheckProgress>> {
    const { progress } = await startCheck(ctx, target)
    return progress[Symbol.asyncIterator]()
  }

  /** Reads the remaining progress. */
  async function rest(steps: AsyncIterator<CheckProgress>): Promise<CheckProgress[]> {
    const received: CheckProgress[] = []
    for (let step = await steps.next(); !step.done; step = await steps.next()) received.push(step.value)
    return received
  }

  test('yields each list’s answer, then the report, then ends', async () => {
    const { ctx, counts } = await startCaller()
    const { target, allowance, progress } = await startCheck(ctx, '192.0.2.7')
    expect(target).toEqual({ kind: 'ip', address: '192.0.2.7', family: 4 })
    expect(allowance.remaining).toBe(99)
    const received = await rest(progress[Symbol.asyncIterator]())
    expect(received.map(({ kind }) => kind)).toEqual([...Array(6).fill('answer'), 'report'])
    expect(received.at(-1)).toMatchObject({ report: { target: '192.0.2.7', totalChecked: 6 } })
    expect(counts.size).toBe(1)
  })

  test('of a domain also ends with the report', async () => {
    const { ctx } = await startCaller()
    const steps = await start(ctx, 'example.com')
    const kinds = (await rest(steps)).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(['answer', 'answer', 'report', 'resolved'])
    expect(kinds.at(-1)).toBe('report')
  })

  test('arrives before all lists have answered', async () => {
    const gate = createGate()
    const { ctx } = await startCaller(undefined, {
      'bl.spamcop.net': async (query) => {
        await gate.opened
        return nothing(query)
      },
    })
    const steps = await start(ctx, '192.0.2.7')
    const names = new Set<string>()
    for (let answers = 0; answers < 5; answers++) {
      const { value } = await steps.next()
      if (value?.kind === 'answer') names.add(value.result.name)
    }
    expect(names.size).toBe(5)
    expect(names).not.toContain('SpamCop')
    gate.open()
    expect((await rest(steps)).map(({ kind }) => kind)).toEqual(['answer', 'report'])
  })

  test('ends the check when its iteration ends', async () => {
    const { ctx, server, dns } = await startCaller(undefined, {}, { timeoutMs: 60_000 })
    const gate = createGate()
    server.behave(async (query) => {
      await gate.opened
      return nothing(query)
    })
    const before = server.queries.length
    const { rejected } = { ...dns.statistics }
    const steps = await start(ctx, '192.0.2.7')
    const waiting = steps.next()
    await server.seen(before + 6)
    await steps.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    gate.open()
    // No caller waits for this answer.
    await vi.waitFor(() => expect(dns.statistics.rejected).toBe(rejected + 6), 5000)
  })

  test('ends with an unexpected error after the steps before it', async () => {
    const { checker } = await startScripted()
    const broken: Checker = {
      ...checker,
      async check(_target, watcher) {
        watcher?.onProgress?.({ kind: 'resolved', addresses: [], checked: [] })
        throw new Error('broken')
      },
    }
    const steps = await start(callerOf(broken).ctx, 'example.com')
    expect((await steps.next()).value).toMatchObject({ kind: 'resolved' })
    await expect(steps.next()).rejects.toThrow('broken')
    expect(await steps.next()).toEqual({ done: true, value: undefined })
  })

  test('rejects with the caller’s error before it starts', async () => {
    const { ctx } = await startCaller()
    await expect(startCheck(ctx, 'http://example.com')).rejects.toSatisfy(
      (error: Invalid) => error.code === 'INVALID_TARGET' && error.message.includes('example.com'),
    )
  })
})
