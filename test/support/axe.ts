import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Half of what `axe.source` has: every document takes it from here. */
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe-core finds wrong with a page as it is: the rule, and the first elements that break it. @param rules all by default. */
export async function axeViolations(page: Page, rules: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source)
  return page.evaluate(async (only) => {
    // The line before has defined it.
    const { axe: inPage } = globalThis as unknown as { readonly axe: typeof axe }
    // The frame of a preview runs no script, so no rules either; the page that it shows is tried on its own.
    const { violations } = await inPage.run(document, {
      ...{ resultTypes: ['violations'], iframes: false },
      ...(only && { runOnly: [...only] }),
    })
    return violations.map(({ id, nodes }) => {
      const broken = nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`)
      return `${id}: ${broken.join(' | ')}`
    })
  }, rules)
}
