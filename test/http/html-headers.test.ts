// @slow
import { readFile } from 'node:fs/promises'
import { buildSchema, parse, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { tabs } from '../../src/http/api-tools/graphiql-tabs.ts'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({ dns })
const { slug } = await newOrganization(url)
const open = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers: { accept: 'text/html,*/*', ...headers }, redirect: 'manual' })

describe('every HTML answer', () => {
  test.each([
    ['/', 200],
    ['/check', 400],
    ['/check/203.0.113.7', 200],
    ['/check/nonsense', 400],
    ['/docs', 200],
    ['/docs/monitors', 200],
    ['/docs/search?q=monitor', 200],
    ['/docs/reference', 200],
    ['/docs/nothing', 404],
    ['/graphql', 200],
    ['/graphql/', 200],
    ['/graphql?query={__typename}', 200],
    ['/pricing', 200],
    ['/nothing', 404],
    ['/status/nobody', 404],
    [`/status/${slug}`, 200],
    [`/status/${slug}/history`, 200],
    [`/status/${slug}/incidents/none`, 404],
    [`/status/${slug}/subscribe`, 200],
    ['/subscriptions/none', 404],
    ['/billing/check-plan/none', 404],
    ['/billing/renewal?token=none', null],
    ['/api/v1/billing/success', 200],
    ['/api/v1/billing/cancel', 200],
  ])('%s forbids framing, sniffing and inline code', async (path, status) => {
    const response = await open(path)
    const html = await response.text()
    if (status !== null) expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    const directives = new Map(
      policy.split(/;\s*/).map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
    )
    expect(directives.get('default-src')).toBe("'none'")
    expect(directives.get('frame-ancestors')).toBe("'none'")
    expect(directives.get('base-uri')).toBe("'none'")
    expect(directives.get('script-src')).toBe("'self'")
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toMatch(/^(same-origin|no-referrer)$/)
    expect(html).not.toMatch(/<script(?![^>]* (?:src=|type="application\/ld))|\son[a-z]+="|javascript:/)
  })
})

describe('the libraries of GraphiQL', () => {
  test('are compressed, immutable, and named after their hashes', async () => {
    const html = (await (await open('/graphql')).text()).replaceAll('&quot;', '"')
    const paths = [...new Set(html.match(/\/assets\/graphiql\/[\w.-]+/g))]
    expect(paths).toHaveLength(5)
    for (const path of paths) {
      expect(path).toMatch(/\.[0-9a-f]{10}\.(js|css)$/)
      const plain = Buffer.from(await (await open(path, { 'accept-encoding': 'identity' })).arrayBuffer())
      for (const encoding of ['br', 'gzip']) {
        const response = await open(path, { 'accept-encoding': encoding })
        expect(Buffer.from(await response.arrayBuffer()).equals(plain), `${path} ${encoding}`).toBe(true)
        expect(response.headers.get('content-encoding')).toBe(encoding)
        expect(Number(response.headers.get('content-length'))).toBeLessThan(plain.length / 1.5)
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        expect(response.headers.get('vary')).toBe('accept-encoding')
      }
    }
  })

  test('are not served under other names', async () => {
    expect((await open('/assets/graphiql/graphiql.js')).status).toBe(404)
    expect((await open('/assets/graphiql/__proto__')).status).toBe(404)
    expect((await open('/assets/other/graphiql.js')).status).toBe(404)
  })
})

test('the page of GraphiQL itself is small', async () => {
  expect((await (await open('/graphql')).text()).length).toBeLessThan(10_000)
})

test('every example of GraphiQL is valid against the schema', async () => {
  const schema = buildSchema(await readFile('schema.graphql', 'utf8'))
  expect(tabs.length).toBeGreaterThanOrEqual(5)
  for (const { query, variables, headers } of tabs) {
    expect(validate(schema, parse(query))).toEqual([])
    for (const json of [variables, headers]) if (json !== undefined) expect(() => JSON.parse(json)).not.toThrow()
  }
})
