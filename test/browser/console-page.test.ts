import { describe, expect, test } from 'vitest'
import { createService } from '../../src/status/service/service.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import type { Browser } from '../support/console.ts'
import { testConsole } from '../support/console.ts'
import { testContext } from '../support/context.ts'
import { png, svg } from '../support/pictures.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const admin = await acme.signIn('ADMIN')
const actor = {
  kind: 'apiKey',
  keyId: 'key',
  organizationId: acme.organization.id,
  scope: 'ADMIN',
  checkPlan: 'FREE',
} as const
await createService(testContext(database.prisma, { actor }), { name: 'Search' })
const open = useChromium()
const ours = (url: string) =>
  /^(data|about):/.test(url) || url.startsWith(app.baseUrl) || url.startsWith(app.baseUrl.replace('http', 'ws'))

async function openPage(tab: Awaited<ReturnType<typeof open>>, { token }: Pick<Browser, 'token'> = admin) {
  await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await tab.page.goto(`${app.baseUrl}/console/acme/page`)
  return { page: tab.page, preview: tab.page.frameLocator('#preview') }
}

const logo = svg('<rect width="9" height="9" fill="teal"/>')

describe('the preview of the page', () => {
  test('follows typed and selected values, in the colour and without a script', async () => {
    await using tab = await open(ours)
    const { page, preview } = await openPage(tab)
    await preview.getByRole('heading', { name: 'Services', exact: true }).waitFor()
    await page.fill('[name=name]', 'Acme <b>Corp</b>')
    await preview.getByRole('link', { name: 'Acme <b>Corp</b>', exact: true }).waitFor()
    await page.setInputFiles('[name=logo]', { name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(logo) })
    await preview.locator('header.owner img').waitFor()
    expect(
      await preview
        .locator('header.owner img')
        .evaluate((img: HTMLImageElement) => img.complete && img.naturalWidth > 0),
    ).toBe(true)
    await page.fill('[name=accentColor]', '#aa0044')
    await preview.locator('link[href$="theme.aa0044.css"]').waitFor({ state: 'attached' })
    // A link in the page leads nowhere.
    await preview.getByRole('link', { name: 'Get updates' }).click()
    await preview.getByRole('heading', { name: 'Services', exact: true }).waitFor()
    expect(await preview.locator('script').count()).toBe(0)
    // The page has its own styles.
    expect(await preview.locator('header.owner img').evaluate((img) => getComputedStyle(img).objectFit)).toBe('contain')
    expect(await axeViolations(page)).toEqual([])
    expect(tab.complaints.filter((text) => !/window|popup/i.test(text))).toEqual([])
    expect(await fetch(`${app.baseUrl}/status/acme`).then((answer) => answer.text())).not.toContain('Corp')
  })

  test('works without a script, by a button, with the input', async () => {
    await using tab = await open(ours, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
    const { page } = await openPage(tab)
    await page.fill('[name=name]', 'Acme Two')
    await page.setInputFiles('[name=logo]', {
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: Buffer.from(png(30, 10)),
    })
    await page.getByRole('button', { name: 'Preview' }).click()
    expect(await page.inputValue('[name=name]')).toBe('Acme Two')
    expect(await page.content()).toContain('Choose the file again')
    const html = await page.getAttribute('#preview', 'srcdoc')
    expect(html).toContain('Acme Two')
    expect(html).toContain('src="data:image/png;base64,')
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await (await fetch(`${app.baseUrl}/status/acme`)).text()).toContain('Acme Two')
  })
})

test('a logo that is too large is refused before it is sent', async () => {
  await using tab = await open(ours)
  const { page } = await openPage(tab)
  await page.setInputFiles('[name=logo]', { name: 'logo.png', mimeType: 'image/png', buffer: Buffer.alloc(300_000) })
  expect(await page.locator('[name=logo]').evaluate((input: HTMLInputElement) => input.validationMessage)).toContain(
    '256 kB',
  )
})

test.runIf(process.env['SHOTS'])('screenshots', async () => {
  for (const [width, height] of [
    [1400, 900],
    [390, 844],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await using tab = await open(ours, { viewport: { width, height }, colorScheme })
      const { page, preview } = await openPage(tab)
      await page.setInputFiles('[name=logo]', {
        name: 'logo.svg',
        mimeType: 'image/svg+xml',
        buffer: Buffer.from(logo),
      })
      await preview.locator('header.owner img').waitFor()
      await page.screenshot({ path: `/tmp/page-${width}-${colorScheme}.png`, fullPage: width < 400 })
    }
})
