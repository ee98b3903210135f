// @slow
import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MonitorKind } from '../../../src/generated/prisma/enums.ts'
import { isAnywhere, kindRules } from '../../../src/monitoring/monitor/probe-kinds.ts'
import { runProbe } from '../../../src/monitoring/monitor/run-probe.ts'
import { ping } from '../../../src/monitoring/probe/ping.ts'
import { probeResult } from '../../../src/monitoring/result/probe-result.ts'
import { createLog } from '../../blacklist/setup.ts'
import { answer } from '../../support/dns-server.ts'
import { runWith, startTools } from '../probe/run.ts'

const options = ping.options.parse({ host: 'www.example.com' })

afterEach(() => {
  vi.restoreAllMocks()
})

describe('every kind', () => {
  test.each(Object.values(MonitorKind))('has its own rules: %s', (kind) => {
    expect(kindRules[kind].kind).toBe(kind)
  })

  test('is probed from each region, except blacklists, heartbeats, domains and groups', () => {
    expect(Object.values(MonitorKind).filter(isAnywhere)).toEqual(['HEARTBEAT', 'BLACKLIST', 'DOMAIN', 'GROUP'])
  })
})

describe('a run', () => {
  test('returns the result of the kind’s probe', async () => {
    const { tools } = await startTools((query) => answer(query, ['192.0.2.7']))
    const dns = kindRules.DNS.options.parse({ name: 'www.example.com' }) as never
    expect(await runProbe('DNS', dns, runWith(tools))).toMatchObject({ outcome: 'UP', message: 'A 192.0.2.7' })
  })

  test('shortens messages to one line, and rounds latencies', async () => {
    const { tools } = await startTools()
    const message = `a\nb\u0000\u202e${'x'.repeat(600)}`
    vi.spyOn(ping, 'run').mockResolvedValue(probeResult('DOWN', message, { latencyMs: 12.6 }))
    const result = await runProbe('PING', options, runWith(tools))
    expect(result).toMatchObject({ outcome: 'DOWN', latencyMs: 13 })
    expect(result.message).toMatch(/^a b x+$/)
    expect(result.message.length).toBe(500)
  })

  test('that throws is UNKNOWN, and the error is logged', async () => {
    const { lines, log } = createLog()
    const { tools } = await startTools()
    vi.spyOn(ping, 'run').mockRejectedValue(new TypeError('s3cret'))
    expect(await runProbe('PING', options, runWith({ ...tools, log }))).toEqual(
      probeResult('UNKNOWN', 'The probe failed: an internal error, which we have logged'),
    )
    expect(lines.length).toBe(1)
    expect(lines[0]).toContain('TypeError')
  })

  test('that misses its deadline is aborted, and its result is ignored', async () => {
    const { lines, log } = createLog()
    const { tools } = await startTools()
    let given: AbortSignal | undefined
    vi.spyOn(ping, 'run').mockImplementation((_, { signal }) => {
      given = signal
      return new Promise(() => {})
    })
    const run = runWith({ ...tools, log }, { timeoutMs: 1 })
    expect(await runProbe('PING', options, run)).toMatchObject({ outcome: 'UNKNOWN', suspect: null })
    expect(given?.aborted).toBe(true)
    expect(lines.length).toBe(1)
    expect(getEventListeners(run.signal, 'abort')).toEqual([])
  })

  test('ends early when its caller aborts it', async () => {
    const { tools } = await startTools()
    const stopping = new AbortController()
    vi.spyOn(ping, 'run').mockImplementation(
      (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(probeResult('UNKNOWN', 'Ended')))
        }),
    )
    const running = runProbe('PING', options, runWith(tools, { signal: stopping.signal, timeoutMs: 30_000 }))
    stopping.abort()
    expect((await running).message).toBe('Ended')
  })
})
