import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { chromium } from 'playwright-core'
import { beforeAll, beforeEach, onTestFailed } from 'vitest'

/** Debian's packages, the headless shell first: it opens a tab in a quarter of the processor time. */
const executables = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath = executables.find((path) => existsSync(path))

/** The timeout of a tab: a busy machine takes longer than Playwright's half a minute. */
const PATIENCE_MS = 60_000

/**
 * Call this first in a test that needs the browser: without it, the test is skipped with the reason, or fails where CI
 * is set.
 */
function requireChromium(test: { skip(note?: string): void }): void {
  if (executablePath !== undefined) return
  const missing = `Chromium is not installed at ${executables.join(' or ')}`
  if (process.env['CI']) throw new Error(missing)
  test.skip(missing)
}

function launchChromium(path: string): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    // Without hinting, which depends on the machine, letters have the same edges everywhere.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--font-render-hinting=none'],
  })
}

/**
 * The browser of this process, closed with it. Starting one takes a second of processor time, and tabs share nothing:
 * each has its own context.
 */
let shared: Promise<Browser> | undefined

/**
 * A browser for the test file that calls this at its top; its tests are skipped, or fail in CI, if none is installed.
 */
export function useChromium() {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (executablePath === undefined) return
    shared ??= launchChromium(executablePath)
    browser = await shared
  })
  beforeEach((context) => requireChromium(context))

  /** Opens a new tab. Collects the browser's errors and warnings, and its requests to addresses that are not `ours`. */
  return async (ours: (url: string) => boolean, options: BrowserContextOptions = {}) => {
    if (!browser) throw new Error('The browser did not start.')
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      if (!ours(request.url())) complaints.push(`asked ${request.url()}`)
    })
    const unanswered: string[] = []
    page.on('requestfailed', (request) => unanswered.push(`${request.url()}: ${request.failure()?.errorText}`))
    // Adds what a failed test does not report.
    onTestFailed(() => {
      process.stderr.write(`${page.url()}\n${[...complaints, ...unanswered].join('\n')}\n`)
    })
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
  }
}
