import { consolePages } from '../../src/console/html/routes.tsx'

const never = () => {
  throw new Error('The routes are read, not used.')
}

/**
 * Every address below that of an organization in the console, in the router's syntax, such as
 * `keys/:id{key_[^/]+}/revoke`.
 */
export const consoleRoutes = consolePages({
  site: { assets: { url: never, routes: never }, baseUrl: '' } as never,
  contextOf: never,
  onChange: never,
  pngRenderer: { render: never },
})
  .routes.filter(({ path }) => path.startsWith('/console/:slug') && path.includes('}/'))
  .map(({ method, path }) => ({ method, path: path.replace(/^\/console\/:slug\{[^}]*\}\//, '') }))
