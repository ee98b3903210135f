import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, test } from 'vitest'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { type Browser, testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole({ ALLOW_PRIVATE_NETWORKS: 'false' })
const open = useChromium()
const ours = (url: string) =>
  /^(data|about):/.test(url) || url.startsWith(app.baseUrl) || url.startsWith(app.baseUrl.replace('http', 'ws'))

const website = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
await once(website, 'listening')
afterAll(() => website.close())
const { port } = website.address() as AddressInfo
const url = `http://127.0.0.1:${port}/`

async function openForm(page: Page, slug: string, { token }: Browser): Promise<void> {
  await page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await page.goto(`${app.baseUrl}/console/${slug}/monitors/new?kind=HTTP`)
  await page.fill('[name=name]', 'Inside')
  await page.fill('[name="http.url"]', url)
}

const permissions = async () =>
  (await database.prisma.privateTargetPermission.findMany()).map(({ organizationId }) => organizationId)

describe('beside a form that was refused for a private target', () => {
  test.each([true, false])('the operator allows it for the organization, with scripts: %s', async (scripts) => {
    const slug = `inside-${scripts}`
    const { organization: owned, signIn } = await organization(slug)
    await using tab = await open(ours, { javaScriptEnabled: scripts, viewport: { width: 390, height: 844 } })
    const { page } = tab
    await openForm(page, slug, await signIn('OWNER', { isOperator: true }))
    await page.getByRole('button', { name: 'Save' }).click()
    const allow = page.getByRole('button', { name: `Allow private targets for ${owned.name}` })
    await allow.waitFor()
    expect(await page.inputValue('[name=name]')).toBe('Inside')
    expect(await page.inputValue('[name="http.url"]')).toBe(url)
    if (scripts) expect(await axeViolations(page)).toEqual([])
    await allow.click()
    await page.getByText('Created.').waitFor()
    expect(await permissions()).toContain(owned.id)
    await expect
      .poll(() => database.prisma.monitor.findFirst({ where: { organizationId: owned.id, state: 'UP' } }))
      .toMatchObject({ name: 'Inside' })
    expect(tab.complaints.filter((each) => !each.includes('422'))).toEqual([])
  })

  test('a test is repeated with what was typed, and nothing is stored', async () => {
    const { organization: owned, signIn } = await organization('tested')
    await using tab = await open(ours)
    const { page } = tab
    await openForm(page, 'tested', await signIn('OWNER', { isOperator: true }))
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByRole('button', { name: `Allow private targets for ${owned.name}` }).click()
    await page.locator('#answer[data-state=UP]').waitFor()
    expect(await page.inputValue('[name=name]')).toBe('Inside')
    expect(await database.prisma.monitor.count({ where: { organizationId: owned.id } })).toBe(0)
  })

  test('others are told whom to ask, and have no buttons', async () => {
    const { signIn } = await organization('tenant')
    await using tab = await open(ours)
    const { page } = tab
    await openForm(page, 'tenant', await signIn('OWNER'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('the operator of this service decides', { exact: false }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Allow private targets' }).count()).toBe(0)
    expect(await page.inputValue('[name="http.url"]')).toBe(url)
  })

  test('the operator allows it for all, and others can use it at once', async () => {
    const [first, other] = [await organization('first'), await organization('other')]
    await using tab = await open(ours)
    const { page } = tab
    await openForm(page, 'first', await first.signIn('OWNER', { isOperator: true }))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Allow private targets for all organizations' }).click()
    await page.getByText('Created.').waitFor()
    expect(await permissions()).toContain(null)
    await page.context().clearCookies()
    await openForm(page, 'other', await other.signIn('OWNER'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Created.').waitFor()
  })
})
