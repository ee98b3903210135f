import { getEventListeners } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { BlacklistResult } from '../../src/blacklist/check-report.ts'
import { blacklists } from '../../src/blacklist/list.ts'
import { ANSWER_TTL_MS } from '../../src/blacklist/list-health.ts'
import { type Lookup, queryList, queryListCache } from '../../src/blacklist/lookup.ts'
import { parseTarget } from '../../src/blacklist/target.ts'
import { MINUTE } from '../../src/core/time.ts'
import { answer, type Behaviour, createGate, rcodes, silence, truncated } from '../support/dns-server.ts'
import { listZones } from '../support/lists.ts'
import { requireRbldnsd, startRbldnsd } from '../support/rbldnsd.ts'
import { codes, listed, listOf, lists, nothing, play, type Rig, startCore, startScripted } from './setup.ts'

const zen = listOf('spamhaus-zen')
const psbl = listOf('psbl')
const drone = listOf('dronebl')
const surbl = listOf('surbl-multi')
const uribl = listOf('uribl-black')
const address = '192.0.2.7'
const atZen = '7.2.0.192.zen.spamhaus.org'
const patient = () => new AbortController().signal

function askAbout(lookup: Lookup, list = zen, target = address): Promise<BlacklistResult> {
  return queryList(lookup, list, { target: parseTarget(target), owner: 'caller', signal: patient() })
}

function fromCache({ lookup }: Pick<Rig, 'lookup'>, list = zen, target = address) {
  return queryListCache(lookup, list, parseTarget(target))
}

const unlisted = { listed: false, policy: false, response: null, error: null, codes: [], note: null }

describe('an answer', () => {
  test('of NXDOMAIN clears the target', async () => {
    const { lookup, sentQueries } = await startScripted()
    expect(await askAbout(lookup)).toEqual({
      name: 'Spamhaus ZEN',
      description: zen.description,
      delistUrl: zen.delistUrl(address),
      ...unlisted,
    })
    expect(sentQueries()).toEqual([`A ${atZen}`])
  })

  test('with a code lists the target with the list’s own reason', async () => {
    const { lookup, sentQueries } = await startScripted({ [atZen]: listed('127.0.0.4', 'See https://lists.example/7') })
    expect(await askAbout(lookup)).toMatchObject({
      listed: true,
      response: 'See https://lists.example/7',
      error: null,
      codes: ['127.0.0.4'],
      note: 'XBL: infected or exploited host, seen sending spam or malware (CBL)',
    })
    expect(sentQueries()).toEqual([`A ${atZen}`, `TXT ${atZen}`])
  })

  test.each<[string, Behaviour]>([
    ['has no reason', codes('127.0.0.2')],
    ['has an empty reason', listed('127.0.0.2', ' \n ')],
    [
      'refuses to give a reason',
      (query) => (query.type === 'A' ? answer(query, ['127.0.0.2']) : { rcode: rcodes.refused }),
    ],
  ])('that %s lists the target with the meaning of its code', async (_what, behaviour) => {
    const { lookup } = await startScripted({ [atZen]: behaviour })
    expect(await askAbout(lookup)).toMatchObject({
      listed: true,
      response: 'SBL: spam source or spam support service',
      codes: ['127.0.0.2'],
      note: null,
    })
  })

  test.each<[string, Behaviour, Partial<BlacklistResult>]>([
    ['refuses with its code', codes('127.255.255.254'), { error: 'refused', codes: ['127.255.255.254'] }],
    ['is 127.0.0.1', codes('127.0.0.1'), { error: 'invalid_answer', codes: ['127.0.0.1'] }],
    ['is of a parked domain', codes('91.195.240.117'), { error: 'invalid_answer', codes: ['91.195.240.117'] }],
    ['is of a block page', codes('0.0.0.0'), { error: 'invalid_answer', codes: ['0.0.0.0'] }],
    ['is an undocumented code', codes('127.0.0.77'), { error: 'invalid_answer', codes: ['127.0.0.77'] }],
    ['is SERVFAIL', () => ({ rcode: rcodes.servfail }), { error: 'unreachable', codes: [] }],
    [
      'is REFUSED',
      () => ({ rcode: rcodes.refused }),
      { error: 'refused', note: 'The server refused the query (DNS REFUSED).' },
    ],
    [
      'is FORMERR',
      () => ({ rcode: rcodes.formatError }),
      { error: 'unreachable', note: 'The resolver does not understand the query (FORMERR), also without EDNS.' },
    ],
    [
      'is NOTIMP without a question',
      () => ({ rcode: rcodes.notImplemented, withoutQuestion: true }),
      { error: 'unreachable', note: 'The resolver does not implement the query (NOTIMP), also without EDNS.' },
    ],
    [
      'is the address of a resolver that blocks it',
      codes('0.0.0.0'),
      { error: 'invalid_answer', note: 'The resolver blocks the names of this list: it answers 0.0.0.0.' },
    ],
    ['never comes', silence, { error: 'timeout', note: 'The list did not answer in time.' }],
    ['has a wrong id', (query) => ({ ...answer(query, ['127.0.0.2']), id: query.id ^ 1 }), { error: 'timeout' }],
    [
      'answers another question',
      (query) => ({ ...answer(query, ['127.0.0.2']), question: { name: `x.${query.name}`, type: 'A' } }),
      { error: 'timeout' },
    ],
    [
      'comes from another address',
      (query) => ({ ...answer(query, ['127.0.0.2']), forged: true }),
      { error: 'timeout' },
    ],
    [
      'is about another name',
      () => ({ answers: [{ name: 'other.zen.spamhaus.org', type: 'A', data: '127.0.0.2' }] }),
      unlisted,
    ],
  ])('that %s is not a listing', async (_what, behaviour, expected) => {
    const { lookup, sentQueries } = await startScripted(
      { [atZen]: behaviour },
      expected.error === 'timeout' ? { timeoutMs: 100 } : {},
    )
    const result = await askAbout(lookup)
    expect(result).toMatchObject({ listed: false, response: null, ...expected })
    if (expected.error) expect(result.note).toMatch(/\.$/)
    expect(sentQueries()).not.toContain(`TXT ${atZen}`)
  })

  test('that is too long for UDP is fetched over TCP', async () => {
    const over: Behaviour = (query) => (query.transport === 'udp' ? truncated : listed('127.0.0.3', 'over TCP')(query))
    const { lookup, server } = await startScripted({ [atZen]: over })
    expect(await askAbout(lookup)).toMatchObject({ listed: true, response: 'over TCP', codes: ['127.0.0.3'] })
    expect(server.queries.slice(-1)).toMatchObject([{ type: 'TXT', transport: 'tcp' }])
  })

  test('is accepted after forged answers', async () => {
    const forged: Behaviour = (query) => [
      { ...answer(query, ['127.0.0.2']), id: query.id ^ 1 },
      { ...answer(query, ['127.0.0.2']), forged: true },
      { ...answer(query, ['127.0.0.2']), question: { name: 'other.example', type: 'A' } },
      { rcode: rcodes.nxdomain },
    ]
    const { lookup } = await startScripted({ [atZen]: forged })
    expect(await askAbout(lookup)).toMatchObject(unlisted)
  })

  test('that is slow is used if it arrives in time', async () => {
    const gate = createGate()
    const slow: Behaviour = async (query) => {
      await gate.opened
      return codes('127.0.0.2')(query)
    }
    const { lookup, server } = await startScripted({ [atZen]: slow })
    const before = server.queries.length
    const result = askAbout(lookup)
    await server.seen(before + 1)
    gate.open()
    expect(await result).toMatchObject({ listed: true })
  })

  test('of the PBL is a policy entry', async () => {
    const { lookup } = await startScripted({ [atZen]: listed('127.0.0.11', 'Policy') })
    expect(await askAbout(lookup)).toMatchObject({ listed: true, policy: true, response: 'Policy' })
  })

  test('lists the test address', async () => {
    const { lookup } = await startScripted()
    for (const list of lists.filter(({ kind }) => kind === 'ip')) {
      expect(await askAbout(lookup, list, '127.0.0.2')).toMatchObject({ listed: true, error: null })
    }
  })
})

describe('a reason', () => {
  /** Answers with a listing and one TXT record that consists of these strings. */
  const withTexts =
    (data: readonly string[] | Buffer): Behaviour =>
    (query) =>
      query.type === 'A'
        ? answer(query, ['127.0.0.2'])
        : { answers: [{ name: query.name, type: 'TXT', data: Buffer.isBuffer(data) ? data : [...data] }] }

  test('becomes one line of printable characters with a limited length', async () => {
    const hostile = `<b>&\u0000\u001b[31m\r\n \u202edelist\u200b \ud83d\ude00${'x'.repeat(200)}`
    const long = [hostile, ...Array<string>(5).fill('\ud83d\ude00'.repeat(60))]
    const { lookup } = await startScripted({ [atZen]: withTexts(long) })
    const { response } = await askAbout(lookup)
    expect(response).toMatch(/^<b>& \[31m delist \u{1f600}x{200}\u{1f600}+$/u)
    expect([...(response ?? '')].length).toBe(500)
  })

  test('that is not UTF-8 is decoded as far as possible', async () => {
    const { lookup } = await startScripted({ [atZen]: withTexts(Buffer.from('caf\xe9', 'latin1')) })
    expect((await askAbout(lookup)).response).toBe('caf\ufffd')
  })

  test('that never arrives delays the listing by at most a second', async () => {
    const mute: Behaviour = (query) => (query.type === 'A' ? answer(query, ['127.0.0.2']) : [])
    const { lookup } = await startScripted({ [atZen]: mute }, { timeoutMs: 60_000 })
    expect(await askAbout(lookup)).toMatchObject({ listed: true, codes: ['127.0.0.2'], note: null })
  })

  test('never shows the operator’s key', async () => {
    const key = 'abcdefghij0123456789klmnop'
    const keyed = blacklists(key)
    const dqs = listOf('spamhaus-zen', keyed)
    const zone = `${key}.zen.dq.spamhaus.net`
    const repeating: Behaviour = (query) =>
      query.type === 'A' ? answer(query, ['127.0.0.2']) : answer(query, [`${query.name} is listed`])
    const { lookup, logged, sentQueries, health } = await startScripted({ [zone]: repeating }, { lists: keyed })
    const result = await askAbout(lookup, dqs)
    expect(sentQueries()).toEqual([`A 7.2.0.192.${zone}`, `TXT 7.2.0.192.${zone}`])
    expect(result.response).toBe('7.2.0.192.zen.dq.spamhaus.net is listed')
    expect((await health.measure(dqs)).status).toBe('wildcard')
    const ill = await askAbout(lookup, dqs)
    expect(JSON.stringify([result, ill, health.get(dqs), logged])).not.toContain(key)
  })
})

describe('a domain', () => {
  test('is queried with the labels that SURBL and URIBL require', async () => {
    const { lookup, sentQueries } = await startScripted({
      'b.blogspot.com.black.uribl.com': listed('127.0.0.2', 'Spammy'),
      'a.b.blogspot.com.multi.surbl.org': listed('127.0.0.80', 'abuse'),
    })
    expect(await askAbout(lookup, uribl, 'a.b.blogspot.com')).toMatchObject({ listed: true, response: 'Spammy' })
    expect(await askAbout(lookup, surbl, 'a.b.blogspot.com')).toMatchObject({
      listed: true,
      response: 'abuse',
      note: 'MW: malware; ABUSE: seen in spam',
    })
    expect(sentQueries().filter((query) => query.startsWith('A '))).toEqual([
      'A blogspot.com.black.uribl.com',
      'A b.blogspot.com.black.uribl.com',
      'A a.b.blogspot.com.multi.surbl.org',
    ])
  })

  test('that is too long for a query is looked up by its longest parent that fits', async () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.com`
    const parent = name.slice(64)
    const { lookup, sentQueries } = await startScripted({ [`${parent}.multi.surbl.org`]: listed('127.0.0.8', 'Phish') })
    expect(await askAbout(lookup, surbl, name)).toMatchObject({ listed: true, response: 'Phish', error: null })
    expect(sentQueries()).toContain(`A ${parent}.multi.surbl.org`)
    const fits = `${'x'.repeat(253 - '.com.multi.surbl.org'.length - 3 * 64)}.${'a.'.repeat(96)}com`
    await askAbout(lookup, surbl, fits)
    expect(sentQueries()).toContain(`A ${fits}.multi.surbl.org`)
    await askAbout(lookup, surbl, `y${fits}`)
    expect(sentQueries().at(-1)).toBe(`A ${'a.'.repeat(96)}com.multi.surbl.org`)
    expect(await askAbout(lookup, uribl, name)).toMatchObject({ listed: false, error: null })
  })

  test('is not cleared when there is no answer for one of its names', async () => {
    const { lookup } = await startScripted({
      'blogspot.com.black.uribl.com': () => ({ rcode: rcodes.servfail }),
      'b.blogspot.com.black.uribl.com': nothing,
    })
    expect(await askAbout(lookup, uribl, 'a.b.blogspot.com')).toMatchObject({ listed: false, error: 'unreachable' })
  })

  test('is listed when one of its names is, even if there is no answer for the other', async () => {
    const { lookup } = await startScripted({
      'blogspot.com.black.uribl.com': () => ({ rcode: rcodes.servfail }),
      'b.blogspot.com.black.uribl.com': codes('127.0.0.2'),
    })
    expect(await askAbout(lookup, uribl, 'a.b.blogspot.com')).toMatchObject({ listed: true, error: null })
  })

  test('that is a disposable mail domain gets a note, not a listing', async () => {
    const { lookup } = await startScripted({ 'example.com.multi.surbl.org': codes('127.0.0.4') })
    expect(await askAbout(lookup, surbl, 'example.com')).toMatchObject({
      ...unlisted,
      codes: ['127.0.0.4'],
      note: 'DM: disposable mail domain (informational, not a listing).',
    })
  })
})

describe('an IPv6 address', () => {
  const target = '2001:db8::7'
  const name = (zone: string) => `7${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.${zone}`

  test('is queried with its nibbles if the list covers IPv6', async () => {
    const { lookup, sentQueries } = await startScripted({ [name('zen.spamhaus.org')]: codes('127.0.0.3') })
    expect(await askAbout(lookup, zen, target)).toMatchObject({ listed: true, codes: ['127.0.0.3'] })
    expect(sentQueries()[0]).toBe(`A ${name('zen.spamhaus.org')}`)
  })

  test('is not queried and is unknown if the list does not cover IPv6, healthy or not', async () => {
    const { lookup, sentQueries, health } = await startScripted({}, { measured: false })
    const unsupported = { listed: false, error: 'unsupported', note: 'This list is not known to cover IPv6.' }
    expect(await askAbout(lookup, psbl, target)).toMatchObject(unsupported)
    expect(fromCache({ lookup }, psbl, target)).toMatchObject(unsupported)
    expect(sentQueries()).toEqual([])
    health.recordRefusal(psbl, 'Go away.')
    expect(await askAbout(lookup, psbl, target)).toMatchObject(unsupported)
  })

  test('is listed but never cleared by a list that does not say whether it covers IPv6', async () => {
    const { lookup } = await startScripted({ [name('dnsbl.dronebl.org')]: codes('127.0.0.13') })
    expect(await askAbout(lookup, drone, '2001:db8::8')).toMatchObject({
      listed: false,
      error: 'unsupported',
      note: 'Not listed, but this list does not say whether it covers IPv6.',
    })
    expect(await askAbout(lookup, drone, target)).toMatchObject({ listed: true, response: 'Brute-force attacker' })
  })
})

describe('an unhealthy list', () => {
  test.each<[string, Behaviour, string]>([
    ['wildcard', codes('127.0.0.2'), 'invalid_answer'],
    ['parked', codes('91.195.240.117'), 'invalid_answer'],
    ['silent', nothing, 'invalid_answer'],
    ['refusing', codes('127.255.255.254'), 'refused'],
    ['refused by the resolver', () => ({ rcode: rcodes.refused }), 'refused'],
    ['failing', () => ({ rcode: rcodes.servfail }), 'unreachable'],
  ])('that is %s is not queried', async (_status, behaviour, error) => {
    const { lookup, server, health } = await startScripted({ 'zen.spamhaus.org': behaviour }, { measured: false })
    await health.whenMeasured(zen)
    const before = server.queries.length
    const result = await askAbout(lookup)
    expect(result).toMatchObject({ listed: false, response: null, error, codes: [], note: health.get(zen).detail })
    expect(fromCache({ lookup })).toEqual(result)
    expect(server.queries.length).toBe(before)
  })

  test('is detected before the first query', async () => {
    const { lookup } = await startScripted({ 'zen.spamhaus.org': codes('127.0.0.2') }, { measured: false })
    expect(await askAbout(lookup)).toMatchObject({ listed: false, error: 'invalid_answer' })
  })

  test.each<[string, Behaviour, string]>([
    ['its code', codes('127.255.255.255'), 'The list refuses this resolver because it sends too many queries.'],
    ['REFUSED', () => ({ rcode: rcodes.refused }), 'The server refused the query (DNS REFUSED).'],
  ])(
    'that refuses a query of a check with %s gets no query until its next health check',
    async (_how, behaviour, note) => {
      const { lookup, sentQueries, health } = await startScripted({ [atZen]: behaviour })
      expect(await askAbout(lookup)).toMatchObject({ error: 'refused', note })
      expect(await askAbout(lookup, zen, '192.0.2.8')).toMatchObject({ error: 'refused', note, codes: [] })
      expect(sentQueries()).toEqual([`A ${atZen}`])
      await health.measure(zen)
      expect(await askAbout(lookup, zen, '192.0.2.8')).toMatchObject(unlisted)
    },
  )

  test('leaves no false answer in the cache once it is usable again', async () => {
    const { lookup, server, clock, health } = await startScripted({
      'zen.spamhaus.org': (query) => answer(query, query.type === 'A' ? ['127.0.0.2'] : ['Everybody'], 86_400),
      'psbl.surriel.com': nothing,
    })
    expect(await askAbout(lookup)).toMatchObject({ listed: true })
    expect(await askAbout(lookup, psbl)).toMatchObject(unlisted)
    await health.measure(zen)
    await health.measure(psbl)
    expect(health.get(zen).status).toBe('wildcard')
    expect(health.get(psbl).status).toBe('silent')
    clock.advance(ANSWER_TTL_MS)
    server.behave(play({ '7.2.0.192.psbl.surriel.com': codes('127.0.0.2') }))
    await health.measure(zen)
    await health.measure(psbl)
    expect(fromCache({ lookup })).toBeNull()
    expect(fromCache({ lookup }, psbl)).toBeNull()
    expect(await askAbout(lookup)).toMatchObject(unlisted)
    expect(await askAbout(lookup, psbl)).toMatchObject({ listed: true })
  })
})

describe('the cache', () => {
  test('returns the result of the query without sending one', async () => {
    const { lookup, sentQueries } = await startScripted({
      [atZen]: listed('127.0.0.4', 'See https://lists.example/7'),
      '7.2.0.192.dnsbl.dronebl.org': codes('127.0.0.13'),
      '7.2.0.192.psbl.surriel.com': codes('127.0.0.77'),
      '7.2.0.192.bl.mailspike.net': () => ({ rcode: rcodes.servfail }),
      'example.com.multi.surbl.org': codes('127.0.0.32'),
    })
    const questions = lists.map((list) => [list, list.kind === 'ip' ? address : 'example.com'] as const)
    for (const [list, target] of questions) expect(fromCache({ lookup }, list, target)).toBeNull()
    const results = await Promise.all(questions.map(([list, target]) => askAbout(lookup, list, target)))
    const before = sentQueries().length
    const cached = questions.map(([list, target]) => fromCache({ lookup }, list, target))
    expect(cached).toEqual(results)
    expect(await Promise.all(questions.map(([list, target]) => askAbout(lookup, list, target)))).toEqual(results)
    expect(sentQueries().length).toBe(before)
  })

  test('returns null for a listing without a cached reason', async () => {
    const { lookup, clock } = await startScripted({
      [atZen]: (query) => answer(query, query.type === 'A' ? ['127.0.0.2'] : ['Reason'], query.type === 'A' ? 600 : 60),
    })
    await askAbout(lookup)
    clock.advance(2 * MINUTE)
    expect(fromCache({ lookup })).toBeNull()
  })

  test('keeps a refusal for five minutes and does not record it', async () => {
    const { lookup, dns, health, clock } = await startScripted({
      [atZen]: (query) => answer(query, ['127.255.255.254'], 3600),
    })
    await askAbout(lookup)
    expect(dns.peek(atZen, 'A')).toMatchObject({ kind: 'answer', ttl: 300 })
    await health.measure(zen)
    expect(fromCache({ lookup })).toBeNull()
    clock.advance(5 * MINUTE)
    expect(dns.peek(atZen, 'A')).toBeUndefined()
  })
})

describe('the budget of a list', () => {
  const only = (queries: number) => {
    let left = queries
    return { consume: () => left-- > 0 }
  }

  test('limits queries, and the result names it', async () => {
    const { lookup, budgets, sentQueries, health } = await startScripted()
    budgets.set('spamhaus-zen', only(2))
    const results = await Promise.all([1, 2, 3, 4].map((octet) => askAbout(lookup, zen, `192.0.2.${octet}`)))
    expect(results.map(({ error }) => error)).toEqual([null, null, 'refused', 'refused'])
    expect(results[3]).toMatchObject({
      listed: false,
      note: 'Not queried: today’s query budget for this list is used up.',
    })
    expect(sentQueries().length).toBe(2)
    expect(health.get(zen).status).toBe('ok')
    expect(await askAbout(lookup, psbl)).toMatchObject({ error: null })
  })

  test('is not consumed by cached answers', async () => {
    const { lookup, budgets } = await startScripted()
    budgets.set('spamhaus-zen', only(1))
    for (let time = 0; time < 3; time++) expect(await askAbout(lookup)).toMatchObject({ error: null })
  })

  test('is not consumed by a shared query in flight', async () => {
    const { lookup, budgets, sentQueries } = await startScripted()
    budgets.set('spamhaus-zen', only(1))
    const results = await Promise.all([1, 2, 3].map(() => askAbout(lookup)))
    expect(results.map(({ error }) => error)).toEqual([null, null, null])
    expect(sentQueries()).toEqual([`A ${atZen}`])
  })

  test('is consumed by queries for reasons too; without a reason, the result has the meaning of the code', async () => {
    const { lookup, budgets, sentQueries } = await startScripted({ [atZen]: listed('127.0.0.3', 'Reason') })
    budgets.set('spamhaus-zen', only(1))
    expect(await askAbout(lookup)).toMatchObject({
      listed: true,
      response: 'CSS: low-volume (snowshoe) spam source',
    })
    expect(sentQueries()).toEqual([`A ${atZen}`])
    budgets.set('spamhaus-zen', only(1))
    expect(await askAbout(lookup)).toMatchObject({ listed: true, response: 'Reason' })
  })

  test('is required: a list without one is not queried', async () => {
    const { lookup, budgets, sentQueries } = await startScripted()
    budgets.delete('spamhaus-zen')
    expect(await askAbout(lookup)).toMatchObject({ error: 'refused' })
    expect(sentQueries()).toEqual([])
  })
})

describe('an aborted lookup', () => {
  test('ends at once and leaves nothing behind', async () => {
    const { lookup, server, dns } = await startScripted({ 'zen.spamhaus.org': silence }, { timeoutMs: 60_000 })
    const leaving = new AbortController()
    const before = server.queries.length
    const results = ['192.0.2.1', '192.0.2.2'].map((target) =>
      queryList(lookup, zen, { target: parseTarget(target), owner: 'caller', signal: leaving.signal }),
    )
    await server.seen(before + 2)
    leaving.abort()
    for (const result of await Promise.all(results)) expect(result).toMatchObject({ listed: false, error: 'timeout' })
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
    expect(dns.peek('1.2.0.192.zen.spamhaus.org', 'A')).toBeUndefined()
  })

  test('does not wait for a health check', async () => {
    const { lookup, server, health } = await startScripted({}, { measured: false, timeoutMs: 60_000 })
    server.behave(silence)
    const leaving = new AbortController()
    const before = server.queries.length
    const result = queryList(lookup, zen, { target: parseTarget(address), owner: 'caller', signal: leaving.signal })
    await server.seen(before + 3)
    leaving.abort()
    expect(await result).toMatchObject({ listed: false, error: 'timeout' })
    expect(health.get(zen).status).toBe('unknown')
    expect(server.queries.length).toBe(before + 3)
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
  })

  test('that waits for many health checks leaves no listener and raises no leak warning', async () => {
    const { lookup } = await startScripted({}, { measured: false })
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const staying = new AbortController()
    const targets = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((target) => parseTarget(target))
    await Promise.all(
      targets.flatMap((target) =>
        lists.map((list) => queryList(lookup, list, { target, owner: 'caller', signal: staying.signal })),
      ),
    )
    expect(getEventListeners(staying.signal, 'abort')).toEqual([])
    // Node.js emits warnings in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test.each([
    ['is not sent to a list with known health', true],
    ['does not wait for a list with unknown health', false],
  ])('that was aborted before the start %s', async (_what, measured) => {
    const { lookup, sentQueries, server } = await startScripted({}, { measured, timeoutMs: 60_000 })
    server.behave(silence)
    const question = { target: parseTarget(address), owner: 'caller', signal: AbortSignal.abort() } as const
    expect(await queryList(lookup, zen, question)).toMatchObject({ listed: false, error: 'timeout' })
    expect(sentQueries()).not.toContain(`A ${atZen}`)
  })
})

test('queries a real rbldnsd', async (context) => {
  requireRbldnsd(context)
  const daemon = await startRbldnsd(
    listZones({
      'zen.spamhaus.org': { '192.0.2.7': ['127.0.0.3', 'See https://lists.example/$'] },
      'dnsbl.dronebl.org': { '192.0.2.0/24': ['127.0.0.13', ''] },
      'multi.surbl.org': { '.example.com': ['127.0.0.64', 'Listed: $'] },
      'black.uribl.com': { 'example.org': ['127.0.0.2', 'Black'] },
    }),
  )
  onTestFinished(() => daemon.stop())
  const { lookup } = startCore(daemon)
  expect(await askAbout(lookup)).toMatchObject({ listed: true, response: 'See https://lists.example/192.0.2.7' })
  expect(await askAbout(lookup, drone)).toMatchObject({ listed: true, response: 'Brute-force attacker' })
  expect(await askAbout(lookup, psbl)).toMatchObject(unlisted)
  expect(await askAbout(lookup, surbl, 'a.example.com')).toMatchObject({ listed: true, codes: ['127.0.0.64'] })
  expect(await askAbout(lookup, surbl, 'example.org')).toMatchObject(unlisted)
  expect(await askAbout(lookup, uribl, 'www.example.org')).toMatchObject({ listed: true, response: 'Black' })
  for (const list of lists.filter(({ kind }) => kind === 'ip')) {
    const expected =
      list === drone ? { listed: false, note: 'Sample entry (informational, not a listing).' } : { listed: true }
    expect(await askAbout(lookup, list, '127.0.0.2')).toMatchObject({ ...expected, error: null })
  }
})
