import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { servedPaths } from '../../src/app/router.ts'
import { insertUser } from '../../src/people/user.ts'
import { testApp } from '../support/app.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists({ '7.113.0.203.zen.spamhaus.org': ['127.0.0.4'] }))
const database = await testDatabase()
const { baseUrl } = await testApp({ dns, database })
// The first person has already set up the service.
await insertUser(testContext(database.prisma), 'MAILED_SIGN_UP_LINK', {
  email: 'ana@acme.example',
  name: 'Ana',
  passwordHash: null,
})
afterAll(() => dns.close())
const [acme] = [await newOrganization(baseUrl), await newOrganization(baseUrl)]
const openTab = useChromium()
const isOurs = (url: string) => url.startsWith(baseUrl)

test('a check from the home page leads to the next target, and to monitoring this one', async () => {
  await using tab = await openTab(isOurs)
  const { page } = tab
  await page.goto(baseUrl)
  await page.getByLabel(/IP address or domain/).fill('203.0.113.7')
  await page.keyboard.press('Enter')
  const watch = page.getByRole('link', { name: 'Monitor this address' })
  await watch.waitFor()
  await page.getByLabel('Check another').fill('203.0.113.8')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/check/203.0.113.8`)
  await watch.click()
  await page.getByLabel('Email').waitFor()
  const { pathname, searchParams } = new URL(page.url())
  expect([pathname, searchParams.get('to')]).toEqual(['/sign-in', '/console?watch=203.0.113.8'])
  expect(tab.complaints).toEqual([])
})

test('a mistyped name leads to the page, from any part of its address', async () => {
  await using tab = await openTab(isOurs, { javaScriptEnabled: false })
  const { page } = tab
  const answer = await page.goto(`${baseUrl}/status/no-such-page`)
  expect(answer?.status()).toBe(404)
  await page.getByRole('textbox').fill(`  ${acme?.slug.toUpperCase()} `)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/status/${acme?.slug}`)
  await page.goto(`${baseUrl}/status`)
  await page.getByRole('textbox').fill(`https://status.example/status/${acme?.slug}/history`)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${baseUrl}/status/${acme?.slug}`)
})

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test.each(['/docs', '/docs/feeds', '/docs/reference'])('%s has this theme, and a way back', async (path) => {
    await using tab = await openTab(isOurs, { colorScheme })
    const { page } = tab
    await page.goto(baseUrl + path)
    // What is closed is part of the page.
    await page.locator('details').evaluateAll((all) => {
      for (const each of all) each.setAttribute('open', '')
    })
    expect(await axeViolations(page)).toEqual([])
    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const [red = 0] = /\d+/.exec(background)?.map(Number) ?? []
    expect(red > 128 ? 'light' : 'dark').toBe(colorScheme)
    const header = page.getByRole('banner')
    expect(await header.getByRole('link', { name: 'Allclear' }).getAttribute('href')).toBe('/')
    await header.getByRole('link', { name: 'Docs' }).click()
    await page.waitForURL(`${baseUrl}/docs`)
    expect(tab.complaints).toEqual([])
  })
})

test('the guides mention every document of a status page', () => {
  const guide = readFileSync('docs/feeds.md', 'utf8')
  const documents = Object.keys(servedPaths).filter(
    (path) => path.startsWith('/status/') && /\.(?:json|atom|rss|ics|svg|png)$|\/embed$/.test(path),
  )
  expect(documents.length).toBeGreaterThan(12)
  const names = documents.map((path) => path.split('/').at(-1) ?? '')
  expect(names.filter((name) => !guide.includes(name))).toEqual([])
})
