import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fileOf, sections } from '../../src/docs/contents.ts'
import { renderGuide } from '../../src/docs/guide.ts'
import { buildIndex, openSearch } from '../../src/docs/search.ts'

const slugs = sections.flatMap((section) => section.slugs)
const search = openSearch(buildIndex(slugs.map((slug) => renderGuide(slug, readFileSync(fileOf(slug), 'utf8')))))
const first = (query: string) => search(query)[0]?.path

test.each([
  ['custom domain', '/docs/custom-domains'],
  ['heartbeat', '/docs/monitors#heartbeat'],
  ['idempotency', '/docs/graphql#retry-without-doing-twice'],
  ['TRUST_PROXY', '/docs/settings#server'],
  ['websockt', '/docs/graphql#subscriptions'],
])('finds %s', (query, path) => {
  expect(search(query).map((hit) => hit.path)).toContain(path)
})

test('a heading ranks above text', () => {
  expect(first('readiness')).toBe('/docs/health#readiness')
})

test('every word must occur', () => {
  expect(search('heartbeat zzzzzz')).toEqual([])
})

test('an excerpt shows the match', () => {
  for (const { excerpt } of search('unbound')) {
    expect(excerpt.length).toBeLessThan(200)
    expect(excerpt).toMatch(/unbound/i)
  }
})

test.each([
  '',
  ' ',
  '"',
  '*',
  '\\',
  '<script>',
  'ä'.repeat(10_000),
  'a '.repeat(5000),
  'ab cd ef gh ij kl mn op qr st',
])('accepts any query (%#)', (query) => {
  expect(search(query).length).toBeLessThanOrEqual(20)
})
