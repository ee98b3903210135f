import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { chromium } from 'playwright-core'
import { beforeAll, beforeEach, onTestFailed } from 'vitest'

/** Debian's, the one without a window first: it opens a tab in a quarter of the processor time. */
const executables = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath = executables.find((path) => existsSync(path))

/** How long a tab waits for anything: a machine that has much else to do takes longer than Playwright's half a minute. */
const PATIENCE_MS = 60_000

/** Called first in a test that needs the browser: without it the test is skipped, saying so, or fails where CI is set. */
function requireChromium(test: { skip(note?: string): void }): void {
  if (executablePath !== undefined) return
  const missing = `Chromium is not installed at ${executables.join(' or ')}`
  if (process.env['CI']) throw new Error(missing)
  test.skip(missing)
}

function launchChromium(path: string): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    // Without hinting, which each machine sets for itself, letters have the same edges everywhere.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--font-render-hinting=none'],
  })
}

/**
 * The browser of this process, which ends with it. Starting one takes a second of processor time, and tabs share nothing: each has
 * a context of its own.
 */
let shared: Promise<Browser> | undefined

/** A browser for the test file that calls this at its top; its tests are skipped, or fail in CI, where none exists. */
export function useChromium() {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (executablePath === undefined) return
    shared ??= launchChromium(executablePath)
    browser = await shared
  })
  beforeEach((context) => requireChromium(context))

  /** A fresh tab, with everything the browser complains of, or asks of addresses that are not `ours`. */
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
    // What a failed test does not say itself.
    onTestFailed(() => {
      process.stderr.write(`${page.url()}\n${[...complaints, ...unanswered].join('\n')}\n`)
    })
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
  }
}
