import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkScript } from '../../../src/blacklist/html/routes.tsx'
import { bundleAssets } from '../../../src/http/assets/asset-bundle.ts'
import type { Assets } from '../../../src/http/assets/assets.ts'
import { loadAssets } from '../../../src/http/assets/assets.ts'

let assets: Assets
beforeAll(async () => {
  assets = await loadAssets([checkScript])
})

describe('assets', () => {
  test.each([
    ['style.css', 'text/css; charset=utf-8', '.verdict'],
    ['check.js', 'text/javascript; charset=utf-8', 'MutationObserver'],
    ['favicon.svg', 'image/svg+xml', '<svg'],
  ])('%s is served under a name with its hash and cached forever', async (name, type, part) => {
    const [stem, extension] = name.split('.')
    const url = assets.url(name)
    expect(url).toMatch(new RegExp(`^/assets/${stem}\\.[0-9a-f]{10}\\.${extension}$`))

    const response = await assets.routes.request(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.has('etag')).toBe(false)
    expect(await response.text()).toContain(part)
  })

  test('HEAD returns the headers without a body', async () => {
    const response = await assets.routes.request(assets.url('style.css'), { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect(await response.text()).toBe('')
  })

  test.each([
    '/assets/style.css',
    '/assets/style.0000000000.css',
    '/assets/',
    '/assets/..%2fassets.ts',
    '/assets/%2e%2e%2f%2e%2e%2fpackage.json',
    '/assets/__proto__',
  ])('%s is not found', async (path) => {
    expect((await assets.routes.request(path)).status).toBe(404)
  })

  test('the same sources always get the same names', async () => {
    const { files } = await bundleAssets([checkScript])
    const again = new Map(
      files.map(({ name, contents }) => [name, createHash('sha256').update(contents).digest('hex')]),
    )
    for (const name of ['style.css', 'check.js', 'favicon.svg'])
      expect(assets.url(name)).toContain(`.${again.get(name)?.slice(0, 10)}.`)
  })

  test('a misspelt name throws', () => {
    expect(() => assets.url('stlye.css')).toThrow('no asset named stlye.css')
  })

  test('a missing script stops the start', async () => {
    await expect(loadAssets([new URL('./missing.ts', import.meta.url)])).rejects.toThrow('missing.ts')
  })

  test('the style sheet loads nothing from other hosts', async () => {
    const css = await (await assets.routes.request(assets.url('style.css'))).text()
    expect(css).not.toMatch(/url\((?!"?\/assets\/)|@import|https?:/)
  })

  test('the fonts are ours, immutable and small', async () => {
    const css = await (await assets.routes.request(assets.url('style.css'))).text()
    const paths = [...css.matchAll(/url\("?(\/assets\/[^)"]+\.woff2)"?\)/g)].map(([, path]) => path ?? '')
    expect(paths).toHaveLength(2)
    for (const path of paths) {
      const font = await assets.routes.request(path)
      expect(font.headers.get('content-type')).toBe('font/woff2')
      expect(font.headers.get('cache-control')).toContain('immutable')
      const content = Buffer.from(await font.arrayBuffer())
      expect(content.subarray(0, 4).toString()).toBe('wOF2')
      expect(content.length).toBeLessThan(path.includes('latin-ext') ? 90_000 : 50_000)
    }
  })
})
