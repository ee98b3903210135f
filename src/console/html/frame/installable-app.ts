import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { bodyLimits } from '../../../core/input-limits.ts'
import { readForm } from '../../../http/page/form.tsx'
import type { Site } from '../../../http/page/layout.tsx'
import { renewBrowser } from '../../../notification/push/browser.ts'
import { privateHeaders } from '../../../people/html/frame.tsx'
import type { PngRenderer } from '../../../status-page/png-renderer.ts'
import type { ConsoleOptions } from './screen-routes.tsx'
import { answer } from './screen-routes.tsx'

/** Renders SVG as PNG. */
export type DrawPng = Pick<PngRenderer, 'render'>

/** The sizes of the icon, in pixels: of home screens by the manifest, and Apple’s. */
export const iconSizes = { APPLE: 180, SMALL: 192, LARGE: 512 } as const
/** The address of the icon in a size, without its host. */
export const iconPath = (size: number): string => `/console/icon-${size}.png`
/** The background of the icon, and of the window while the console loads. */
const BACKGROUND = '#14181a'
const MAX_SUBSCRIPTION_BYTES = bodyLimits.pushSubscription.most

/**
 * Adds the parts that make the console an app: its manifest, icons, and the service worker that shows notifications.
 */
export function installableApp(options: ConsoleOptions, { render }: DrawPng): Hono {
  const { site } = options
  const app = new Hono()
  const drawn = new Map<number, Promise<Buffer<ArrayBuffer>>>()
  const icon = (size: number) => {
    const known = drawn.get(size) ?? iconSvg(site, size).then((svg) => render(svg, ''))
    drawn.set(size, known)
    // A later request retries.
    known.catch(() => drawn.delete(size))
    return known
  }
  app.get('/console/app.webmanifest', (c) => c.json(webManifest(site), 200, { ...kept, 'content-type': manifestType }))
  app.get('/console/push-worker.js', (c) => sendWorker(c, site))
  for (const size of Object.values(iconSizes)) {
    app.get(iconPath(size), async (c) => c.body(await icon(size), 200, { ...kept, 'content-type': 'image/png' }))
  }
  app.post('/console/push-subscription', (c) =>
    answer(c, options, async (ctx) => {
      const { fields } = await readForm(c, MAX_SUBSCRIPTION_BYTES)
      await renewBrowser(ctx, Object.fromEntries(fields))
      return c.body(null, 204, privateHeaders)
    }),
  )
  return app
}

const manifestType = 'application/manifest+json'
const kept = { 'cache-control': 'public, max-age=3600' } as const

/** Sends the service worker from its scope's folder, at a stable address where browsers check for updates. */
async function sendWorker(c: HttpContext, { assets }: Site): Promise<Response> {
  const { body, headers } = await assets.routes.request(assets.url('push-worker.js'), { headers: c.req.raw.headers })
  return new Response(body, { headers: { ...Object.fromEntries(headers), 'cache-control': 'private, no-cache' } })
}

/** Returns the manifest that makes the console installable (W3C Web Application Manifest). */
function webManifest({ assets }: Site) {
  const png = (size: number, purpose: string) => ({
    ...{ src: iconPath(size), sizes: `${size}x${size}`, type: 'image/png', purpose },
  })
  return {
    name: 'Allclear',
    short_name: 'Allclear',
    start_url: '/console',
    scope: '/console',
    display: 'standalone',
    background_color: BACKGROUND,
    theme_color: BACKGROUND,
    icons: [
      { src: assets.url('favicon.svg'), sizes: 'any', type: 'image/svg+xml', purpose: 'any' },
      png(iconSizes.SMALL, 'any'),
      png(iconSizes.LARGE, 'any'),
      png(iconSizes.LARGE, 'maskable'),
    ],
  }
}

/** Returns the icon on its background, within the circle that every launcher shows. */
async function iconSvg({ assets }: Site, size: number): Promise<string> {
  const drawing = await (await assets.routes.request(assets.url('favicon.svg'))).text()
  const inner = drawing.replace('<svg ', '<svg x="5" y="5" width="22" height="22" ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="${size}" height="${size}"><rect width="32" height="32" fill="${BACKGROUND}"/>${inner}</svg>`
}
