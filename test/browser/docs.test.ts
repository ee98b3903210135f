import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docsPages, docsSheet } from '../../src/docs/html/routes.tsx'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { serve } from '../support/check-pages.ts'
import { useChromium } from '../support/chromium.ts'
import { faintTexts } from '../support/contrast.ts'

let server: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  const site = { assets: await loadAssets([docsSheet]), baseUrl: 'https://allclear.example' }
  server = await serve(new Hono().route('/', site.assets.routes).route('/', docsPages(site)))
})
afterAll(() => server[Symbol.asyncDispose]())

const newTab = useChromium()
const pages = [
  '/docs',
  '/docs/search?q=monitor',
  '/docs/monitors',
  '/docs/settings',
  '/docs/status-pages',
  '/docs/graphql',
]

describe.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 900],
  ['dark', 360],
] as const)('in %s, %d pixels wide', (colorScheme, width) => {
  test.each(pages)('%s is readable and does not scroll sideways', async (path) => {
    await using tab = await newTab((url) => url.startsWith(server.url), {
      colorScheme,
      viewport: { width, height: 800 },
    })
    const { page, complaints } = tab
    await page.goto(server.url + path)
    expect(await faintTexts(page)).toEqual([])
    const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth
    expect(await page.evaluate(overflow)).toBe(0)
    expect(complaints).toEqual([])
  })
})

test('search works without JavaScript and links to the match', async () => {
  await using tab = await newTab((url) => url.startsWith(server.url), { javaScriptEnabled: false })
  const { page } = tab
  await page.goto(`${server.url}/docs/getting-started`)
  await page.getByLabel('Search the documentation').fill('heartbeat')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Monitors: Heartbeat' }).click()
  expect(page.url()).toBe(`${server.url}/docs/monitors#heartbeat`)
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Monitors')
})

test('the menu, the contents and the next guide have names for screen readers', async () => {
  await using tab = await newTab((url) => url.startsWith(server.url), { viewport: { width: 1440, height: 900 } })
  const { page } = tab
  await page.goto(`${server.url}/docs/monitors`)
  const menu = page.getByRole('navigation', { name: 'Documentation' })
  expect(await menu.getByRole('link', { name: 'Monitors' }).getAttribute('aria-current')).toBe('page')
  await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Heartbeat' }).click()
  expect(page.url()).toContain('#heartbeat')
  await page.getByRole('navigation', { name: 'Previous and next guide' }).getByRole('link', { name: 'States' }).click()
  expect(page.url()).toBe(`${server.url}/docs/uptime`)
})
