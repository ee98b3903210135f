import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wordsOf } from '../../src/language/catalogue.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { pseudoLanguage } from '../support/pseudo-language.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const owner = await acme.signIn('OWNER')
const { token } = await acme.signIn('EDITOR')
for (const name of ['Payments', 'Search']) await owner.post('services/new', { name, description: 'What it does.' })
const { id: serviceId } = await database.prisma.service.findFirstOrThrow({ where: { name: 'Payments' } })
const newTab = useChromium()
const page = (path: string) => `${app.baseUrl}/status/acme${path}`

/** Takes a screenshot into the folder `SHOTS`, if set, to look at. */
async function shoot(tab: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder !== undefined) await tab.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

describe('an incident in several languages', () => {
  test('is written without scripts, read in each language, and updated live', async () => {
    await using composer = await newTab((url) => url.startsWith(app.baseUrl), { javaScriptEnabled: false })
    await composer.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
    await composer.page.goto(`${app.baseUrl}/console/acme/incidents/new`)
    await composer.page.getByLabel('Title', { exact: true }).fill('Payments fail')
    await composer.page.getByLabel('Message', { exact: true }).fill('We look into it.')
    await composer.page.getByText('In other languages').click()
    await composer.page.getByText('Deutsch', { exact: true }).click()
    await composer.page.getByLabel('Title, Deutsch').fill('Zahlungen schlagen fehl')
    await composer.page.getByLabel('Message, Deutsch').fill('Wir gehen dem **nach**.')
    await shoot(composer.page, 'composer')
    await composer.page.getByRole('button', { name: 'Report', exact: true }).click()
    await composer.page.getByRole('heading', { name: 'Payments fail' }).waitFor()

    await using reader = await newTab((url) => url.startsWith(app.baseUrl), {
      locale: 'de-DE',
      // Without fades, so that axe sees the final colours.
      reducedMotion: 'reduce',
    })
    await reader.page.goto(page(''))
    expect(reader.page.url()).toBe(page('/de'))
    const incident = reader.page.locator('#open-incidents article')
    expect(await incident.getByRole('heading').textContent()).toBe('Zahlungen schlagen fehl')
    expect(await incident.locator('.prose').textContent()).toBe('Wir gehen dem nach.')
    expect(await incident.locator('.prose').evaluate((text) => text.closest('[lang]')?.getAttribute('lang'))).toBe('de')
    await reader.page.locator('#live[data-state=live]').waitFor()
    const { id, version } = await database.prisma.incident.findFirstOrThrow({ where: { title: 'Payments fail' } })
    await owner.post(`incidents/${id}/updates`, {
      ...{ status: 'MONITORING', message: 'Better.', version: String(version), form: 'update' },
      'translations.0.language': 'DE',
      'translations.0.title': 'Zahlungen gehen wieder',
      'translations.0.message': 'Besser.',
    })
    await incident.getByText('Besser.').waitFor()
    expect(await incident.getByRole('heading').textContent()).toBe('Zahlungen gehen wieder')
    expect(await axeViolations(reader.page)).toEqual([])
    await shoot(reader.page, 'german')
    expect([...composer.complaints, ...reader.complaints]).toEqual([])
  })
})

describe('a right-to-left language', () => {
  const before = { ...wordsOf('FR') }
  beforeAll(() => void Object.assign(wordsOf('FR'), pseudoLanguage(wordsOf('EN'), 'fr')))
  afterAll(() => void Object.assign(wordsOf('FR'), before))

  test.each([390, 1280])('mirrors every page and overflows none at %i px', async (width) => {
    await using tab = await newTab((url) => url.startsWith(app.baseUrl), { viewport: { width, height: 900 } })
    const { id } = await database.prisma.incident.findFirstOrThrow({ where: { title: 'Payments fail' } })
    const paths = ['/fr', `/fr/incidents/${id}`, '/fr/history', `/fr/services/${serviceId}`, '/subscribe?language=fr']
    for (const path of paths) {
      await tab.page.goto(page(path))
      const shown = await tab.page.evaluate(() => {
        const { direction } = getComputedStyle(document.body)
        const { scrollWidth, clientWidth } = document.documentElement
        return { direction, overflow: scrollWidth - clientWidth }
      })
      expect([path, shown]).toEqual([path, { direction: 'rtl', overflow: 0 }])
      await shoot(tab.page, `rtl-${width}-${paths.indexOf(path)}`)
    }
    await tab.page.goto(page('/fr'))
    const rightOf = async (selector: string) => {
      const box = await tab.page.locator(selector).first().boundingBox()
      return (box?.x ?? 0) + (box?.width ?? 0)
    }
    // Names begin on the right; marks and links are at the left end.
    const [name, mark] = [await rightOf(`#${serviceId} .name`), await rightOf(`#${serviceId} .mark`)]
    expect(name).toBeGreaterThan(mark)
    expect(await rightOf('header.owner .name')).toBeGreaterThan(await rightOf('header.owner nav'))
    expect(tab.complaints).toEqual([])
  })
})
