import { expect, test } from 'vitest'
import { createRoutes, type RouterOptions, servedPaths } from '../../src/app/router.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'

/** The routes, with stubs that no test calls. */
async function routesServed(): Promise<{ method: string; path: string }[]> {
  const site = { assets: await loadAssets([]), baseUrl: 'https://allclear.example' }
  const dependencies = { config: {}, db: {}, billing: {}, pages: { site } }
  const { routes } = createRoutes({
    site,
    dependencies,
    pngRenderer: {},
    metrics: {},
    heartbeats: {},
  } as unknown as RouterOptions)
  return routes.filter(({ method, path }) => method !== 'OPTIONS' && !path.endsWith('*'))
}

/** Returns a path of Hono or OpenAPI without its parameter names. */
const shape = (path: string) =>
  path.replace(/:\w+(?:\{(?:[^{}]|\{[^}]*\})*\})?\??|\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')

const described = new Map(Object.entries(servedPaths).map(([path, item]) => [shape(path), Object.keys(item ?? {})]))

test('every served path is described with its methods', async () => {
  const missing = (await routesServed())
    .filter(({ method, path }) => {
      // Pages for people, who are signed in or about to be; programs use GraphQL.
      if (/^\/(console|setup|sign-in|sign-out|sign-up|confirm|invitations)(\/|$)/.test(path)) return false
      const methods = described.get(shape(path))
      return methods === undefined || (method !== 'ALL' && !methods.includes(method.toLowerCase()))
    })
    .map(({ method, path }) => `${method} ${path}`)
  expect(missing).toEqual([])
})

test('every described path is served', async () => {
  const served = new Set((await routesServed()).map(({ path }) => shape(path)))
  // These bypass Hono; the last four are the signals of a heartbeat.
  const elsewhere =
    /^\/api\/blacklist-monitor\/|^\/api\/v1\/heartbeats\/\{\}\/(start|fail|log)$|^\/api\/v1\/heartbeats\/\{\}$/
  expect([...described.keys()].filter((path) => !served.has(path) && !elsewhere.test(path))).toEqual([])
})
