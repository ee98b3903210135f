import { expect, test } from 'vitest'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole()
const acme = await organization('acme')
const editor = await acme.signIn('EDITOR')
const open = useChromium()
const ours = (url: string) =>
  /^(data|about):/.test(url) || url.startsWith(app.baseUrl) || url.startsWith(app.baseUrl.replace('http', 'ws'))

test.each([true, false])('a new service has no status until somebody states one, with scripts: %s', async (scripts) => {
  await using tab = await open(ours, { javaScriptEnabled: scripts, viewport: { width: 390, height: 844 } })
  const { page } = tab
  const name = `Search ${scripts}`
  await page.context().addCookies([{ name: 'allclear_session', value: editor.token, url: app.baseUrl }])

  // A refused form keeps the choice.
  await page.goto(`${app.baseUrl}/console/acme/services/new`)
  const status = page.getByLabel('Status')
  expect(await status.inputValue()).toBe('OPERATIONAL')
  await status.selectOption({ label: 'None yet' })
  await page.fill('[name=name]', ' ')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.locator('[aria-invalid=true]').first().waitFor()
  expect(await status.inputValue()).toBe('')
  if (scripts) expect(await axeViolations(page)).toEqual([])
  await page.fill('[name=name]', name)
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('Created.').waitFor()
  await page.locator('main li, main tr').filter({ hasText: name }).getByText('No status yet').first().waitFor()
  await page.goto(`${app.baseUrl}/status/acme`)
  await page.locator('main li').filter({ hasText: name }).getByText('No status yet').first().waitFor()

  await page.goto(`${app.baseUrl}/console/acme/services`)
  await page.locator('main').getByRole('link', { name }).first().click()
  await page.locator('#edit').waitFor()
  expect(await status.inputValue()).toBe('')
  await status.selectOption({ label: 'Operational' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  await page.goto(`${app.baseUrl}/status/acme`)
  const shown = page.locator('main li').filter({ hasText: name })
  await shown.getByText('Operational').first().waitFor()
  expect(await shown.getByText('No status yet').count()).toBe(0)
  const { id } = await database.prisma.service.findFirstOrThrow({ where: { name } })
  const stated = await database.prisma.event.findMany({ where: { subjectId: id, kind: 'SERVICE_STATUS_CHANGED' } })
  expect(stated.map(({ actorUserId }) => actorUserId)).toEqual([editor.userId])
  expect(tab.complaints.filter((each) => !each.includes('422'))).toEqual([])
})
