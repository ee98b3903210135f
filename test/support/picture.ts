import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pixelmatch from 'pixelmatch'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { root } from '../../src/core/process/paths.ts'

/** The folder of the reference pictures. `npm run pictures` writes them. */
const folder = new URL('test/browser/pictures/', root)

/**
 * The share of pixels that may differ, because more than a change of the page can move an edge. A coloured word is
 * more.
 */
const TOLERANCE = 0.001
/** The tolerance for a pixel's colour, 0 to 1: pictures are stored with 128 colours. */
const COLOUR_TOLERANCE = 0.1

/** Returns the difference between a page and its reference picture, with files to look at; null: none. */
export async function differenceFrom(page: Page, name: string): Promise<string | null> {
  await page.evaluate(() => document.fonts.ready)
  const taken = await page.screenshot({ animations: 'disabled', caret: 'hide', scale: 'css' })
  const file = new URL(`${name}.png`, folder)
  if (process.env['RENEW_PICTURES']) {
    writeFileSync(file, execFileSync('pngquant', ['--strip', '--speed', '1', '128', '-'], { input: taken }))
    return null
  }
  const shown = PNG.sync.read(taken)
  if (!existsSync(file)) return `There is no picture ${name}: make it with npm run pictures.`
  const expected = PNG.sync.read(readFileSync(file))
  const { width, height } = expected
  const size = `${shown.width} × ${shown.height}`
  if (size !== `${width} × ${height}`) return `${name} is ${size}, its picture ${width} × ${height}.`
  const marked = new PNG({ width, height })
  const count = pixelmatch(expected.data, shown.data, marked.data, width, height, { threshold: COLOUR_TOLERANCE })
  const share = count / (width * height)
  if (share <= TOLERANCE) return null
  const seen = join(tmpdir(), 'allclear-pictures')
  mkdirSync(seen, { recursive: true })
  writeFileSync(join(seen, `${name}.png`), taken)
  writeFileSync(join(seen, `${name}.difference.png`), PNG.sync.write(marked))
  return `${(100 * share).toFixed(2)}% of ${name} differ from its picture: see ${seen}. Meant so? npm run pictures`
}
