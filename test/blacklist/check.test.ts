import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import type { UsageCounters } from '../../src/account/usage.ts'
import {
  bulkCheck,
  type CheckContext,
  checkDomain,
  checkIp,
  MOST_TARGETS,
  startCheck,
} from '../../src/blacklist/check.ts'
import type { Checker, CheckProgress } from '../../src/blacklist/checker.ts'
import { readConfig } from '../../src/config.ts'
import type { Actor, Database } from '../../src/context.ts'
import type { Invalid } from '../../src/errors.ts'
import { createGate } from '../support/dns-server.ts'
import { silent } from '../support/scratch.ts'
import { listed, nothing, startScripted } from './setup.ts'

const pro: Actor = { kind: 'apiKey', keyId: 'key_1', organizationId: 'org_1', scope: 'READ', checkPlan: 'PRO' }
const free: Actor = { ...pro, checkPlan: 'FREE' }

/** Counters in memory. */
function createCounters(): UsageCounters & { readonly counts: ReadonlyMap<string, number> } {
  const counts = new Map<string, number>()
  return {
    counts,
    async take(subject, _day, limit) {
      const count = counts.get(subject) ?? 0
      if (count >= limit) return { granted: false, count }
      counts.set(subject, count + 1)
      return { granted: true, count: count + 1 }
    },
    isUsedUp: (subject, _day, limit) => (counts.get(subject) ?? 0) >= limit,
  }
}

/** A caller, whose checks are counted in memory; checking needs no database. */
function callerOf(checker: Checker, actor: Actor = { kind: 'visitor' }, signal?: AbortSignal) {
  const usage = createCounters()
  const ctx: CheckContext = {
    config: readConfig({}),
    db: {} as Database,
    actor,
    clientAddress: '198.51.100.9',
    leaving: signal && { signal },
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
  test('is counted once, against the address of a visitor or the organization of a pro key', async () => {
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
  ])('of %s is refused and costs nothing', async (_what, target, code) => {
    const { ctx, counts, asked } = await startCaller(pro)
    for (const check of [checkIp, checkDomain, startCheck]) {
      // Each way of checking has words of its own for an address where a domain is wanted.
      const expected = check === checkDomain && code === 'TARGET_NOT_PUBLIC' ? 'INVALID_TARGET' : code
      await expect(check(ctx, target)).rejects.toMatchObject({ name: 'Invalid', code: expected })
    }
    expect(counts.size).toBe(0)
    expect(asked()).toEqual([])
  })

  test('of the wrong kind is refused and costs nothing', async () => {
    const { ctx, counts } = await startCaller()
    await expect(checkIp(ctx, 'example.com')).rejects.toMatchObject({ code: 'INVALID_TARGET' })
    await expect(checkDomain(ctx, '192.0.2.7')).rejects.toMatchObject({ code: 'INVALID_TARGET' })
    expect(counts.size).toBe(0)
  })

  test('over the limit asks no list', async () => {
    const { ctx, asked } = await startCaller()
    const usage: UsageCounters = {
      take: async (_subject, _day, limit) => ({ granted: false, count: limit }),
      isUsedUp: () => true,
    }
    for (const check of [checkIp, startCheck]) {
      await expect(check({ ...ctx, usage }, '192.0.2.7')).rejects.toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED' })
    }
    expect(asked()).toEqual([])
  })

  test('ends when its caller leaves', async () => {
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

  test.each([1, MOST_TARGETS])('of %i targets costs one check', async (count) => {
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
  ])('of %s is refused and costs nothing', async (_what, count, code) => {
    const { ctx, counts, asked } = await startCaller(pro)
    await expect(bulkCheck(ctx, targets(count))).rejects.toMatchObject({ name: 'Invalid', code })
    expect(counts.size).toBe(0)
    expect(asked()).toEqual([])
  })

  test('without a pro key is refused before anything else', async () => {
    const { ctx, counts } = await startCaller()
    await expect(bulkCheck(ctx, [])).rejects.toMatchObject({ name: 'Unauthenticated', code: 'API_KEY_REQUIRED' })
    for (const actor of [free, { kind: 'operator' }, { kind: 'system' }] satisfies Actor[]) {
      const refused = bulkCheck({ ...ctx, actor }, [])
      await expect(refused).rejects.toMatchObject({ name: 'Forbidden', code: 'PRO_PLAN_REQUIRED' })
    }
    expect(counts.size).toBe(0)
  })

  test('answers every target in its place, bad ones with what is wrong with them', async () => {
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

  test('asks the lists once about a target that is sent several times', async () => {
    const { ctx, asked } = await startCaller(pro)
    const { items } = await bulkCheck(ctx, ['192.0.2.7', '::ffff:192.0.2.7', ' 192.0.2.7'])
    expect(items).toEqual([items[0], items[0], items[0]])
    expect(asked().length).toBe(6)
  })

  test('of a long text and a good target fails for the one alone', async () => {
    const { ctx } = await startCaller(pro)
    const { items } = await bulkCheck(ctx, ['x'.repeat(100_000), '192.0.2.7'])
    expect(items).toMatchObject([
      { kind: 'error', target: 'x'.repeat(253), code: 'INVALID_TARGET' },
      { kind: 'report' },
    ])
  })

  test('hears of its caller’s leaving without a warning of a leak, and leaves no listener', async () => {
    const { checker } = await startScripted()
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const staying = new AbortController()
    await bulkCheck(callerOf(checker, pro, staying.signal).ctx, targets(MOST_TARGETS))
    // Warnings are emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
    expect(getEventListeners(staying.signal, 'abort')).toEqual([])
  })

  test('fails as a whole when something breaks', async () => {
    const { checker } = await startScripted()
    const { ctx } = callerOf({ ...checker, check: async () => Promise.reject(new Error('broken')) }, pro)
    await expect(bulkCheck(ctx, ['192.0.2.7'])).rejects.toThrow('broken')
  })
})

describe('the progress of a check', () => {
  /** Begins a check, to be read step by step. */
  async function start(ctx: CheckContext, target: string): Promise<AsyncIterator<CheckProgress>> {
    const { progress } = await startCheck(ctx, target)
    return progress[Symbol.asyncIterator]()
  }

  /** What is still to come, to its end. */
  async function rest(steps: AsyncIterator<CheckProgress>): Promise<CheckProgress[]> {
    const told: CheckProgress[] = []
    for (let step = await steps.next(); !step.done; step = await steps.next()) told.push(step.value)
    return told
  }

  test('is each list’s answer, then the report, then its end', async () => {
    const { ctx, counts } = await startCaller()
    const { target, allowance, progress } = await startCheck(ctx, '192.0.2.7')
    expect(target).toEqual({ kind: 'ip', address: '192.0.2.7', family: 4 })
    expect(allowance.remaining).toBe(99)
    const told = await rest(progress[Symbol.asyncIterator]())
    expect(told.map(({ kind }) => kind)).toEqual([...Array(6).fill('answer'), 'report'])
    expect(told.at(-1)).toMatchObject({ report: { target: '192.0.2.7', totalChecked: 6 } })
    expect(counts.size).toBe(1)
  })

  test('of a domain ends with the report too', async () => {
    const { ctx } = await startCaller()
    const steps = await start(ctx, 'example.com')
    const kinds = (await rest(steps)).map(({ kind }) => kind)
    expect(kinds.toSorted()).toEqual(['answer', 'answer', 'report', 'resolved'])
    expect(kinds.at(-1)).toBe('report')
  })

  test('comes while lists are still silent', async () => {
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

  test('ends the check when it is left', async () => {
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
    // What comes now is for nobody.
    await vi.waitFor(() => expect(dns.statistics.rejected).toBe(rejected + 6), 5000)
  })

  test('ends with an error that nobody expected, after what was told before', async () => {
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

  test('is an error of the caller’s as long as nothing was begun', async () => {
    const { ctx } = await startCaller()
    await expect(startCheck(ctx, 'http://example.com')).rejects.toSatisfy(
      (error: Invalid) => error.code === 'INVALID_TARGET' && error.message.includes('example.com'),
    )
  })
})
