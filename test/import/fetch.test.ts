import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/core/errors.ts'
import { fetchSource } from '../../src/import/fetch.ts'
import type { Source } from '../../src/import/source-names.ts'
import { translate } from '../../src/import/sources.ts'
import type { Outbound, OutboundRequest } from '../../src/network/outbound/outbound.ts'
import { createSend } from '../../src/network/outbound/send.ts'
import { noon } from '../support/context.ts'
import { plainOf } from './setup.ts'

/** A response that asks for a pause. */
class Limited {
  readonly status: number
  readonly retryAfter: string

  constructor(retryAfter: string, status = 429) {
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** A fake outbound client that answers by address and records requests. */
function answering(answer: (url: string, body: string) => unknown) {
  const asked: OutboundRequest[] = []
  const request = async (sent: OutboundRequest) => {
    asked.push(sent)
    const value = answer(sent.url, String(sent.body ?? ''))
    const limited = value instanceof Limited ? value : null
    const status = limited?.status ?? (typeof value === 'number' ? value : 200)
    const headers = limited ? { 'retry-after': limited.retryAfter } : {}
    const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
    return { kind: 'answer', status, headers, body, complete: true } as Awaited<ReturnType<Outbound['request']>>
  }
  const waited: number[] = []
  const limits = { requests: 150, deadlineMs: 60_000, wait: async (ms: number) => waited.push(ms), now: () => noon }
  const file = async (source: Source, { address = '', key = 'secret' } = {}) =>
    JSON.parse(Buffer.from(await fetchSource(createSend({ request }), source, { address, key }, limits)).toString())
  const fetched = async (source: Source, { address = '', key = 'secret' } = {}) => {
    const file = await fetchSource(createSend({ request }), source, { address, key }, limits)
    return plainOf(translate({ source, name: '' }, Buffer.from(file).toString()))
  }
  return { fetched, file, asked, waited }
}

const headerOf = ({ headers = [] }: OutboundRequest, wanted: string) =>
  headers.find(({ name }) => name === wanted)?.value

describe('a source is fetched', () => {
  test('from any page of Statuspage, by its address', async () => {
    const summary = { page: { id: 'p', name: 'Acme' }, components: [{ id: 'c1', name: 'API', status: 'operational' }] }
    for (const address of ['status.example.com', 'https://status.example.com/history?page=2']) {
      const { fetched, asked } = answering(() => summary)
      const { services } = await fetched('statuspage', { address, key: '' })
      expect(services).toEqual({ 'statuspage-c1': { name: 'API', status: 'OPERATIONAL' } })
      expect(asked.map(({ url }) => url)).toEqual(
        ['summary', 'incidents', 'scheduled-maintenances'].map(
          (name) => `https://status.example.com/api/v2/${name}.json`,
        ),
      )
    }
  })

  test('from Cachet of either version', async () => {
    const old = answering((url) =>
      !url.includes('/v1/')
        ? 404
        : { data: url.includes('groups') ? [{ id: 2, name: 'Core' }] : [{ id: 1, name: 'API', group_id: 2 }] },
    )
    const services = { 'cachet-1': { name: 'API', group: 'cachet-2' } }
    expect((await old.fetched('cachet', { address: 'status.example.com' })).services).toEqual(services)
    const attributes = { name: 'API' }
    const relationships = { group: { data: { id: '2' } } }
    const included = [{ id: '2', type: 'componentGroups', attributes: { name: 'Core' } }]
    const now = answering(() => ({ data: [{ id: '1', attributes, relationships }], included }))
    expect((await now.fetched('cachet', { address: 'status.example.com' })).services).toEqual(services)
  })

  test('from UptimeRobot: all pages, with the key in the body', async () => {
    const monitorOf = (id: number) => ({ id, friendly_name: `M${id}`, url: 'https://a.example', type: 1, status: 2 })
    const { fetched, asked } = answering((_, body) => {
      const offset = Number(new URLSearchParams(body).get('offset'))
      const count = Math.min(50, 120 - offset)
      const monitors = Array.from({ length: count }, (_each, index) => monitorOf(offset + index + 1))
      return { stat: 'ok', pagination: { offset, limit: 50, total: 120 }, monitors }
    })
    expect(Object.keys((await fetched('uptimerobot')).monitors ?? {})).toHaveLength(120)
    expect(asked.map(({ url }) => new URL(url).pathname.slice(4))).toEqual([
      ...Array(3).fill('getMonitors'),
      ...['getMWindows', 'getPSPs', 'getAlertContacts'],
    ])
    expect(asked.every(({ url }) => new URL(url).search === '')).toBe(true)
    expect(asked[0]?.body).toContain('api_key=secret')
  })

  test('from Better Stack and Instatus: all pages, with the key in a header', async () => {
    const attributes = { url: 'https://a.example', pronounceable_name: 'M', monitor_type: 'status' }
    const stack = answering((url) => {
      const page = Number(new URL(url).searchParams.get('page'))
      // The address of the next page is chosen by the source, so it is not followed.
      return { data: [{ id: String(page), attributes }], pagination: { next: page < 3 ? 'http://127.0.0.1/' : null } }
    })
    expect(Object.keys((await stack.fetched('betterstack')).monitors ?? {})).toHaveLength(3)
    expect(stack.asked.every((each) => each.url.startsWith('https://uptime.betterstack.com/'))).toBe(true)
    expect(headerOf(stack.asked[0] ?? { url: '', maxBodyBytes: 0 }, 'authorization')).toBe('Bearer secret')
    const instatus = answering((url) => {
      const page = Number(new URL(url).searchParams.get('page'))
      return Array.from({ length: page === 1 ? 100 : 7 }, (_, index) => ({ id: `c${page}x${index}`, name: 'C' }))
    })
    expect(Object.keys((await instatus.fetched('instatus', { address: 'acme' })).services ?? {})).toHaveLength(107)
    expect(instatus.asked[0]?.url).toBe('https://api.instatus.com/v2/acme/components?page=1&per_page=100')
  })

  test('from HetrixTools: all pages, with the key in a header', async () => {
    const { fetched, asked } = answering((url) => {
      const page = Number(new URL(url).searchParams.get('page'))
      const monitors = Array.from({ length: page === 1 ? 1024 : 3 }, (_, index) => ({
        id: `m${page}x${index}`,
        target: `h${page}x${index}.example.com`,
      }))
      return { monitors, meta: { total: 1027 } }
    })
    expect(Object.keys((await fetched('hetrixtools')).monitors ?? {})).toHaveLength(1027)
    expect(asked.map(({ url }) => url)).toEqual([
      'https://api.hetrixtools.com/v3/blacklist-monitors?per_page=1024&page=1',
      'https://api.hetrixtools.com/v3/blacklist-monitors?per_page=1024&page=2',
    ])
    expect(asked.map((each) => headerOf(each, 'authorization'))).toEqual(['Bearer secret', 'Bearer secret'])
  })

  test.each([
    ['a wrong key', () => 401, 'refuses us with status 401'],
    ['an error', () => 500, 'answers with status 500'],
    ['a page', () => '<html>', 'does not answer with JSON'],
  ])('but fails with %s', async (_, answer, message) => {
    const { fetched } = answering(answer)
    const error = await fetched('betterstack').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Invalid)
    expect((error as Invalid).issues[0]?.message).toContain(message)
  })

  test('from Statuspage with a key: everything that the key can read', async () => {
    const pages = [
      { id: 'p1', name: 'Other', subdomain: 'other', domain: null },
      { id: 'p2', name: 'Acme', subdomain: 'acme', domain: 'status.a.example' },
    ]
    const many = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}` }))
    const answers: readonly (readonly [RegExp, (page: number) => unknown])[] = [
      [/\/pages$/, () => pages],
      [/\/incidents$/, (page) => many(page < 3 ? 100 : 5, `i${page}x`)],
      // A plan without subscribers, and a list without page numbers.
      [/\/subscribers$/, () => 403],
      [/\/components$/, () => many(100, 'c')],
    ]
    const answer = (url: string) => {
      const { pathname, searchParams } = new URL(url)
      return answers.find(([path]) => path.test(pathname))?.[1](Number(searchParams.get('page'))) ?? []
    }
    for (const address of ['https://status.a.example/history', 'acme.statuspage.io', 'p2']) {
      const { file, asked } = answering(answer)
      const read = await file('statuspage', { address })
      expect(read.page.id).toBe('p2')
      expect([read.incidents.length, read.components.length, read.subscribers]).toEqual([205, 100, []])
      expect(asked.every((each) => headerOf(each, 'authorization') === 'OAuth secret')).toBe(true)
      expect(asked.every(({ url }) => url.startsWith('https://api.statuspage.io/v1/pages'))).toBe(true)
    }
    await expect(answering(answer).file('statuspage', { address: 'b.example' })).rejects.toThrow(
      'must be the address or id',
    )
  })

  test('from Cachet: several pages of components, and its own error', async () => {
    const pages = (url: string) => Number(new URL(url).searchParams.get('page'))
    const item = (id: number) => ({ id: String(id), attributes: { name: `C${id}` } })
    const { file, asked } = answering((url) => {
      if (!url.includes('/components?')) return { data: [] }
      const page = pages(url)
      return { data: Array.from({ length: page < 6 ? 50 : 7 }, (_, index) => item(page * 1000 + index)) }
    })
    const read = await file('cachet', { address: 'status.example.com' })
    expect(read.components).toHaveLength(257)
    expect(asked.some(({ url }) => url.includes('/api/subscribers'))).toBe(true)
    expect(headerOf(asked[0] ?? { url: '', maxBodyBytes: 0 }, 'x-cachet-token')).toBe('secret')
    const withoutKey = answering(() => ({ data: [item(1)] }))
    await withoutKey.file('cachet', { address: 'status.example.com', key: '' })
    expect(withoutKey.asked.some(({ url }) => url.includes('subscribers'))).toBe(false)
    // An error of version 3 is not hidden by trying version 2.
    const broken = answering((url) => (url.includes('/v1/') ? 404 : 500))
    await expect(broken.file('cachet', { address: 'status.example.com' })).rejects.toThrow('answers with status 500')
    expect(broken.asked).toHaveLength(1)
  })

  test('from Cachet version 2, with the updates of incidents', async () => {
    const { file } = answering((url) => {
      const { pathname } = new URL(url)
      if (!pathname.startsWith('/api/v1/')) return 404
      if (pathname === '/api/v1/components') return { data: [{ id: 1, name: 'API' }] }
      if (pathname === '/api/v1/incidents') return { data: [{ id: 9, name: 'Slow' }] }
      return pathname === '/api/v1/incidents/9/updates' ? { data: [{ id: 1, incident_id: 9 }] } : 404
    })
    expect(await file('cachet', { address: 'status.example.com' })).toMatchObject({ updates: [{ incident_id: 9 }] })
  })

  test('again after a rate limit, but not forever', async () => {
    let left = 2
    const busy = answering(() => (left-- > 0 ? 429 : { monitors: [{ id: 'a', target: 'a.example' }] }))
    expect(Object.keys((await busy.fetched('hetrixtools')).monitors ?? {})).toHaveLength(1)
    expect(busy.waited).toEqual([2000, 4000])
    const never = answering(() => 420)
    await expect(never.fetched('hetrixtools')).rejects.toThrow('answers with status 420')
    expect(never.waited).toEqual([2000, 4000, 8000, 16_000])
  })

  test.each([
    ['seconds', '30', [30_000]],
    ['less than our own delay', '0', [2000]],
    ['a date', new Date(noon.getTime() + 10_000).toUTCString(), [10_000]],
    ['a date in the past', 'Mon, 01 Jan 2001 00:00:00 GMT', [2000]],
    ['nonsense', 'soon', [2000]],
    ['a negative number', '-5', [2000]],
  ])('again at the time that the source names: %s', async (_, retryAfter, waited) => {
    let left = 1
    const busy = answering(() =>
      left-- > 0 ? new Limited(retryAfter) : { monitors: [{ id: 'a', target: 'a.example' }] },
    )
    expect(Object.keys((await busy.fetched('hetrixtools')).monitors ?? {})).toHaveLength(1)
    expect(busy.waited).toEqual(waited)
  })

  test('again after a short outage, but not after a long one', async () => {
    let left = 1
    const restarting = answering(() =>
      left-- > 0 ? new Limited('5', 503) : { monitors: [{ id: 'a', target: 'a.example' }] },
    )
    await restarting.fetched('hetrixtools')
    expect(restarting.waited).toEqual([5000])
    const patient = answering(() => new Limited('3600'))
    await expect(patient.fetched('hetrixtools')).rejects.toThrow('limits the rate: try again in 60 minutes')
    expect([patient.waited, patient.asked.length]).toEqual([[], 1])
    const down = answering(() => 503)
    await expect(down.fetched('hetrixtools')).rejects.toThrow('answers with status 503')
    expect(down.asked).toHaveLength(1)
  })

  /** Requests to each source. */
  const sources = [
    ['statuspage', { address: 'status.example.com', key: '' }],
    ['statuspage', { address: 'status.example.com' }],
    ['cachet', { address: 'status.example.com' }],
    ['uptimerobot', {}],
    ['betterstack', {}],
    ['instatus', { address: 'acme' }],
    ['hetrixtools', {}],
  ] as const

  test.each(sources)('from %s %j: errors are noted, and not mistaken for an empty list', async (source, given) => {
    const refusal = async (answer: unknown) => {
      const error = await answering(() => answer)
        .file(source, given)
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Invalid)
      return (error as Invalid).issues[0]?.message
    }
    expect(await refusal(500)).toBe('the source answers with status 500')
    expect(await refusal(401)).toBe('the source refuses us with status 401: check the key')
    expect(await refusal(403)).toBe('the source refuses us with status 403: check the key')
    expect(await refusal('{"data":[{"id":1')).toBe('the source does not answer with JSON')
    expect(await refusal('')).toBe('the source does not answer with JSON')
  })

  test('from UptimeRobot, which answers a wrong key with 200', async () => {
    const wrong = answering(() => ({ stat: 'fail', error: { type: 'invalid_parameter', message: 'api_key is wrong' } }))
    await expect(wrong.fetched('uptimerobot')).rejects.toThrow('check the key')
    expect(wrong.asked).toHaveLength(1)
  })

  test('until a list repeats the same page', async () => {
    const item = {
      id: 'a',
      target: 'a.example',
      name: 'A',
      attributes: { url: 'https://a.example', pronounceable_name: 'A' },
    }
    const full = (count: number) => Array.from({ length: count }, (_, index) => ({ ...item, id: `a${index}` }))
    const better = answering(() => ({ data: full(2), pagination: { next: 'more' } }))
    expect((await better.file('betterstack')).data).toHaveLength(2)
    const instatus = answering(() => full(100))
    expect((await instatus.file('instatus', { address: 'acme' })).components).toHaveLength(100)
    const hetrix = answering(() => ({ monitors: full(1024) }))
    expect((await hetrix.file('hetrixtools')).monitors).toHaveLength(1024)
    const cachet = answering(() => ({ data: full(50) }))
    expect((await cachet.file('cachet', { address: 'status.example.com' })).components).toHaveLength(50)
    const robot = answering(() => ({ stat: 'ok', monitors: full(50) }))
    expect((await robot.file('uptimerobot')).monitors).toHaveLength(50)
    for (const { asked } of [better, instatus, hetrix, cachet, robot]) expect(asked.length).toBeLessThan(40)
  })

  test.each([
    ['statuspage', /^(pages|components|incidents)$/, { address: 'p' }, 'subscribers subscribers'],
    ['cachet', /^components$/, { address: 'status.example.com' }, 'subscribers subscribers'],
    ['instatus', /^components$/, { address: 'acme' }, 'subscribers subscribers'],
    ['betterstack', /^monitors$/, {}, 'pages status pages'],
    ['uptimerobot', /^getMonitors$/, {}, 'channels alert contacts'],
  ] as const)(
    'from %s without the lists that the key may not read, as the table says',
    async (source, allowed, given, note) => {
      const list = [
        { id: 'p', name: 'A', attributes: { name: 'A', url: 'https://a.example', pronounceable_name: 'A' } },
      ]
      const monitors = [{ id: 1, friendly_name: 'A', url: 'https://a.example', type: 1 }]
      const { fetched } = answering((url) => {
        const name = new URL(url).pathname.split('/').at(-1) ?? ''
        if (!allowed.test(name)) return 403
        return source === 'uptimerobot' ? { stat: 'ok', monitors } : { data: list, pages: list, components: list }
      })
      expect((await fetched(source, given)).notes).toContain(
        `SKIPPED ${note}: Not read, because the source answers with status 403.`,
      )
    },
  )

  test('within limits on requests, bytes and time', async () => {
    let id = 0
    const endless = answering(() => ({ data: [{ id: String(id++), attributes: {} }], pagination: { next: 'more' } }))
    await expect(endless.file('betterstack')).rejects.toThrow('has too many pages')
    expect(endless.asked).toHaveLength(150)
    const large = answering((url) => [{ id: url, name: 'x'.repeat(2_400_000) }, ...Array(99).fill({})])
    await expect(large.file('instatus', { address: 'acme' })).rejects.toThrow('answers with more than 20 MB')
    const request = () => new Promise<never>(() => {})
    const slow = fetchSource(
      createSend({ request }),
      'hetrixtools',
      { address: '', key: 'k' },
      { requests: 9, deadlineMs: 1, now: () => noon },
    )
    await expect(slow).rejects.toThrow('takes longer than 0.001 s')
  })

  test('but not from an invalid address', async () => {
    const { fetched, asked } = answering(() => ({}))
    for (const address of ['', 'http://', 'a b'])
      await expect(fetched('statuspage', { address, key: '' })).rejects.toBeInstanceOf(Invalid)
    await expect(fetched('gatus')).rejects.toBeInstanceOf(Invalid)
    expect(asked).toEqual([])
  })
})
