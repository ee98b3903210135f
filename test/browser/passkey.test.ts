import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { announceUser } from '../../src/people/session.ts'
import { useChromium } from '../support/chromium.ts'
import { testConsole } from '../support/console.ts'

const { app, database, organization } = await testConsole()
const { signIn } = await organization('keyring')
const openTab = useChromium()
const ours = (url: string) => url.startsWith(app.baseUrl) || url.startsWith('data:')

/** Adds an unlocked authenticator to the browser. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** Asks to remove a passkey that does not exist: 404, or 401 once the service knows that a confirmation is needed. */
async function removalStatus(page: Page): Promise<number> {
  const headers = { 'sec-fetch-site': 'same-origin' }
  const address = `${app.baseUrl}/console/keyring/account/passkeys/remove`
  return (await page.request.post(address, { headers, form: { id: 'none' } })).status()
}

test('a passkey is registered, signs in, and confirms presence', async () => {
  const { token, userId } = await signIn('OWNER')
  const tab = await openTab(ours)
  await using _ = tab
  const { page, complaints } = tab
  await addAuthenticator(page)
  await page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])

  await page.goto(`${app.baseUrl}/console/keyring/account`)
  await page.fill('[name=passkeyName]', 'Laptop')
  await page.click('[data-passkey=register]')
  await page.waitForSelector('#passkeys ~ ul li')
  expect(await page.textContent('#passkeys ~ ul li')).toContain('Laptop')
  expect(await database.prisma.passkey.count({ where: { userId } })).toBe(1)

  await page.click('text=Sign out >> nth=0')
  await page.goto(`${app.baseUrl}/sign-in?to=/console/keyring/account`)
  await page.click('[data-passkey=sign-in]')
  await page.waitForURL(`${app.baseUrl}/console/keyring/account`)
  expect(await page.textContent('#passkeys ~ ul li')).toContain('last used')

  const value = (await page.context().cookies()).find(({ name }) => name === 'allclear_session')?.value ?? ''
  expect(value).not.toBe(token)
  await database.prisma.session.updateMany({ where: { userId }, data: { confirmedAt: new Date(0) } })
  await announceUser({ db: database.prisma }, userId)
  await expect.poll(() => removalStatus(page)).toBe(401)
  await page.goto(`${app.baseUrl}/console/keyring/account`)
  await page.click('[aria-label="Remove: Laptop"]')
  expect(await page.textContent('h1')).toContain('Confirm')
  await page.click('[data-passkey=confirm]')
  await page.waitForURL(`${app.baseUrl}/console/keyring/account`)
  expect(await database.prisma.passkey.count({ where: { userId } })).toBe(0)
  // The page that asks for the confirmation is a 401.
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([])
})

test('a passkey that the browser autofills signs in, without the button', async () => {
  const { token, userId } = await signIn('OWNER')
  const tab = await openTab(ours)
  await using _ = tab
  const { page } = tab
  await addAuthenticator(page)
  await page.context().addCookies([{ name: 'allclear_session', value: token, url: app.baseUrl }])
  await page.goto(`${app.baseUrl}/console/keyring/account`)
  await page.click('[data-passkey=register]')
  await page.waitForSelector('#passkeys ~ ul li')
  await page.context().clearCookies()
  const asked = () => database.prisma.oneTimeToken.count({ where: { purpose: 'PASSKEY' } })
  const before = await asked()
  await page.goto(`${app.baseUrl}/sign-in?to=/console/keyring/keys`)
  expect(await asked()).toBe(before)
  await page.focus('[name=email]')
  await page.waitForURL(`${app.baseUrl}/console/keyring/keys`)
  expect(await database.prisma.session.count({ where: { userId, hash: { not: '' } } })).toBe(2)
})

test('a browser without passkeys is not offered any', async () => {
  const tab = await openTab(ours)
  await using _ = tab
  await tab.page.addInitScript('delete window.PublicKeyCredential')
  await signIn('OWNER')
  await tab.page.goto(`${app.baseUrl}/sign-in`)
  expect(await tab.page.isVisible('[data-passkey=sign-in]')).toBe(false)
})

test('a cancelled passkey prompt is reported beside the button', async () => {
  const tab = await openTab(ours)
  await using _ = tab
  await addAuthenticator(tab.page)
  await signIn('OWNER')
  await tab.page.goto(`${app.baseUrl}/sign-in`)
  await tab.page.click('[data-passkey=sign-in]')
  await tab.page.waitForSelector('.passkey [role=alert]')
  expect(await tab.page.textContent('.passkey [role=alert]')).toBe('You chose no passkey, or it took too long.')
})
