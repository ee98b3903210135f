// @slow
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MINUTE } from '../../../src/core/time.ts'
import { missedHeartbeat } from '../../../src/monitoring/heartbeat/heartbeat.ts'
import type { RecentOutcome, WatchMemory } from '../../../src/monitoring/watch/judge.ts'
import { stable } from '../../../src/monitoring/watch/stability.ts'
import { scheduleOf } from '../../../src/monitoring/watch/staleness.ts'
import { testApp } from '../../support/app.ts'
import { noon } from '../../support/context.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { mutate, succeed } from '../../support/filled-organization.ts'
import { freePort } from '../../support/free-port.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

let now = noon
const port = await freePort()
const address = `http://127.0.0.1:${port}`
const dns = await startDnsServer(scriptedLists())
const settings = { ROLE: 'web', BASE_URL: 'https://allclear.example/', DEFAULT_TIER: 'team', PORT: String(port) }
const { baseUrl } = await testApp({ dns, settings, now: () => now })
const { key } = await newOrganization(address)

const pass = (milliseconds: number) => {
  now = new Date(now.getTime() + milliseconds)
}

interface Job {
  readonly id: string
  readonly token: string
}

/** Creates a monitor for a job that reports every five minutes, with a grace period of one minute. */
async function newJob(options: object = {}): Promise<Job> {
  const input = { name: 'Backup', intervalSeconds: 300, probe: { heartbeat: { graceSeconds: 60, ...options } } }
  const own = await mutate<{ id: string; options: { url: string } }>(
    address,
    key,
    'createMonitor',
    'Monitor',
    input,
    'id options { ... on HeartbeatOptions { url } }',
  )
  const prefix = `${baseUrl}/api/v1/heartbeats/`
  expect(own.options.url.startsWith(prefix)).toBe(true)
  return { id: own.id, token: own.options.url.slice(prefix.length) }
}
const call = (path: string, init: RequestInit = {}) => fetch(`${address}/api/v1/heartbeats/${path}`, init)
const body = async (response: Response) => [response.status, await response.json()]

interface Found {
  readonly state: string
  readonly stateSince: string
  readonly regions: readonly { readonly nextProbeAt: string | null; readonly startedAt: string | null }[]
  readonly results: {
    readonly edges: readonly {
      readonly node: { outcome: string; message: string; latencyMs: number | null; detail: object | null }
    }[]
  }
}

/** Returns the state and results of a heartbeat monitor; newest results first. */
async function found({ id }: Job) {
  const fields = `state stateSince regions { nextProbeAt startedAt }
    results { edges { node { outcome message latencyMs detail { output } } } }`
  const query = `query ($id: ID!) { node(id: $id) { ... on Monitor { ${fields} } } }`
  const { state, stateSince, regions, results } = await succeed<Found>(address, key, query, { id })
  const { nextProbeAt: due, startedAt } = regions[0] ?? {}
  return { state, stateSince, due, startedAt, results: results.edges.map(({ node }) => node) }
}

/** Returns the time that is this many seconds ahead. */
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()

describe('a job that calls its URL', () => {
  test.each(['GET', 'POST', 'PUT', 'HEAD'])(
    'with %s is up, and late after its interval and grace period',
    async (method) => {
      const job = await newJob()
      expect(await found(job)).toMatchObject({ state: 'PENDING', due: null, results: [] })
      pass(MINUTE)
      const response = await call(job.token, { method })
      expect([response.status, await response.text()]).toEqual([200, method === 'HEAD' ? '' : '{"ok":true}'])
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
      await expectSoon(job, {
        state: 'UP',
        due: inSeconds(360),
        results: [{ outcome: 'UP', message: 'The job reported success.', latencyMs: null, detail: null }],
      })
    },
  )

  test.each([
    ['fail', 'DOWN', 'The job reported failure.'],
    ['1', 'DOWN', 'The job ended with exit code 1.'],
    ['255', 'DOWN', 'The job ended with exit code 255.'],
    ['0', 'UP', 'The job reported success.'],
  ])('with /%s is %s', async (word, outcome, message) => {
    const job = await newJob()
    expect(await body(await call(`${job.token}/${word}`))).toEqual([200, { ok: true }])
    await expectSoon(job, { state: outcome, due: inSeconds(360), results: [{ outcome, message }] })
  })

  test.each([
    ['?status=up&msg=OK&ping=12', 'UP', 12, 'OK'],
    ['?status=down&msg=disk%20full&ping=', 'DOWN', null, 'disk full'],
    ['?status=DOWN', 'DOWN', null, null],
    ['?status=maintenance', 'DOWN', null, null],
    ['?status=&msg=&ping=', 'UP', null, null],
    ['?msg=fine&ping=12.6', 'UP', 13, 'fine'],
    ['?status=up&ping=-1', 'UP', null, null],
    ['?ping=99999999999', 'UP', null, null],
  ])('with the parameters of Uptime Kuma’s push address: %s is %s', async (query, outcome, latencyMs, output) => {
    const job = await newJob()
    expect((await call(`${job.token}${query}`)).status).toBe(200)
    const detail = output === null ? null : { output }
    await expectSoon(job, { state: outcome, results: [{ outcome, latencyMs, detail }] })
  })

  test('with /log reports nothing about the job', async () => {
    const job = await newJob()
    expect((await call(`${job.token}/log`, { method: 'POST', body: 'Half done' })).status).toBe(200)
    expect(await found(job)).toMatchObject({ state: 'PENDING', due: null, results: [] })
    expect((await call(`${'0'.repeat(32)}/log`)).status).toBe(404)
  })

  test('can send text, and only its organization sees the first line', async () => {
    const job = await newJob()
    const long = `\n \u0000<b>disk\u001b full</b> ${'é'.repeat(300)}\nand more`
    await call(`${job.token}/fail`, { method: 'POST', body: long })
    const { results } = await found(job)
    const output = ` <b>disk  full</b> ${'é'.repeat(300)}`.trim()
    expect(results).toMatchObject([{ message: 'The job reported failure.', detail: { output: output.slice(0, 200) } }])
  })

  test('can send compressed output; one that cannot be read is left out', async () => {
    const job = await newJob()
    const send = (coding: string, bytes: Uint8Array<ArrayBuffer>) =>
      call(job.token, { method: 'POST', headers: { 'content-encoding': coding }, body: bytes })
    expect((await send('gzip', new Uint8Array(gzipSync('Done\nand more')))).status).toBe(200)
    await expectSoon(job, { state: 'UP', results: [{ detail: { output: 'Done' } }] })
    for (const coding of ['gzip', 'zstd']) {
      pass(MINUTE)
      expect((await send(coding, new Uint8Array(Buffer.from('not compressed')))).status).toBe(200)
    }
    await expectSoon(job, { results: [{ detail: null }, { detail: null }, {}] })
  })

  test('can send output of any length', async () => {
    const job = await newJob()
    expect((await call(job.token, { method: 'POST', body: `Done\n${'x'.repeat(2_000_000)}` })).status).toBe(200)
    await expectSoon(job, { state: 'UP', results: [{ detail: { output: 'Done' } }] })
  })

  test('with /start has not succeeded yet, but its duration is measured', async () => {
    const job = await newJob()
    expect((await call(`${job.token}/start`)).status).toBe(200)
    expect(await found(job)).toMatchObject({ state: 'PENDING', due: null, results: [] })
    pass(90_000)
    await call(job.token)
    await expectSoon(job, { state: 'UP', results: [{ latencyMs: 90_000 }] })
    pass(MINUTE)
    await call(job.token)
    await expectSoon(job, { results: [{ latencyMs: null }, { latencyMs: 90_000 }] })
  })

  test('with a schedule is late after its next date (in its time zone) and the grace period', async () => {
    // Noon is 21:00 in Tokyo.
    const job = await newJob({ schedule: '30 21 * * *', timeZone: 'Asia/Tokyo' })
    now = noon
    await call(job.token)
    await expectSoon(job, { state: 'UP', due: inSeconds(30 * 60 + 60) })
    pass(31 * MINUTE)
    await call(job.token)
    await expectSoon(job, { due: '2026-11-21T12:31:00.000Z' })
  })

  test('with a time limit is late when a run takes too long; its schedule does not apply during a run', async () => {
    const job = await newJob({ maxRunSeconds: 3600 })
    await call(`${job.token}/start`)
    expect(await found(job)).toMatchObject({ state: 'PENDING', due: inSeconds(3600) })
    pass(MINUTE)
    await call(job.token)
    await expectSoon(job, { state: 'UP', due: inSeconds(360), results: [{ latencyMs: MINUTE }] })
    pass(MINUTE)
    await call(`${job.token}/start`)
    expect(await found(job)).toMatchObject({ due: inSeconds(3600) })
    pass(MINUTE)
    await call(`${job.token}/3`)
    await expectSoon(job, { state: 'DOWN', due: inSeconds(360), results: [{ outcome: 'DOWN', latencyMs: MINUTE }, {}] })
  })

  test('with run ids ends each run alone, and measures its own duration', async () => {
    const job = await newJob({ maxRunSeconds: 3600 })
    const [first, second] = [randomUUID(), randomUUID()]
    await call(`${job.token}/start?rid=${first}`)
    const begun = now
    pass(MINUTE)
    await call(`${job.token}/start?rid=${second}`)
    expect(await found(job)).toMatchObject({ due: inSeconds(3540), startedAt: begun.toISOString() })
    pass(MINUTE)
    await call(`${job.token}?rid=${first}`)
    const due = inSeconds(3540)
    const startedAt = inSeconds(-60)
    await expectSoon(job, { state: 'UP', due, startedAt, results: [{ latencyMs: 2 * MINUTE }] })
    // A report about no run that is open, and one without an id, end no run.
    pass(MINUTE)
    await call(`${job.token}?rid=${first}`)
    pass(MINUTE)
    await call(job.token)
    await expectSoon(job, { due, startedAt, results: [{ latencyMs: null }, { latencyMs: null }, {}] })
    pass(MINUTE)
    await call(`${job.token}/7?rid=${second.toUpperCase()}`)
    const ended = { outcome: 'DOWN', latencyMs: 4 * MINUTE }
    await expectSoon(job, { state: 'DOWN', due: inSeconds(360), startedAt: null, results: [ended, {}, {}, {}] })
  })

  test('with the ids of two runs within a second records both', async () => {
    const job = await newJob({ maxRunSeconds: 3600 })
    const runs = [randomUUID(), randomUUID()]
    for (const rid of runs) await call(`${job.token}/start?rid=${rid}`)
    pass(MINUTE)
    for (const rid of runs) {
      pass(10)
      await call(`${job.token}?rid=${rid}`)
    }
    const results = [{ latencyMs: MINUTE + 20 }, { latencyMs: MINUTE + 10 }]
    await expectSoon(job, { state: 'UP', due: inSeconds(360), startedAt: null, results })
  })

  test('with a run id ends a run that was started without one', async () => {
    const job = await newJob()
    await call(`${job.token}/start`)
    pass(MINUTE)
    await call(`${job.token}?rid=${randomUUID()}`)
    await expectSoon(job, { startedAt: null, results: [{ latencyMs: MINUTE }] })
  })

  test('twice within a second is counted once, unless the signals differ', async () => {
    const job = await newJob()
    for (let count = 0; count < 3; count += 1) expect((await call(job.token)).status).toBe(200)
    pass(400)
    await call(`${job.token}/fail`)
    await expectSoon(job, { state: 'DOWN', results: [{ outcome: 'DOWN' }, { outcome: 'UP' }] })
    pass(1000)
    await call(`${job.token}/fail`)
    await expectSoon(job, { results: [{ outcome: 'DOWN' }, { outcome: 'DOWN' }, { outcome: 'UP' }] })
  })

  test('many times at once counts once', async () => {
    const job = await newJob()
    const all = await Promise.all(Array.from({ length: 20 }, () => call(job.token)))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    await expectSoon(job, { state: 'UP', due: inSeconds(360), results: [{ outcome: 'UP' }] })
  })

  test('gets a response while its monitor is paused, but changes nothing', async () => {
    const job = await newJob()
    const paused = 'mutation ($id: ID!) { pauseMonitor(id: $id) { ... on Monitor { state } } }'
    await succeed(address, key, paused, { id: job.id })
    for (const path of ['', '/start', '/fail']) expect((await call(job.token + path)).status).toBe(200)
    expect(await found(job)).toMatchObject({ state: 'PAUSED', results: [] })
  })
})

describe('an invalid URL', () => {
  test.each(['x', '0'.repeat(32), '0'.repeat(500), 'a%2fb', '..%2f'])('%.20s is not found', async (token) => {
    for (const path of [token, `${token}/fail`]) {
      const [status, error] = await body(await call(path))
      expect([status, error.error.code]).toEqual([404, 'NOT_FOUND'])
    }
  })

  test.each(['256', '-1', '01', '1.0', 'stop', 'start/x', ''])('with a token and /%s is not found', async (word) => {
    const job = await newJob()
    expect((await call(`${job.token}/${word}`)).status).toBe(404)
    expect(await found(job)).toMatchObject({ state: 'PENDING', results: [] })
  })

  test.each(['', 'x', '123e4567e89b42d3a456426614174000', `{${randomUUID()}}`, `${randomUUID()}0`])(
    'with the run id “%s” is refused',
    async (rid) => {
      const job = await newJob()
      for (const path of ['', '/start', '/fail', '/log', '/1']) {
        const [status, { error }] = await body(await call(`${job.token}${path}?rid=${rid}`))
        expect([status, error.code, error.issues[0].path]).toEqual([400, 'INVALID_INPUT', ['rid']])
      }
      expect(await found(job)).toMatchObject({ state: 'PENDING', startedAt: null, results: [] })
    },
  )

  test('includes a URL whose token was rotated', async () => {
    const job = await newJob()
    const rotate = `mutation ($id: ID!) { rotateHeartbeatToken(id: $id) {
      ... on Monitor { options { ... on HeartbeatOptions { url } } } } }`
    const { options } = await succeed<{ options: { url: string } }>(address, key, rotate, {
      id: job.id,
    })
    expect((await call(job.token)).status).toBe(404)
    expect((await fetch(options.url.replace(baseUrl, address))).status).toBe(200)
  })

  test.each(['DELETE', 'OPTIONS', 'PATCH'])('with the method %s is refused', async (method) => {
    const response = await call('x', { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, PUT, HEAD'])
  })
})

test('heartbeats ignore an invalid API key', async () => {
  const job = await newJob()
  expect((await call(job.token, { headers: { authorization: 'Bearer ac_nothing' } })).status).toBe(200)
  expect((await post(address, { query: '{ organization { id } }', key })).errors).toBeUndefined()
})

/** Waits until recorded results are reconciled. This happens after the response. */
async function expectSoon(job: Job, expected: object): Promise<void> {
  await expect.poll(() => found(job)).toMatchObject(expected)
}

describe('a missed heartbeat', () => {
  const memory = (...recent: RecentOutcome[]) => ({
    memory: { state: 'UP', stateSince: noon, recent, stability: stable } satisfies WatchMemory,
    schedule: scheduleOf({ intervalSeconds: 300, timeoutMs: 0, options: { maxRunSeconds: 3600 } }, 'TEAM'),
    runs: [],
  })
  const success = noon.getTime() - 360_000

  test('is DOWN from its last success', () => {
    expect(missedHeartbeat(memory(['UP', success]), noon, noon)).toMatchObject({
      outcome: 'DOWN',
      message: 'No successful heartbeat since 2026-11-20 11:54:00 UTC.',
      suspect: null,
    })
    const failed = memory(['UP', success], ['DOWN', success + 1000], ['DOWN', success + 2000])
    expect(missedHeartbeat(failed, noon, new Date(noon.getTime() + MINUTE))).toEqual(
      missedHeartbeat(memory(['UP', success]), noon, noon),
    )
    expect(missedHeartbeat(memory(), noon, noon).message).toBe('No heartbeat.')
  })

  test('is DOWN when the run takes too long, but not when the worker is late', () => {
    const running = {
      ...memory(['UP', success]),
      runs: [noon.getTime() - 3_700_000, noon.getTime() - 3_600_000].map((time) => new Date(time)),
    }
    const message = 'The job started at 2026-11-20 11:00:00 UTC and has not ended within 1 hour.'
    expect(missedHeartbeat(running, noon, noon)).toMatchObject({ outcome: 'DOWN', message })
    expect(missedHeartbeat(running, noon, new Date(noon.getTime() + MINUTE + 1)).outcome).toBe('UNKNOWN')
  })

  test('is UNKNOWN when no worker was running', () => {
    const late = new Date(noon.getTime() + MINUTE + 1)
    expect(missedHeartbeat(memory(['UP', success]), noon, late)).toMatchObject({ outcome: 'UNKNOWN' })
  })

  test('never reports more than is known, even when the clock jumps', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), (late) => {
        const { outcome } = missedHeartbeat(memory(['UP', success]), noon, new Date(noon.getTime() + late))
        expect(outcome).toBe(late > MINUTE ? 'UNKNOWN' : 'DOWN')
      }),
    )
  })
})
