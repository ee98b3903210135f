import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Half the size of `axe.source`; every document gets it from here. */
const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Returns axe-core's findings on a page: the rule, and the first elements that violate it.
 * @param rules all by default.
 */
export async function axeViolations(page: Page, rules: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source)
  return page.evaluate(async (only) => {
    // The previous line has defined it.
    const { axe: inPage } = globalThis as unknown as { readonly axe: typeof axe }
    // The frame of a preview runs no scripts, so axe cannot run in it; the page that it shows is tested on its own.
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
