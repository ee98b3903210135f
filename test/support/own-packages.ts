import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'

/**
 * Declares tests that need the packages of the `package.json` beside their file. They are not part of `npm install`,
 * because only these tests need them: without them, they are skipped with a message.
 * @param url the URL of the test file. @param load imports the module with the tests.
 * @throws in CI if the packages are not installed.
 */
export function describeWithOwnPackages(url: string, name: string, load: () => Promise<unknown>): void {
  const folder = fileURLToPath(new URL('.', url))
  if (existsSync(`${folder}node_modules`)) {
    describe(name, async () => void (await load()))
    return
  }
  const advice = `Skipped ${fileURLToPath(url)}: run "npm ci" in ${folder}`
  if (process.env['CI']) throw new Error(advice)
  process.stdout.write(`${advice}\n`)
  test.skip(name)
}
