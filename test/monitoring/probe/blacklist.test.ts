import { describe, expect, test } from 'vitest'
import type { MonitorState } from '../../../src/generated/prisma/enums.ts'
import type { BlacklistOptions } from '../../../src/monitoring/probe/blacklist.ts'
import { blacklist } from '../../../src/monitoring/probe/blacklist.ts'
import type { ProbeDetail } from '../../../src/monitoring/result/probe-result.ts'
import { codes, listed, startCore, startScripted } from '../../blacklist/setup.ts'
import { answer, type Behaviour, rcodes, silence } from '../../support/dns-server.ts'
import { hostZone, listZones } from '../../support/lists.ts'
import { requireRbldnsd, startRbldnsd } from '../../support/rbldnsd.ts'
import { runWith, startTools } from './run.ts'

const options = (given: object): BlacklistOptions => blacklist.options.parse({ target: '192.0.2.7', ...given })
const of = (zone: string) => `7.2.0.192.${zone}`
const refusing: Behaviour = () => ({ rcode: rcodes.refused })
const host =
  (...addresses: readonly string[]): Behaviour =>
  (query) =>
    query.type === 'A' ? answer(query, addresses) : {}

interface Given {
  readonly options?: object
  readonly state?: MonitorState
  readonly lastDown?: ProbeDetail
  readonly timeoutMs?: number
}

/** Runs the probe with healthy lists that list only their test entries and the entries of the script. */
async function probe(script: Readonly<Record<string, Behaviour>>, { options: chosen = {}, ...given }: Given = {}) {
  const { checker } = await startScripted(script)
  const { tools } = await startTools()
  return blacklist.run(options(chosen), runWith({ ...tools, checker }, given))
}

describe('options', () => {
  test('have defaults, and targets are normalized', () => {
    expect(options({})).toEqual({ target: '192.0.2.7', acknowledged: [] })
    expect(options({ target: ' Bücher.Example. ' }).target).toBe('xn--bcher-kva.example')
    expect(options({ acknowledged: ['psbl', 'spamcop', 'psbl'] }).acknowledged).toEqual(['psbl', 'spamcop'])
  })

  test.each([
    [{ target: '' }, 'Send an IP address or a domain name as the target.'],
    [
      { target: '10.0.0.1' },
      '10.0.0.1 is not a public address (private). Send an address that the internet can reach.',
    ],
    [{ target: 'https://example.com/' }, 'This is a URL. Send only its host. Send example.com instead.'],
    [{ acknowledged: ['sorbs'] }, /^must be the id of a list: spamhaus-zen, spamcop, /],
  ])('refuse %j', (given, message) => {
    const read = blacklist.options.safeParse({ target: '192.0.2.7', ...given })
    expect(read.error?.issues.map((issue) => issue.message)).toEqual([
      typeof message === 'string' ? message : expect.stringMatching(message),
    ])
  })
})

describe('an address', () => {
  test('that is on no list is UP', async () => {
    expect(await probe({})).toEqual({
      outcome: 'UP',
      message: 'Listed on none of 6 lists that answered',
      latencyMs: null,
      detail: { listedOn: [], failedLists: [] },
      suspect: null,
    })
  })

  test('that is listed is DOWN', async () => {
    const script = {
      [of('psbl.surriel.com')]: listed('127.0.0.2', 'Trapped'),
      [of('zen.spamhaus.org')]: codes('127.0.0.2', '127.0.0.10'),
    }
    expect(await probe(script)).toEqual({
      outcome: 'DOWN',
      message: 'Listed on Spamhaus ZEN, PSBL',
      latencyMs: null,
      detail: { listedOn: ['spamhaus-zen', 'psbl'], failedLists: [] },
      suspect: null,
    })
  })

  test('is DOWN even if other lists fail', async () => {
    const script = { [of('psbl.surriel.com')]: codes('127.0.0.2'), [of('bl.spamcop.net')]: refusing }
    expect(await probe(script)).toMatchObject({
      outcome: 'DOWN',
      message: 'Listed on PSBL',
      detail: { listedOn: ['psbl'], failedLists: ['spamcop'] },
    })
  })

  test('is UP when all its listings are acknowledged, else DOWN', async () => {
    const script = { [of('psbl.surriel.com')]: codes('127.0.0.2') }
    const acknowledged = { options: { acknowledged: ['psbl'] } }
    expect(await probe(script, acknowledged)).toMatchObject({
      outcome: 'UP',
      message: 'Listed on none of 5 lists that answered; acknowledged: PSBL',
      detail: { listedOn: [] },
    })
    const both = { ...script, [of('bl.spamcop.net')]: codes('127.0.0.2') }
    expect(await probe(both, acknowledged)).toMatchObject({ outcome: 'DOWN', message: 'Listed on SpamCop' })
  })

  test.each<[string, Behaviour]>([
    ['refuses queries', refusing],
    ['refuses queries with a code', codes('127.255.255.254')],
    ['returns an undefined code', codes('192.0.2.1')],
  ])('is not DOWN because of a list that %s', async (_, behaviour) => {
    expect(await probe({ [of('zen.spamhaus.org')]: behaviour })).toMatchObject({
      outcome: 'UP',
      message: 'Listed on none of 5 lists that answered; no usable answer from Spamhaus ZEN',
      detail: { failedLists: ['spamhaus-zen'] },
    })
  })

  test('is UNKNOWN when no list answers by the deadline', async () => {
    const result = await probe({ '7.2.0.192': silence, org: silence, net: silence, com: silence }, { timeoutMs: 500 })
    expect(result).toMatchObject({ outcome: 'UNKNOWN' })
    expect(result.message).toMatch(/^No usable answer from Spamhaus ZEN, SpamCop, /)
  })

  test('of IPv6 that is on no list is UP, even though some lists have no IPv6 data', async () => {
    const target = { options: { target: '2001:db8::7' } }
    expect(await probe({}, target)).toMatchObject({ outcome: 'UP', detail: { failedLists: [] } })
    expect(await probe({}, { ...target, state: 'DOWN' })).toMatchObject({ outcome: 'UP' })
  })
})

describe('an address that was listed', () => {
  const script = { [of('psbl.surriel.com')]: refusing }

  test('is UP when no list lists it anymore', async () => {
    expect(await probe({}, { state: 'DOWN' })).toMatchObject({ outcome: 'UP' })
  })

  test('is UNKNOWN while a list that may still list it fails', async () => {
    const unknown = {
      outcome: 'UNKNOWN',
      message: 'Unknown whether it is still listed: no usable answer from PSBL',
      detail: { listedOn: [], failedLists: ['psbl'] },
    }
    expect(await probe(script, { state: 'DOWN' })).toMatchObject(unknown)
    expect(await probe(script, { state: 'DOWN', lastDown: { listedOn: ['psbl', 'spamcop'] } })).toMatchObject(unknown)
  })

  test('is UP while a list fails that did not list it or whose listing is acknowledged', async () => {
    const up = { outcome: 'UP' }
    expect(await probe(script, { state: 'DOWN', lastDown: { listedOn: ['spamcop'] } })).toMatchObject(up)
    expect(await probe(script, { state: 'DOWN', options: { acknowledged: ['psbl'] } })).toMatchObject(up)
  })
})

describe('a domain', () => {
  const target = { options: { target: 'www.example.com' } }

  test('is DOWN because of its own listing, or the listings of its addresses', async () => {
    const script = {
      'www.example.com': host('192.0.2.7', '192.0.2.8'),
      'www.example.com.multi.surbl.org': codes('127.0.0.64'),
      [of('bl.spamcop.net')]: codes('127.0.0.2'),
    }
    expect(await probe(script, target)).toMatchObject({
      outcome: 'DOWN',
      message: 'Listed on SURBL multi, SpamCop (192.0.2.7)',
      detail: { listedOn: ['surbl-multi', 'spamcop'] },
    })
  })

  test('is not DOWN because of a policy entry for its web server (PBL)', async () => {
    const script = { 'www.example.com': host('192.0.2.7'), [of('zen.spamhaus.org')]: codes('127.0.0.10') }
    expect(await probe(script, target)).toMatchObject({
      outcome: 'UP',
      message: 'Reported for abuse by none of 8 lists that answered; Spamhaus ZEN (192.0.2.7, policy entry)',
    })
  })

  test('that does not exist is not reported as unlisted, and is DOWN if its name is listed', async () => {
    const script = { 'www.example.com': (() => ({ rcode: rcodes.nxdomain })) as Behaviour }
    expect(await probe(script, target)).toMatchObject({
      outcome: 'UNKNOWN',
      message: expect.stringMatching(/^www\.example\.com does not exist \(NXDOMAIN\): /),
    })
    expect(await probe({ ...script, 'www.example.com.multi.surbl.org': codes('127.0.0.64') }, target)).toMatchObject({
      outcome: 'DOWN',
    })
    expect(await probe({ 'www.example.com': () => ({}) }, target)).toMatchObject({ outcome: 'UP' })
  })

  test('whose addresses cannot be resolved is judged by its name', async () => {
    const script = { 'www.example.com': refusing }
    expect(await probe(script, target)).toMatchObject({
      outcome: 'UP',
      message: 'Listed on none of 2 lists that answered; its addresses could not be resolved',
    })
    expect(await probe(script, { ...target, state: 'DOWN' })).toMatchObject({
      outcome: 'UNKNOWN',
      message: 'Unknown whether it is still listed: its addresses could not be resolved',
    })
  })
})

test('listings of an address and a domain that rbldnsd serves are found', async (given) => {
  requireRbldnsd(given)
  const daemon = await startRbldnsd([
    ...listZones({
      'bl.spamcop.net': { '192.0.2.7': ['127.0.0.2', 'Reported'] },
      'black.uribl.com': { 'example.net': ['127.0.0.2', 'Spamvertised'] },
    }),
    hostZone('www.example.net', ['192.0.2.8']),
  ])
  try {
    const { checker } = startCore(daemon)
    const { tools } = await startTools()
    const find = (target: string) => blacklist.run(options({ target }), runWith({ ...tools, checker }))
    expect(await find('192.0.2.7')).toMatchObject({ outcome: 'DOWN', message: 'Listed on SpamCop' })
    expect(await find('192.0.2.8')).toMatchObject({ outcome: 'UP' })
    expect(await find('www.example.net')).toMatchObject({ outcome: 'DOWN', message: 'Listed on URIBL black' })
  } finally {
    await daemon.stop()
  }
})
