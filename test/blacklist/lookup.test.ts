import { getEventListeners } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ANSWER_LIFETIME } from '../../src/blacklist/health.ts'
import { blacklists } from '../../src/blacklist/list.ts'
import { ask, askCache, type Lookup } from '../../src/blacklist/lookup.ts'
import type { BlacklistResult } from '../../src/blacklist/report.ts'
import { parseTarget } from '../../src/blacklist/target.ts'
import { MINUTE } from '../../src/time.ts'
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
  return ask(lookup, list, { target: parseTarget(target), signal: patient() })
}

function fromCache({ lookup }: Pick<Rig, 'lookup'>, list = zen, target = address) {
  return askCache(lookup, list, parseTarget(target))
}

const unlisted = { listed: false, policy: false, response: null, error: null, codes: [], note: null }

describe('an answer', () => {
  test('that the name does not exist clears the target', async () => {
    const { lookup, asked } = await startScripted()
    expect(await askAbout(lookup)).toEqual({
      name: 'Spamhaus ZEN',
      description: zen.description,
      delistUrl: zen.delistUrl(address),
      ...unlisted,
    })
    expect(asked()).toEqual([`A ${atZen}`])
  })

  test('with a code lists the target, for the list’s own reason', async () => {
    const { lookup, asked } = await startScripted({ [atZen]: listed('127.0.0.4', 'See https://lists.example/7') })
    expect(await askAbout(lookup)).toMatchObject({
      listed: true,
      response: 'See https://lists.example/7',
      error: null,
      codes: ['127.0.0.4'],
      note: 'XBL: infected or exploited, seen sending spam or malware (CBL)',
    })
    expect(asked()).toEqual([`A ${atZen}`, `TXT ${atZen}`])
  })

  test.each<[string, Behaviour]>([
    ['has no reason', codes('127.0.0.2')],
    ['has an empty reason', listed('127.0.0.2', ' \n ')],
    [
      'refuses to give a reason',
      (query) => (query.type === 'A' ? answer(query, ['127.0.0.2']) : { rcode: rcodes.refused }),
    ],
  ])('that %s lists the target by what its code means', async (_what, behaviour) => {
    const { lookup } = await startScripted({ [atZen]: behaviour })
    expect(await askAbout(lookup)).toMatchObject({
      listed: true,
      response: 'SBL: a source of spam, or of services for spammers',
      codes: ['127.0.0.2'],
      note: null,
    })
  })

  test.each<[string, Behaviour, Partial<BlacklistResult>]>([
    ['refuses by its code', codes('127.255.255.254'), { error: 'refused', codes: ['127.255.255.254'] }],
    ['is 127.0.0.1', codes('127.0.0.1'), { error: 'invalid_answer', codes: ['127.0.0.1'] }],
    ['is of a parked domain', codes('91.195.240.117'), { error: 'invalid_answer', codes: ['91.195.240.117'] }],
    ['is of a block page', codes('0.0.0.0'), { error: 'invalid_answer', codes: ['0.0.0.0'] }],
    ['is a code that nobody knows', codes('127.0.0.77'), { error: 'invalid_answer', codes: ['127.0.0.77'] }],
    ['is SERVFAIL', () => ({ rcode: rcodes.servfail }), { error: 'unreachable', codes: [] }],
    [
      'is REFUSED',
      () => ({ rcode: rcodes.refused }),
      { error: 'refused', note: 'The query was refused (DNS REFUSED).' },
    ],
    ['is FORMERR', () => ({ rcode: rcodes.formatError }), { error: 'unreachable' }],
    ['never comes', silence, { error: 'timeout', note: 'The list did not answer in time.' }],
    ['has a wrong id', (query) => ({ ...answer(query, ['127.0.0.2']), id: query.id ^ 1 }), { error: 'timeout' }],
    [
      'answers another question',
      (query) => ({ ...answer(query, ['127.0.0.2']), question: { name: `x.${query.name}`, type: 'A' } }),
      { error: 'timeout' },
    ],
    ['comes from a stranger', (query) => ({ ...answer(query, ['127.0.0.2']), forged: true }), { error: 'timeout' }],
    [
      'is about another name',
      () => ({ answers: [{ name: 'other.zen.spamhaus.org', type: 'A', data: '127.0.0.2' }] }),
      unlisted,
    ],
  ])('that %s lists nobody', async (_what, behaviour, expected) => {
    const { lookup, asked } = await startScripted(
      { [atZen]: behaviour },
      expected.error === 'timeout' ? { timeoutMs: 100 } : {},
    )
    const result = await askAbout(lookup)
    expect(result).toMatchObject({ listed: false, response: null, ...expected })
    if (expected.error) expect(result.note).toMatch(/\.$/)
    expect(asked()).not.toContain(`TXT ${atZen}`)
  })

  test('that is too long for UDP is read over TCP', async () => {
    const over: Behaviour = (query) => (query.transport === 'udp' ? truncated : listed('127.0.0.3', 'over TCP')(query))
    const { lookup, server } = await startScripted({ [atZen]: over })
    expect(await askAbout(lookup)).toMatchObject({ listed: true, response: 'over TCP', codes: ['127.0.0.3'] })
    expect(server.queries.slice(-1)).toMatchObject([{ type: 'TXT', transport: 'tcp' }])
  })

  test('is believed after forgeries that came before it', async () => {
    const forged: Behaviour = (query) => [
      { ...answer(query, ['127.0.0.2']), id: query.id ^ 1 },
      { ...answer(query, ['127.0.0.2']), forged: true },
      { ...answer(query, ['127.0.0.2']), question: { name: 'other.example', type: 'A' } },
      { rcode: rcodes.nxdomain },
    ]
    const { lookup } = await startScripted({ [atZen]: forged })
    expect(await askAbout(lookup)).toMatchObject(unlisted)
  })

  test('that is slow counts, as long as it comes in time', async () => {
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

  test('of the PBL is one of policy', async () => {
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
  /** A listing with one TXT record of these strings. */
  const withTexts =
    (data: readonly string[] | Buffer): Behaviour =>
    (query) =>
      query.type === 'A'
        ? answer(query, ['127.0.0.2'])
        : { answers: [{ name: query.name, type: 'TXT', data: Buffer.isBuffer(data) ? data : [...data] }] }

  test('from a stranger is made one line, of ordinary characters and a bounded length', async () => {
    const hostile = `<b>&\u0000\u001b[31m\r\n \u202edelist\u200b \ud83d\ude00${'x'.repeat(200)}`
    const long = [hostile, ...Array<string>(5).fill('\ud83d\ude00'.repeat(60))]
    const { lookup } = await startScripted({ [atZen]: withTexts(long) })
    const { response } = await askAbout(lookup)
    expect(response).toMatch(/^<b>& \[31m delist \u{1f600}x{200}\u{1f600}+$/u)
    expect([...(response ?? '')].length).toBe(500)
  })

  test('that is not UTF-8 is shown as far as it can be', async () => {
    const { lookup } = await startScripted({ [atZen]: withTexts(Buffer.from('caf\xe9', 'latin1')) })
    expect((await askAbout(lookup)).response).toBe('caf\ufffd')
  })

  test('that never comes delays the listing by a second at most', async () => {
    const mute: Behaviour = (query) => (query.type === 'A' ? answer(query, ['127.0.0.2']) : [])
    const { lookup } = await startScripted({ [atZen]: mute }, { timeoutMs: 60_000 })
    expect(await askAbout(lookup)).toMatchObject({ listed: true, codes: ['127.0.0.2'], note: null })
  })

  test('never shows the key that the list was asked with', async () => {
    const key = 'abcdefghij0123456789klmnop'
    const keyed = blacklists(key)
    const dqs = listOf('spamhaus-zen', keyed)
    const zone = `${key}.zen.dq.spamhaus.net`
    const repeating: Behaviour = (query) =>
      query.type === 'A' ? answer(query, ['127.0.0.2']) : answer(query, [`${query.name} is listed`])
    const { lookup, logged, asked, health } = await startScripted({ [zone]: repeating }, { lists: keyed })
    const result = await askAbout(lookup, dqs)
    expect(asked()).toEqual([`A 7.2.0.192.${zone}`, `TXT 7.2.0.192.${zone}`])
    expect(result.response).toBe('7.2.0.192.zen.dq.spamhaus.net is listed')
    expect((await health.probe(dqs)).status).toBe('wildcard')
    const ill = await askAbout(lookup, dqs)
    expect(JSON.stringify([result, ill, health.of(dqs), logged])).not.toContain(key)
  })
})

describe('a domain', () => {
  test('is asked for as SURBL and URIBL want it', async () => {
    const { lookup, asked } = await startScripted({
      'b.blogspot.com.black.uribl.com': listed('127.0.0.2', 'Spammy'),
      'a.b.blogspot.com.multi.surbl.org': listed('127.0.0.80', 'abuse'),
    })
    expect(await askAbout(lookup, uribl, 'a.b.blogspot.com')).toMatchObject({ listed: true, response: 'Spammy' })
    expect(await askAbout(lookup, surbl, 'a.b.blogspot.com')).toMatchObject({
      listed: true,
      response: 'abuse',
      note: 'MW: malware; ABUSE: seen in spam',
    })
    expect(asked().filter((query) => query.startsWith('A '))).toEqual([
      'A blogspot.com.black.uribl.com',
      'A b.blogspot.com.black.uribl.com',
      'A a.b.blogspot.com.multi.surbl.org',
    ])
  })

  test('is not cleared when one of its names got no answer', async () => {
    const { lookup } = await startScripted({
      'blogspot.com.black.uribl.com': () => ({ rcode: rcodes.servfail }),
      'b.blogspot.com.black.uribl.com': nothing,
    })
    expect(await askAbout(lookup, uribl, 'a.b.blogspot.com')).toMatchObject({ listed: false, error: 'unreachable' })
  })

  test('is listed when one of its names is, though the other got no answer', async () => {
    const { lookup } = await startScripted({
      'blogspot.com.black.uribl.com': () => ({ rcode: rcodes.servfail }),
      'b.blogspot.com.black.uribl.com': codes('127.0.0.2'),
    })
    expect(await askAbout(lookup, uribl, 'a.b.blogspot.com')).toMatchObject({ listed: true, error: null })
  })

  test('that is a disposable mail domain is remarked on, not listed', async () => {
    const { lookup } = await startScripted({ 'example.com.multi.surbl.org': codes('127.0.0.4') })
    expect(await askAbout(lookup, surbl, 'example.com')).toMatchObject({
      ...unlisted,
      codes: ['127.0.0.4'],
      note: 'DM: a disposable mail domain (not an accusation).',
    })
  })
})

describe('an IPv6 address', () => {
  const target = '2001:db8::7'
  const name = (zone: string) => `7${'.0'.repeat(23)}.8.b.d.0.1.0.0.2.${zone}`

  test('is asked for by its nibbles where the list has IPv6', async () => {
    const { lookup, asked } = await startScripted({ [name('zen.spamhaus.org')]: codes('127.0.0.3') })
    expect(await askAbout(lookup, zen, target)).toMatchObject({ listed: true, codes: ['127.0.0.3'] })
    expect(asked()[0]).toBe(`A ${name('zen.spamhaus.org')}`)
  })

  test('is not asked for where the list has none, and is said to be unknown, healthy list or not', async () => {
    const { lookup, asked, health } = await startScripted({}, { probed: false })
    const unsupported = { listed: false, error: 'unsupported', note: 'This list is not known to hold IPv6 addresses.' }
    expect(await askAbout(lookup, psbl, target)).toMatchObject(unsupported)
    expect(fromCache({ lookup }, psbl, target)).toMatchObject(unsupported)
    expect(asked()).toEqual([])
    health.refused(psbl, 'Go away.')
    expect(await askAbout(lookup, psbl, target)).toMatchObject(unsupported)
  })

  test('is not cleared by the silence of a list that does not say whether it has IPv6, but listed by its word', async () => {
    const { lookup } = await startScripted({ [name('dnsbl.dronebl.org')]: codes('127.0.0.13') })
    expect(await askAbout(lookup, drone, '2001:db8::8')).toMatchObject({
      listed: false,
      error: 'unsupported',
      note: 'Not listed, but this list does not say whether it holds IPv6 addresses.',
    })
    expect(await askAbout(lookup, drone, target)).toMatchObject({ listed: true, response: 'Brute-force attacker' })
  })
})

describe('an ill list', () => {
  test.each<[string, Behaviour, string]>([
    ['wildcard', codes('127.0.0.2'), 'invalid_answer'],
    ['parked', codes('91.195.240.117'), 'invalid_answer'],
    ['silent', nothing, 'invalid_answer'],
    ['refusing', codes('127.255.255.254'), 'refused'],
    ['refused by the resolver', () => ({ rcode: rcodes.refused }), 'refused'],
    ['failing', () => ({ rcode: rcodes.servfail }), 'unreachable'],
  ])('that is %s is not asked, and not believed', async (_status, behaviour, error) => {
    const { lookup, server, health } = await startScripted({ 'zen.spamhaus.org': behaviour }, { probed: false })
    await health.known(zen)
    const before = server.queries.length
    const result = await askAbout(lookup)
    expect(result).toMatchObject({ listed: false, response: null, error, codes: [], note: health.of(zen).detail })
    expect(fromCache({ lookup })).toEqual(result)
    expect(server.queries.length).toBe(before)
  })

  test('is found out before it is asked for the first time', async () => {
    const { lookup } = await startScripted({ 'zen.spamhaus.org': codes('127.0.0.2') }, { probed: false })
    expect(await askAbout(lookup)).toMatchObject({ listed: false, error: 'invalid_answer' })
  })

  test.each<[string, Behaviour, string]>([
    ['its code', codes('127.255.255.255'), 'The list refuses this resolver for asking too much.'],
    ['REFUSED', () => ({ rcode: rcodes.refused }), 'The query was refused (DNS REFUSED).'],
  ])('that refuses an ordinary query by %s is left alone until it is probed', async (_how, behaviour, note) => {
    const { lookup, asked, health } = await startScripted({ [atZen]: behaviour })
    expect(await askAbout(lookup)).toMatchObject({ error: 'refused', note })
    expect(await askAbout(lookup, zen, '192.0.2.8')).toMatchObject({ error: 'refused', note, codes: [] })
    expect(asked()).toEqual([`A ${atZen}`])
    await health.probe(zen)
    expect(await askAbout(lookup, zen, '192.0.2.8')).toMatchObject(unlisted)
  })

  test('has left nothing false in the cache when it is believed again', async () => {
    const { lookup, server, clock, health } = await startScripted({
      'zen.spamhaus.org': (query) => answer(query, query.type === 'A' ? ['127.0.0.2'] : ['Everybody'], 86_400),
      'psbl.surriel.com': nothing,
    })
    expect(await askAbout(lookup)).toMatchObject({ listed: true })
    expect(await askAbout(lookup, psbl)).toMatchObject(unlisted)
    await health.probe(zen)
    await health.probe(psbl)
    expect(health.of(zen).status).toBe('wildcard')
    expect(health.of(psbl).status).toBe('silent')
    clock.advance(ANSWER_LIFETIME)
    server.behave(play({ '7.2.0.192.psbl.surriel.com': codes('127.0.0.2') }))
    await health.probe(zen)
    await health.probe(psbl)
    expect(fromCache({ lookup })).toBeNull()
    expect(fromCache({ lookup }, psbl)).toBeNull()
    expect(await askAbout(lookup)).toMatchObject(unlisted)
    expect(await askAbout(lookup, psbl)).toMatchObject({ listed: true })
  })
})

describe('the cache', () => {
  test('gives what asking gave, and costs no query', async () => {
    const { lookup, asked } = await startScripted({
      [atZen]: listed('127.0.0.4', 'See https://lists.example/7'),
      '7.2.0.192.dnsbl.dronebl.org': codes('127.0.0.13'),
      '7.2.0.192.psbl.surriel.com': codes('127.0.0.77'),
      '7.2.0.192.bl.mailspike.net': () => ({ rcode: rcodes.servfail }),
      'example.com.multi.surbl.org': codes('127.0.0.32'),
    })
    const questions = lists.map((list) => [list, list.kind === 'ip' ? address : 'example.com'] as const)
    for (const [list, target] of questions) expect(fromCache({ lookup }, list, target)).toBeNull()
    const results = await Promise.all(questions.map(([list, target]) => askAbout(lookup, list, target)))
    const before = asked().length
    const cached = questions.map(([list, target]) => fromCache({ lookup }, list, target))
    expect(cached).toEqual(results)
    expect(await Promise.all(questions.map(([list, target]) => askAbout(lookup, list, target)))).toEqual(results)
    expect(asked().length).toBe(before)
  })

  test('gives nothing for a listing whose reason is not known', async () => {
    const { lookup, clock } = await startScripted({
      [atZen]: (query) => answer(query, query.type === 'A' ? ['127.0.0.2'] : ['Reason'], query.type === 'A' ? 600 : 60),
    })
    await askAbout(lookup)
    clock.advance(2 * MINUTE)
    expect(fromCache({ lookup })).toBeNull()
  })

  test('keeps a refusal for five minutes, and leaves telling of it to those who ask', async () => {
    const { lookup, dns, health, clock } = await startScripted({
      [atZen]: (query) => answer(query, ['127.255.255.254'], 3600),
    })
    await askAbout(lookup)
    expect(dns.peek(atZen, 'A')).toMatchObject({ kind: 'answer', ttl: 300 })
    await health.probe(zen)
    expect(fromCache({ lookup })).toBeNull()
    clock.advance(5 * MINUTE)
    expect(dns.peek(atZen, 'A')).toBeUndefined()
  })
})

describe('the budget of a list', () => {
  const only = (queries: number) => {
    let left = queries
    return { take: () => left-- > 0 }
  }

  test('bounds what is sent, and the result says so', async () => {
    const { lookup, budgets, asked, health } = await startScripted()
    budgets.set('spamhaus-zen', only(2))
    const results = await Promise.all([1, 2, 3, 4].map((octet) => askAbout(lookup, zen, `192.0.2.${octet}`)))
    expect(results.map(({ error }) => error)).toEqual([null, null, 'refused', 'refused'])
    expect(results[3]).toMatchObject({
      listed: false,
      note: 'Not asked: today’s share of queries that this list allows is used up.',
    })
    expect(asked().length).toBe(2)
    expect(health.of(zen).status).toBe('ok')
    expect(await askAbout(lookup, psbl)).toMatchObject({ error: null })
  })

  test('is not spent on what is cached', async () => {
    const { lookup, budgets } = await startScripted()
    budgets.set('spamhaus-zen', only(1))
    for (let time = 0; time < 3; time++) expect(await askAbout(lookup)).toMatchObject({ error: null })
  })

  test('is not spent on what is under way', async () => {
    const { lookup, budgets, asked } = await startScripted()
    budgets.set('spamhaus-zen', only(1))
    const results = await Promise.all([1, 2, 3].map(() => askAbout(lookup)))
    expect(results.map(({ error }) => error)).toEqual([null, null, null])
    expect(asked()).toEqual([`A ${atZen}`])
  })

  test('is spent on reasons too: without one, the code tells', async () => {
    const { lookup, budgets, asked } = await startScripted({ [atZen]: listed('127.0.0.3', 'Reason') })
    budgets.set('spamhaus-zen', only(1))
    expect(await askAbout(lookup)).toMatchObject({
      listed: true,
      response: 'CSS: sends spam in small, spread-out amounts',
    })
    expect(asked()).toEqual([`A ${atZen}`])
    budgets.set('spamhaus-zen', only(1))
    expect(await askAbout(lookup)).toMatchObject({ listed: true, response: 'Reason' })
  })

  test('is asked of every list: one without a budget is not asked', async () => {
    const { lookup, budgets, asked } = await startScripted()
    budgets.delete('spamhaus-zen')
    expect(await askAbout(lookup)).toMatchObject({ error: 'refused' })
    expect(asked()).toEqual([])
  })
})

describe('an asker who leaves', () => {
  test('is answered at once, and leaves nothing behind', async () => {
    const { lookup, server, dns } = await startScripted({ 'zen.spamhaus.org': silence }, { timeoutMs: 60_000 })
    const leaving = new AbortController()
    const before = server.queries.length
    const results = ['192.0.2.1', '192.0.2.2'].map((target) =>
      ask(lookup, zen, { target: parseTarget(target), signal: leaving.signal }),
    )
    await server.seen(before + 2)
    leaving.abort()
    for (const result of await Promise.all(results)) expect(result).toMatchObject({ listed: false, error: 'timeout' })
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
    expect(dns.peek('1.2.0.192.zen.spamhaus.org', 'A')).toBeUndefined()
  })

  test('does not wait for a list to be probed', async () => {
    const { lookup, server, health } = await startScripted({}, { probed: false, timeoutMs: 60_000 })
    server.behave(silence)
    const leaving = new AbortController()
    const before = server.queries.length
    const result = ask(lookup, zen, { target: parseTarget(address), signal: leaving.signal })
    await server.seen(before + 3)
    leaving.abort()
    expect(await result).toMatchObject({ listed: false, error: 'timeout' })
    expect(health.of(zen).status).toBe('unknown')
    expect(server.queries.length).toBe(before + 3)
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([])
  })

  test('who waits for many lists to be probed leaves no listener, and raises no warning of a leak', async () => {
    const { lookup } = await startScripted({}, { probed: false })
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const staying = new AbortController()
    const targets = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map((target) => parseTarget(target))
    await Promise.all(
      targets.flatMap((target) => lists.map((list) => ask(lookup, list, { target, signal: staying.signal }))),
    )
    expect(getEventListeners(staying.signal, 'abort')).toEqual([])
    // Warnings are emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test.each([
    ['asks nothing of a list that is known', true],
    ['does not wait for one that is not', false],
  ])('who had left before %s', async (_what, probed) => {
    const { lookup, asked, server } = await startScripted({}, { probed, timeoutMs: 60_000 })
    server.behave(silence)
    const question = { target: parseTarget(address), signal: AbortSignal.abort() } as const
    expect(await ask(lookup, zen, question)).toMatchObject({ listed: false, error: 'timeout' })
    expect(asked()).not.toContain(`A ${atZen}`)
  })
})

test('the lists of a real daemon are read', async (context) => {
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
    const expected = list === drone ? { listed: false, note: 'A sample entry (not an accusation).' } : { listed: true }
    expect(await askAbout(lookup, list, '127.0.0.2')).toMatchObject({ ...expected, error: null })
  }
})
