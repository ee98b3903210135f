import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import type { DnsServer } from '../../src/core/config.ts'
import { root } from '../../src/core/process/paths.ts'
import { freePort } from '../support/free-port.ts'
import type { MailServer } from '../support/mail-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { line, title, verdict } from './report.ts'
import { startService } from './service.ts'

const executable = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))
/** Not a literal, which would bundle the library. */
const playwright: string = 'playwright-core'
const READER = 'reader@example.com'
const PASSWORD = 'correct horse battery'
/** The folder for screenshots of the steps; absent: none. */
const directory = process.env['SCREENSHOTS']

/**
 * (q) The first minutes in Chromium at 390 px, with a stopwatch: from the start to a live page and a received email.
 */
export async function firstMinutes(dns: DnsServer): Promise<void> {
  if (!executable) return title('(q) The first minutes: skipped, because Chromium is not installed')
  title('(q) The first minutes in Chromium, from the start of the service; times add up')
  const disk = await temporaryDirectory()
  try {
    await record(async (mail) => {
      const settings = { SMTP_URL: mail.url, ALLOW_PRIVATE_NETWORKS: 'true', LOG_LEVEL: 'fatal' }
      const service = await startService(dns, disk.path, settings)
      return { setup: `http://localhost:${service.port}/setup`, token: 'token-of-the-bench', stop: service.stop }
    })
  } finally {
    await disk.remove()
  }
}

/**
 * (r) The same from `git clone` of this repository into an empty folder, `npm install` and `npm start`, with its
 * printed link.
 */
export async function fromClone(): Promise<void> {
  if (!executable) return title('(r) From git clone: skipped, because Chromium is not installed')
  title('(r) From git clone to a live page and a received mail, in Chromium; times add up')
  const folder = await temporaryDirectory()
  try {
    await record(async (mail, step) => {
      const cwd = join(folder.path, 'allclear')
      await run('git', ['clone', '--quiet', fileURLToPath(root), cwd], folder.path)
      await step('git clone', null)
      await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], cwd)
      await step('npm install', null)
      return startClone(cwd, mail)
    })
  } finally {
    await folder.remove()
  }
}

const run = (command: string, args: readonly string[], cwd: string) => promisify(execFile)(command, args, { cwd })

/** Runs `npm start` in a clone, with only the settings that this machine requires: a mail server, and a free port. */
async function startClone(cwd: string, mail: MailServer): Promise<Started> {
  const port = await freePort()
  const settings = { PORT: String(port), SMTP_URL: mail.url, ALLOW_PRIVATE_NETWORKS: 'true' }
  // In a process group, because npm does not pass signals on to its children.
  const child = spawn('npm', ['start'], {
    ...{ cwd, env: { ...process.env, ...settings }, detached: true },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    if (child.pid === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGTERM')
    await ended
  }
  const setup = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += String(chunk)
      const [link] = /https?:\/\/\S+\/setup\?token=[\w-]+/.exec(printed) ?? []
      if (link !== undefined) resolve(link)
    })
    child.once('exit', () => reject(new Error(`npm start has ended without a link: ${printed}`)))
  })
  return { setup, token: null, stop }
}

/** A newly started service. */
interface Started {
  /** The address of its setup page. */
  readonly setup: string
  /** The token to type there; null: the link contains it. */
  readonly token: string | null
  stop(): Promise<void>
}

type Step = (what: string, page: Page | null) => Promise<void>

/**
 * Starts a service and goes through its setup with a stopwatch, and with screenshots if `SCREENSHOTS` names a
 * directory.
 */
async function record(start: (mail: MailServer, step: Step) => Promise<Started>): Promise<void> {
  const website = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
  const mail = await startMailServer()
  const { chromium }: typeof import('playwright-core') = await import(playwright)
  const browser = await chromium.launch({ executablePath: executable ?? '', args: ['--no-sandbox', '--disable-gpu'] })
  const seconds = (since: number) => (performance.now() - since) / 1000
  const begun = performance.now()
  let number = 0
  const step: Step = async (what, page) => {
    line(`${seconds(begun).toFixed(1).padStart(5)} s  ${what}`)
    number += 1
    if (page && directory) await page.screenshot({ path: join(directory, `${number}.png`) })
  }
  let service: Started | null = null
  try {
    if (directory) await mkdir(directory, { recursive: true })
    const beforeStart = { at: begun }
    service = await start(mail, async (what, page) => {
      await step(what, page)
      beforeStart.at = performance.now()
    })
    await step('the service is ready', null)
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const { port } = website.address() as AddressInfo
    await walk(service, mail, await context.newPage(), await context.newPage(), port, step)
    verdict('seconds from the start to a received mail', seconds(beforeStart.at), { most: 120 })
  } finally {
    await browser.close()
    await service?.stop()
    await mail.close()
    website.close()
  }
}

/** Does what a new user does, in two tabs: the console, and the status page as visitors see it. */
async function walk(
  { setup, token }: Started,
  mail: MailServer,
  owner: Page,
  reader: Page,
  port: number,
  step: Step,
): Promise<void> {
  const site = new URL(setup).origin
  await owner.goto(setup)
  await step('the page of the printed link is open', owner)
  const person = { ...(token !== null && { token }), email: 'ada@example.com', name: 'Ada', password: PASSWORD }
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
  await fill(reader, { email: READER })
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

/** @throws when the email contains no link. */
function confirmationIn({ mails }: MailServer): string {
  const link = /https?:\/\/\S+\/subscriptions?\/\S+/.exec(mails[0]?.text ?? '')?.[0]
  if (link === undefined) throw new Error(`The mail has no link: ${mails[0]?.text}`)
  return link
}
