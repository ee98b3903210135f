// @slow
import { expect, test } from 'vitest'
import { sections } from '../../src/docs/contents.ts'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({ dns })
// The organization of the guides.
const example = { name: 'Example', slug: 'example', contactEmail: 'ops@example.com' }
await mutate(url, operatorToken, 'createOrganization', 'CreateOrganizationPayload', example, 'organization { id }')

const slugs = sections.flatMap((section) => section.slugs)
const pages = new Map<string, Promise<{ status: number; html: string }>>()

/** Returns a page of the service as a browser receives it, fetched once. */
function open(path: string): Promise<{ status: number; html: string }> {
  const known = pages.get(path)
  if (known !== undefined) return known
  const opening = fetch(url + path, { headers: { accept: 'text/html,*/*' } }).then(async (response) => ({
    status: response.status,
    html: await response.text(),
  }))
  pages.set(path, opening)
  return opening
}

// They load their parts on the first request, which takes seconds.
for (const path of ['/docs', '/docs/reference', '/graphql']) await open(path)

const addressesIn = (html: string) => [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, address = '']) => address)

/** Returns the problem of a link on a page; null: none. Does not request other sites. */
async function problemOf(page: string, address: string): Promise<string | null> {
  const target = new URL(address.replaceAll('&amp;', '&'), url + page)
  if (target.origin !== url) return target.protocol === 'https:' ? null : `${address} is not https`
  const { status, html } = await open(target.pathname + target.search)
  if (status !== 200) return `${address} gives ${status}`
  const id = decodeURIComponent(target.hash.slice(1))
  return id === '' || html.includes(` id="${id}"`) ? null : `${address} has no such part`
}

test.each(['/', '/docs', '/docs/search?q=monitor', ...slugs.map((slug) => `/docs/${slug}`)])(
  'every link on %s leads somewhere',
  async (page) => {
    const { status, html } = await open(page)
    expect(status).toBe(200)
    const addresses = [...new Set(addressesIn(html))]
    expect(addresses.length).toBeGreaterThan(5)
    const problems = await Promise.all(addresses.map((address) => problemOf(page, address)))
    expect(problems.filter((problem) => problem !== null)).toEqual([])
  },
)
