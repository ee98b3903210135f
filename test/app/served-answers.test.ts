// @slow
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR } from '../../src/core/time.ts'
import { testApp } from '../support/app.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization } from '../support/filled-organization.ts'
import { serveUnder } from '../support/own-domain.ts'
import type { RawAnswer } from '../support/raw-get.ts'
import { rawGet } from '../support/raw-get.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const database = await testDatabase()
const dns = await startDnsServer(scriptedLists())
const { baseUrl } = await testApp({ database, dns })
const startsAt = new Date(Date.now() + DAY)
const acme = await filledOrganization(baseUrl, { startsAt, endsAt: new Date(startsAt.getTime() + HOUR) })
const host = `${acme.slug}.status.example`
await serveUnder(testContext(database.prisma), acme.id, host)

/** Requests a path as a browser does. */
function ask(path: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const accept = { accept: 'text/html,*/*', 'accept-encoding': 'gzip, deflate, br', 'accept-language': 'en' }
  return rawGet(baseUrl + path, { ...accept, ...headers })
}

const textOf = ({ headers, body }: RawAnswer) =>
  headers['content-encoding'] === 'br'
    ? brotliDecompressSync(body)
    : headers['content-encoding'] === 'gzip'
      ? gunzipSync(body)
      : body

/** Returns the assets that a page refers to. */
const filesOf = async (path: string) =>
  Array.from(`${textOf(await ask(path))}`.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g), ([, file]) => file ?? '')
const named = await Promise.all(
  ['/', '/graphql', '/docs', '/docs/reference', '/sign-in', '/pricing', `/status/${acme.slug}`].map(filesOf),
)
const files = [...new Set(named.flat())]

/** Every path of the API description, with ids of existing objects. */
const { paths } = JSON.parse(`${textOf(await ask('/openapi.json'))}`) as { paths: Record<string, { get?: object }> }
const described = Object.entries(paths).flatMap(([path, { get }]) =>
  get === undefined || /\/live$|^\/assets\//.test(path)
    ? []
    : path
        .replace('{slug}', acme.slug)
        .replace('{language}', 'de')
        .replace('{target}', '127.0.0.2')
        .replace('{guide}', 'graphql')
        .replace(/\/services\/\{id\}/, `/services/${acme.ids.Service}`)
        .replace(/\/incidents\/\{id\}/, `/incidents/${acme.ids.Incident}`)
        .replace(/\/maintenance\/\{id\}/, `/maintenance/${acme.ids.Maintenance}`)
        .replace(/\{[^}]*\}/g, 'none'),
)

/** Whether a path is also served at the root of a custom domain. */
const isOfDomain = (path: string) =>
  path === '/' || /^\/(?:de|history|incidents|services|subscribe|embed|badge|picture|maintenance|api\/v2)/.test(path)

/** Answers that depend on the reader or the moment, and the access forms of private pages. */
const momentary =
  /^\/(?:healthz|readyz|metrics|check\/|subscriptions|alerts|billing|api\/v1|api\/blacklist-monitor|\.well-known)|\/access/

const all = [
  ...[...described, ...files].map((path) => ({ path, headers: {} })),
  ...described.filter(isOfDomain).map((path) => ({ path, headers: { host } })),
]

describe.each(all)('$path $headers', ({ path, headers }) => {
  test('is compressed, and has a cache policy', async () => {
    const answer = await ask(path, headers)
    const type = answer.headers['content-type'] ?? ''
    const isText = /^text\/|json|xml|javascript|svg/.test(type)
    if (isText && textOf(answer).length >= 1500) {
      expect(answer.headers['content-encoding']).toMatch(/^(?:br|gzip)$/)
      expect(answer.headers.vary?.toLowerCase()).toContain('accept-encoding')
      expect(answer.body.length).toBeLessThan(textOf(answer).length)
    }
    if (answer.status !== 200) return
    expect(answer.headers['cache-control']).toBeDefined()
    if (momentary.test(path)) return
    expect(answer.headers['cache-control']).not.toContain('no-store')
    if (/max-age=[1-9]/.test(answer.headers['cache-control'] ?? '')) return
    expect(answer.headers.etag).toBeDefined()
    const again = await ask(path, { ...headers, 'if-none-match': answer.headers.etag ?? '' })
    expect([again.status, again.body.length]).toEqual([304, 0])
  })
})

test('all of them are requested', () => {
  expect(described.length).toBeGreaterThan(80)
  expect(files.length).toBeGreaterThan(8)
  expect(files.filter((file) => file.includes('graphiql')).length).toBeGreaterThanOrEqual(2)
})
