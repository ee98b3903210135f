import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/people/password.ts'
import { createResetLink } from '../../src/people/sign-in/password-reset.ts'
import { axeViolations } from '../support/axe.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'
import { testContext } from '../support/context.ts'

const { app, database, organization } = await testConsole({
  OIDC_ISSUER: 'http://127.0.0.1:9',
  OIDC_CLIENT_ID: 'allclear',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'status@example.com',
  SIGNUP: 'open',
})
const { prisma } = database
const { signIn } = await organization('axes')
const newTab = useChromium()
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

/** Returns the problems of pages, at full width and on a phone. */
async function violationsOf(page: Page, paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    await page.goto(`${app.baseUrl}${path}`)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 })
      found.push(...(await axeViolations(page)).map((violation) => `${path}: ${violation}`))
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
      if (scrollWidth > width) found.push(`${path}: ${scrollWidth} px wide`)
    }
  }
  return found
}

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test('the pages to sign in are accessible', async () => {
    const { userId } = await signIn('OWNER')
    const operator = testContext(prisma, { actor: { kind: 'operator' }, now: () => new Date() })
    const reset = await createResetLink(operator, userId)
    await using tab = await newTab((url) => url.startsWith(app.baseUrl), { colorScheme })
    const paths = ['/sign-in', '/sign-in/link', '/sign-in/reset', '/sign-up', reset, `${reset}x`]
    expect(await violationsOf(tab.page, paths)).toEqual([])
    const { email } = await prisma.user.update({ where: { id: userId }, data: { passwordHash, totpEnabled: true } })
    await tab.page.goto(`${app.baseUrl}/sign-in`)
    await tab.page.getByLabel('Email').fill(email)
    await tab.page.getByLabel('Password').fill(password)
    await tab.page.keyboard.press('Enter')
    await tab.page.getByLabel('Code').waitFor()
    expect(await axeViolations(tab.page)).toEqual([])
  })

  test('the account screens are accessible', async () => {
    const { token, userId } = await signIn('OWNER', { isOperator: true })
    const member = await signIn('VIEWER')
    const createdAt = new Date()
    const passkey = { userId, name: 'Laptop', publicKey: new Uint8Array(1), counter: 0, createdAt }
    await prisma.passkey.create({ data: { ...passkey, id: `laptop-${colorScheme}` } })
    await prisma.identity.create({ data: { issuer: 'https://id.example', subject: userId, userId, createdAt } })
    await using tab = await newTab((url) => url.startsWith(app.baseUrl), { colorScheme })
    await tab.page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
    const paths = ['account', `people/${member.userId}/reset`].map((path) => `/console/axes/${path}`)
    expect(await violationsOf(tab.page, ['/confirm', ...paths])).toEqual([])
    await tab.page.goto(`${app.baseUrl}/console/axes/account/second-factor`)
    await tab.page.getByRole('button', { name: 'Set up' }).click()
    await tab.page.getByRole('img', { name: 'QR code' }).waitFor()
    expect(await axeViolations(tab.page)).toEqual([])
  })
})
