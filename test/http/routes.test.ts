import { expect, test } from 'vitest'
import { loadAssets } from '../../src/http/assets.ts'
import { createRoutes, type RouterOptions, servedPaths } from '../../src/http/router.ts'

/** The routes, made of nothing that answers: they are not asked. */
async function routesServed(): Promise<{ method: string; path: string }[]> {
  const site = { assets: await loadAssets([]), baseUrl: 'https://allclear.example' }
  const parts = { config: {}, db: {}, billing: {} }
  const { routes } = createRoutes({ site, parts, metrics: {}, beats: {} } as unknown as RouterOptions)
  return routes.filter(({ method, path }) => method !== 'OPTIONS' && !path.endsWith('*'))
}

/** A path without the names of its parameters, as Hono or OpenAPI writes it. */
const shape = (path: string) =>
  path.replace(/:\w+(?:\{(?:[^{}]|\{[^}]*\})*\})?\??|\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')

const described = new Map(Object.entries(servedPaths).map(([path, item]) => [shape(path), Object.keys(item ?? {})]))

test('every path that is served is described, with its methods', async () => {
  const missing = (await routesServed())
    .filter(({ method, path }) => {
      const methods = described.get(shape(path))
      return methods === undefined || (method !== 'ALL' && !methods.includes(method.toLowerCase()))
    })
    .map(({ method, path }) => `${method} ${path}`)
  expect(missing).toEqual([])
})

test('every path that is described is served', async () => {
  const served = new Set((await routesServed()).map(({ path }) => shape(path)))
  // Led past Hono; and the three words of a heartbeat's signal.
  const elsewhere =
    /^\/api\/blacklist-monitor\/|^\/api\/v1\/heartbeats\/\{\}\/(start|fail)$|^\/api\/v1\/heartbeats\/\{\}$/
  expect([...described.keys()].filter((path) => !served.has(path) && !elsewhere.test(path))).toEqual([])
})
