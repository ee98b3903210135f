import { describe, expect, test } from 'vitest'
import { Invalid } from '../../src/core/errors.ts'
import { fetchSource } from '../../src/import/fetch.ts'
import type { Source } from '../../src/import/source-names.ts'
import { translate } from '../../src/import/sources.ts'
import type { Outbound, OutboundRequest } from '../../src/network/outbound.ts'
import { createSend } from '../../src/network/send.ts'
import { plainOf } from './setup.ts'

/** An outbound client that answers by address, and what it was asked. */
function answering(answer: (url: string, body: string) => unknown) {
  const asked: OutboundRequest[] = []
  const request = async (sent: OutboundRequest) => {
    asked.push(sent)
    const value = answer(sent.url, String(sent.body ?? ''))
    const status = typeof value === 'number' ? value : 200
    const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
    return { kind: 'answer', status, body, complete: true } as Awaited<ReturnType<Outbound['request']>>
  }
  const fetched = async (source: Source, { address = '', key = 'secret' } = {}) => {
    const file = await fetchSource(createSend({ request }), source, { address, key })
    return plainOf(translate(source, Buffer.from(file).toString()))
  }
  return { fetched, asked }
}

const headerOf = ({ headers = [] }: OutboundRequest, wanted: string) =>
  headers.find(({ name }) => name === wanted)?.value

describe('a source is fetched', () => {
  test('from any page of Statuspage, by its address', async () => {
    const summary = { page: { id: 'p', name: 'Acme' }, components: [{ id: 'c1', name: 'API', status: 'operational' }] }
    for (const address of ['status.example.com', 'https://status.example.com/history?page=2']) {
      const { fetched, asked } = answering(() => summary)
      expect((await fetched('statuspage', { address })).services).toEqual({ 'statuspage-c1': { name: 'API' } })
      expect(asked.map(({ url }) => url)).toEqual(['https://status.example.com/api/v2/summary.json'])
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

  test('from UptimeRobot, all pages, with the key in the body', async () => {
    const monitorOf = (id: number) => ({ id, friendly_name: `M${id}`, url: 'https://a.example', type: 1, status: 2 })
    const { fetched, asked } = answering((_, body) => {
      const offset = Number(new URLSearchParams(body).get('offset'))
      const count = Math.min(50, 120 - offset)
      const monitors = Array.from({ length: count }, (_each, index) => monitorOf(offset + index + 1))
      return { stat: 'ok', pagination: { offset, limit: 50, total: 120 }, monitors }
    })
    expect(Object.keys((await fetched('uptimerobot')).monitors ?? {})).toHaveLength(120)
    expect(asked.map(({ url }) => new URL(url).search)).toEqual(['', '', ''])
    expect(asked[0]?.body).toContain('api_key=secret')
  })

  test('from Better Stack and Instatus, all pages, with the key in a header', async () => {
    const attributes = { url: 'https://a.example', pronounceable_name: 'M', monitor_type: 'status' }
    const stack = answering((url) => {
      const page = Number(new URL(url).searchParams.get('page'))
      // The address of the next page is the source's to choose: it is not followed.
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

  test('from HetrixTools, all pages, with the key in a header', async () => {
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
    ['a page', () => '<html>', 'answers with no JSON'],
  ])('and refused for %s', async (_, answer, message) => {
    const { fetched } = answering(answer)
    const error = await fetched('betterstack').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Invalid)
    expect((error as Invalid).issues[0]?.message).toContain(message)
  })

  test('and refused when its pages have no end, or its address is none', async () => {
    const data = [{ id: '1', attributes: {} }]
    const endless = answering(() => ({ data, pagination: { next: 'more' } }))
    await expect(endless.fetched('betterstack')).rejects.toBeInstanceOf(Invalid)
    expect(endless.asked).toHaveLength(50)
    const { fetched, asked } = answering(() => ({}))
    for (const address of ['', 'http://', 'a b'])
      await expect(fetched('statuspage', { address })).rejects.toBeInstanceOf(Invalid)
    await expect(fetched('gatus')).rejects.toBeInstanceOf(Invalid)
    expect(asked).toEqual([])
  })
})
