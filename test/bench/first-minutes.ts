import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { DnsServer } from '../../src/core/config.ts'
import type { MailServer } from '../support/mail-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { line, title, verdict } from './report.ts'
import type { Service } from './service.ts'
import { startService } from './service.ts'

const executable = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))
/** Not a literal, which would put the library into the bundle. */
const playwright: string = 'playwright-core'
const READER = 'reader@example.com'
const PASSWORD = 'correct horse battery'
/** Where screenshots of the steps go; absent: there are none. */
const directory = process.env['SCREENSHOTS']

/** (q) The first minutes in Chromium at 390 px, with a stopwatch: from the start to a live page and a received mail. */
export async function firstMinutes(dns: DnsServer): Promise<void> {
  if (!executable) return title('(q) The first minutes: skipped, because Chromium is not installed')
  title('(q) The first minutes in Chromium, from the start of the service; times add up')
  const website = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
  const [disk, mail] = [await temporaryDirectory(), await startMailServer()]
  const begun = performance.now()
  const settings = { SMTP_URL: mail.url, ALLOW_PRIVATE_NETWORKS: 'true', LOG_LEVEL: 'fatal' }
  const service = await startService(dns, disk.path, settings)
  const { chromium }: typeof import('playwright-core') = await import(playwright)
  const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    if (directory) await mkdir(directory, { recursive: true })
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const { port } = website.address() as AddressInfo
    let number = 0
    const step = async (what: string, page: Page | null) => {
      line(`${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  ${what}`)
      number += 1
      if (page && directory) await page.screenshot({ path: join(directory, `${number}.png`) })
    }
    await step('the service is ready', null)
    await walk(service, mail, await context.newPage(), await context.newPage(), port, step)
    verdict('seconds from the start to a received mail', (performance.now() - begun) / 1000, { most: 120 })
  } finally {
    await browser.close()
    await service.stop()
    await mail.close()
    await disk.remove()
    website.close()
  }
}

/** Does what a newcomer does, on two tabs: the console, and the status page as its readers see it. */
async function walk(
  service: Service,
  mail: MailServer,
  owner: Page,
  reader: Page,
  port: number,
  step: (what: string, page: Page | null) => Promise<void>,
): Promise<void> {
  const site = `http://localhost:${service.port}`
  await owner.goto(`${site}/setup`)
  await step('the page of the printed link is open', owner)
  const person = { token: 'token-of-the-bench', email: 'ada@example.com', name: 'Ada', password: PASSWORD }
  await fill(owner, { ...person, organizationName: 'Example', slug: 'example' })
  await owner.click('main button[type=submit]')
  await owner.waitForURL('**/console/example/start')
  await step('signed in', owner)
  await fill(owner, { target: `http://127.0.0.1:${port}/` })
  await owner.click('main button[type=submit]')
  await owner.waitForURL('**/console/example/now')
  await step('the website is watched', owner)
  await reader.goto(`${site}/status/example`)
  await reader.getByText('All services are operational').first().waitFor()
  await step('the live page says that it is up', reader)
  await reader.goto(`${site}/status/example/subscribe`)
  await fill(reader, { address: READER })
  await reader.click('main button[type=submit]')
  await mail.arrived(1, ({ envelopeTo }) => envelopeTo === READER)
  await step('the first mail is received', reader)
  await reader.goto(`${site}${new URL(confirmationIn(mail)).pathname}`)
  await reader.click('main button[type=submit]')
  await reader.goto(`${site}/status/example`)
  await owner.goto(`${site}/console/example/incidents/new`)
  await fill(owner, { title: 'Slow answers', message: 'We look into it.' })
  await owner.getByRole('button', { name: 'Report', exact: true }).click()
  await owner.waitForURL('**/console/example/incidents/inc_*')
  await step('an incident is reported', owner)
  await reader.getByText('Slow answers').first().waitFor()
  await step('the open page shows it', reader)
  await mail.arrived(1, ({ envelopeTo, subject = '' }) => envelopeTo === READER && subject.includes('Slow answers'))
  await step('its mail is received', null)
}

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(fields)) await page.fill(`[name="${name}"]`, value)
}

/** @throws when the mail has no link. */
function confirmationIn({ mails }: MailServer): string {
  const link = /https?:\/\/\S+\/subscriptions?\/\S+/.exec(mails[0]?.text ?? '')?.[0]
  if (link === undefined) throw new Error(`The mail has no link: ${mails[0]?.text}`)
  return link
}
