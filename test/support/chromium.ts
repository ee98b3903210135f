import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'

const executablePath = '/usr/bin/chromium'

/** Why there is no browser to test with, or null when there is one. */
export const chromiumMissing = existsSync(executablePath) ? null : `Chromium is not installed at ${executablePath}`

/** Called first in a test that needs the browser: without it the test is skipped, saying so, or fails where CI is set. */
export function requireChromium(test: { skip(note?: string): void }): void {
  if (chromiumMissing === null) return
  if (process.env['CI']) throw new Error(chromiumMissing)
  test.skip(chromiumMissing)
}

/** Starts Debian's Chromium; the caller closes it. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'] })
}
