import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Returns whether the packages of the `package.json` beside a test file are installed. They are not part of `npm
 * install`, because only this file needs them.
 * @param url the URL of the test file.
 * @throws in CI if they are not installed.
 */
export function haveOwnPackages(url: string): boolean {
  const folder = fileURLToPath(new URL('.', url))
  if (existsSync(`${folder}node_modules`)) return true
  const advice = `Skipped ${fileURLToPath(url)}: run "npm ci" in ${folder}`
  if (process.env['CI']) throw new Error(advice)
  process.stdout.write(`${advice}\n`)
  return false
}
