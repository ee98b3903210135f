// @slow
import { beforeAll, describe, expect, test } from 'vitest'
import { createRoutes, type RouterOptions, servedPaths } from '../../src/app/router.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { publicCacheControl } from '../../src/http/response/cache-control.ts'
import { testApp } from '../support/app.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization, mutate } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { serveUnder } from '../support/own-domain.ts'
import { type RawAnswer, rawGet } from '../support/raw-get.ts'
import { sendRaw } from '../support/raw-http.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

/** What caches may do with the answers of a route; those of all other routes are private. */
const shared = {
  'for 4 s': publicCacheControl,
  'after asking': 'public, no-cache',
  'for 60 s': 'public, max-age=60',
  'for 5 minutes': 'public, max-age=300',
  'for an hour': 'public, max-age=3600',
  'for a day': 'public, max-age=86400',
  'for ever': 'public, max-age=31536000, immutable',
} as const
type Sharing = keyof typeof shared

/** The documents of a page, below its address. */
const documents: Readonly<Record<string, Sharing>> = {
  '/api/v2/components.json': 'for 4 s',
  '/api/v2/incidents.json': 'for 4 s',
  '/api/v2/incidents/unresolved.json': 'for 4 s',
  '/api/v2/scheduled-maintenances.json': 'for 4 s',
  '/api/v2/scheduled-maintenances/active.json': 'for 4 s',
  '/api/v2/scheduled-maintenances/upcoming.json': 'for 4 s',
  '/api/v2/status.json': 'for 4 s',
  '/api/v2/summary.json': 'for 4 s',
  '/badge.svg': 'for 60 s',
  '/embed': 'for 4 s',
  '/files/{}': 'for 4 s',
  '/history.atom': 'for 4 s',
  '/history.rss': 'for 4 s',
  '/incidents/{}/picture.png': 'for 5 minutes',
  '/maintenance.ics': 'for 4 s',
  '/maintenance/{}/picture.png': 'for 5 minutes',
  '/picture.png': 'for 5 minutes',
  '/reports/{}/report.csv': 'for 4 s',
  '/reports/{}/report.json': 'for 4 s',
  '/services/{}/badge.svg': 'for 60 s',
}

/** The screens of a page, which also exist in each language. */
const screens = ['', '/history', '/incidents/{}', '/maintenance/{}', '/reports', '/reports/{}', '/services/{}'] as const

const below = (base: string, paths: Readonly<Record<string, Sharing>>) =>
  Object.fromEntries(Object.entries(paths).map(([path, sharing]) => [base + path, sharing]))
const asScreens = (base: string) => Object.fromEntries(screens.map((path) => [base + path, 'for 4 s' as const]))

const publicPaths: Readonly<Record<string, Sharing>> = {
  ...{ ...below('', documents), ...below('/status/{}', documents) },
  ...{ ...asScreens('/status/{}'), ...asScreens('/status/{}/{}'), ...asScreens('/{}') },
  ...{ '/history': 'for 4 s', '/incidents/{}': 'for 4 s', '/services/{}': 'for 4 s' },
  '/maintenance/{}': 'for 4 s',
  ...{ '/reports': 'for 4 s', '/reports/{}': 'for 4 s' },
  ...{ '/docs': 'after asking', '/docs/{}': 'after asking', '/docs/reference': 'after asking' },
  '/graphql': 'after asking',
  '/openapi.json': 'after asking',
  '/schema/configuration.json': 'after asking',
  '/robots.txt': 'for a day',
  '/docs/images/{}': 'for an hour',
  '/console/app.webmanifest': 'for an hour',
  ...{ '/console/icon-180.png': 'for an hour', '/console/icon-192.png': 'for an hour' },
  '/console/icon-512.png': 'for an hour',
  ...{ '/assets/{}': 'for ever', '/assets/{}/{}': 'for ever', '/logos/{}': 'for ever' },
}

/** The paths whose answers no shared cache may keep. All below `/console` are private, but those named above. */
const privatePaths: readonly string[] = [
  // The home page; on a custom domain, the status page, which declares itself public.
  '/',
  ...['', '/status/{}'].flatMap((base) => ['/access', '/access/{}', '/subscribe'].map((path) => base + path)),
  ...['/status', '/pricing', '/pricing/upgrade', '/pricing/check-plan', '/check', '/check/{}', '/docs/search'],
  ...['/billing/check-plan/renew', '/billing/check-plan/{}', '/alerts/{}'],
  ...['', '/confirm', '/secret', '/unsubscribe'].map((path) => `/subscriptions/{}${path}`),
  ...['/healthz', '/readyz', '/metrics'],
  ...['/.well-known/allclear-certificate', '/.well-known/allclear-challenge/{}'],
  ...['bulk', 'domain', 'ip'].map((path) => `/api/blacklist-monitor/${path}`),
  ...['btcpay/webhook', 'webhook', 'cancel', 'checkout/{}', 'status', 'success', 'success/live'].map(
    (path) => `/api/v1/billing/${path}`,
  ),
  ...['', '/fail', '/log', '/start', '/{}'].map((path) => `/api/v1/heartbeats/{}${path}`),
  ...['/api/v1/incidents/{}/files', '/api/v1/incidents/{}/files/{}', '/api/v1/integrations/{}', '/v2/enqueue'],
  ...['/setup', '/invitations/{}', '/confirm', '/sign-up', '/sign-up/{}', '/sign-out', '/sign-in', '/sign-in/code'],
  ...['/sign-in/link', '/sign-in/link/{}', '/sign-in/reset', '/sign-in/reset/{}'],
  ...['', '/callback', '/link'].map((path) => `/sign-in/openid${path}`),
  ...['', '/confirm', '/confirm/options', '/options', '/register', '/register/options'].map(
    (path) => `/sign-in/passkey${path}`,
  ),
]

const isScreen = (path: string) => /^\/console(\/|$)/.test(path) && !(path in publicPaths)

/** Returns a path of Hono or OpenAPI without its parameter names. */
const shape = (path: string) =>
  path.replace(/:\w+(?:\{(?:[^{}]|\{[^}]*\})*\})?\??|\{\w+\}/g, '{}').replace(/(?<=.)\/$/, '')

async function allPaths(): Promise<string[]> {
  const site = { assets: await loadAssets([]), baseUrl: 'https://allclear.example' }
  const dependencies = { config: {}, db: {}, billing: {}, pages: { site } }
  const stubs = { site, dependencies, pngRenderer: {}, metrics: {}, heartbeats: {} } as unknown as RouterOptions
  const routes = createRoutes(stubs).routes.filter(({ method, path }) => method !== 'OPTIONS' && !path.endsWith('*'))
  const paths = [...routes.map(({ path }) => path), ...Object.keys(servedPaths)].map(shape)
  // The theme of a page is one of the assets, and `/status/` redirects.
  return [...new Set(paths)].filter((path) => path !== '')
}

const paths = await allPaths()

test('every served path is declared public or private, and every declared path is served', () => {
  const declared = [...Object.keys(publicPaths), ...privatePaths]
  expect(declared.filter((path, index) => declared.indexOf(path) !== index)).toEqual([])
  expect(paths.filter((path) => !declared.includes(path) && !isScreen(path))).toEqual([])
  expect(declared.filter((path) => !paths.includes(path))).toEqual([])
})

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const database = await testDatabase()
await testApp({
  dns: await startDnsServer(scriptedLists()),
  database,
  settings: { PORT: String(port), BASE_URL: 'https://allclear.example' },
})
const startsAt = new Date(Date.now() + DAY)
const acme = await filledOrganization(url, { startsAt, endsAt: new Date(startsAt.getTime() + HOUR) })
const host = `${acme.slug}.status.example`
await serveUnder(testContext(database.prisma), acme.id, host)
const { secret: token } = await mutate<{ id: string; secret: string }>(
  url,
  acme.key,
  'createPageToken',
  'CreatePageTokenPayload',
  { pageId: acme.ids.StatusPage, name: 'Reader' },
  'id secret',
)
const [asset = ''] = /\/assets\/[^"]+\.css/.exec(`${(await rawGet(`${url}/docs`, {})).body}`) ?? []
const [library = ''] =
  /\/assets\/graphiql\/[^"&]+/.exec(`${(await rawGet(`${url}/graphql`, { accept: 'text/html' })).body}`) ?? []

/** Returns an existing address with the shape of a path, and the host that serves it. */
function addressOf(path: string): { readonly at: string; readonly headers: Record<string, string> } {
  const known: Readonly<Record<string, string>> = {
    ...{
      '/assets/{}': asset,
      '/assets/{}/{}': library,
      '/docs/images/{}': '/docs/images/console-monitor.png',
      '/docs/{}': '/docs/graphql',
    },
    ...{ '/check/{}': '/check/127.0.0.2', '/{}': '/en', '/status/{}/{}': `/status/${acme.slug}/en` },
  }
  const at =
    known[path] ??
    path
      .replace(/^\/status\/\{\}/, `/status/${acme.slug}`)
      .replace(/^\/\{\}(?=\/)/, '/en')
      .replace(/^(\/status\/[^/]+)\/\{\}(?=\/)/, '$1/en')
      .replace(/services\/\{\}/, `services/${acme.ids.Service}`)
      .replace(/incidents\/\{\}/, `incidents/${acme.ids.Incident}`)
      .replace(/maintenance\/\{\}/, `maintenance/${acme.ids.Maintenance}`)
      .replace(/\{\}/g, 'none')
  const isOfPage = [...Object.keys(documents), ...screens.flatMap((screen) => [screen, `/{}${screen}`])].includes(path)
  return { at, headers: { accept: 'text/html,*/*', 'accept-language': 'en', ...(isOfPage && { host }) } }
}

/** Whatever says who the caller is. */
const credentials: readonly Record<string, string>[] = [
  {},
  { authorization: `Bearer ${acme.key}` },
  { 'x-api-key': acme.key },
  { authorization: `Bearer ${token}` },
  { authorization: 'Bearer ac_wrong' },
  { cookie: `allclear_session=x; __Host-allclear=x; __Host-allclear_${acme.ids.StatusPage}=1.x` },
]

/** Asserts that no shared cache can keep an answer, and no browser guesses its type. */
function expectPrivate({ headers }: Pick<RawAnswer, 'headers'>, about: unknown) {
  const { 'cache-control': policy = '', 'x-content-type-options': options } = headers
  expect([policy, options], String(about)).toEqual([expect.stringMatching(/\b(private|no-store)\b/), 'nosniff'])
  expect(policy, String(about)).not.toMatch(/public|s-maxage/)
}

describe('an answer', () => {
  let found = 0
  test.each(paths.filter((path) => !/\/live$|^\/graphql$/.test(path)))(
    'of %s has the declared policy',
    async (path) => {
      const sharing = publicPaths[path]
      const { at, headers } = addressOf(path)
      for (const credential of credentials) {
        const answer = await rawGet(url + at, { ...headers, ...credential })
        if (sharing === undefined || answer.status !== 200) expectPrivate(answer, at)
        else {
          found += 1
          expect([answer.headers['cache-control'], answer.headers['x-content-type-options']]).toEqual([
            shared[sharing],
            'nosniff',
          ])
          expectVary(path, answer)
        }
      }
    },
  )

  test('of a public path is found for most of them', () => {
    // Not those of reports and logos, of which the organization has none.
    expect(found).toBeGreaterThan(45 * credentials.length)
  })

  /** Asserts that a shared answer names every header on which it depends. */
  function expectVary(path: string, { headers }: RawAnswer) {
    const vary = headers.vary?.toLowerCase().split(/, */) ?? []
    if (/^text\/|json|xml|javascript|svg/.test(headers['content-type'] ?? '') && path !== '/robots.txt')
      expect(vary).toContain('accept-encoding')
    // Readers of an address without a language are redirected to theirs.
    if (/^(\/status\/\{\})?\/(history|incidents\/\{\}|services\/\{\})$|^\/status\/\{\}$/.test(path))
      expect(vary).toContain('accept-language')
  }
})

test('GraphQL is cacheable only for visitors, by GET', async () => {
  const page = `{ statusPage(slug: "${acme.slug}") { name } }`
  const documentsOf = [page, '{ __typename }', '{ organization { id } }', '{ nothing }', '{', '']
  for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream', '*/*']) {
    for (const document of documentsOf) {
      for (const credential of [...credentials, { 'x-organization': acme.slug }]) {
        const answer = await rawGet(`${url}/graphql?query=${encodeURIComponent(document)}`, { accept, ...credential })
        const isVisitor = Object.keys(credential).every((name) => name === 'cookie')
        if (document !== page || !isVisitor || accept === 'text/event-stream') expectPrivate(answer, document)
        else {
          expect(answer.headers['cache-control']).toBe(publicCacheControl)
          expect(answer.headers.vary).toBe('accept, authorization, x-api-key, x-organization')
          expect(answer.headers['x-content-type-options']).toBe('nosniff')
        }
        const posted = await fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { accept, 'content-type': 'application/json', ...credential },
          body: JSON.stringify({ query: document }),
        })
        expectPrivate({ headers: Object.fromEntries(posted.headers) }, document)
        await posted.body?.cancel()
      }
    }
  }
})

test('GraphiQL and answers of GraphQL at the same address are told apart by caches', async () => {
  const { headers } = await rawGet(`${url}/graphql`, { accept: 'text/html' })
  expect(headers.vary?.toLowerCase().split(/, */)).toEqual(expect.arrayContaining(['accept', 'accept-encoding']))
})

describe('a refusal', () => {
  const websocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  const host = `Host: 127.0.0.1:${port}\r\n`
  test.each([
    ['without a host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['with a wrong host', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['that is not HTTP', 'hello\r\n\r\n', 400],
    ['with two lengths', `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    ['with long headers', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['with an unknown expectation', `GET / HTTP/1.1\r\n${host}Expect: tea\r\nConnection: close\r\n\r\n`, 417],
    ['of an upgrade elsewhere', `GET /nothing HTTP/1.1\r\n${host}${websocket}\r\n`, 404],
    ['of an upgrade without a key', `GET /graphql HTTP/1.1\r\n${host}${websocket}\r\n`, 400],
    ['of an upgrade by POST', `POST /graphql HTTP/1.1\r\n${host}Content-Length: 0\r\n${websocket}\r\n`, 405],
    ['of an upgrade without a host', `GET /graphql HTTP/1.1\r\n${websocket}\r\n`, 400],
  ])('of a request %s is private', async (_, request, status) => {
    const answer = await sendRaw(url, request)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer.toLowerCase()).toContain('\r\ncache-control: private, no-store\r\n')
    expect(answer.toLowerCase()).toContain('\r\nx-content-type-options: nosniff\r\n')
  })
})

describe('a private page', () => {
  beforeAll(async () => {
    const access = { kind: 'PASSWORD', password: 'correct horse' }
    await mutate(url, acme.key, 'updatePageAccess', 'PageAccess', { pageId: acme.ids.StatusPage, access }, 'kind')
  })

  test('is private at each of its addresses, with and without the right to read it', async () => {
    for (const path of Object.keys(publicPaths).filter((each) => each.startsWith('/status/'))) {
      const { at, headers } = addressOf(path)
      for (const credential of credentials) {
        expectPrivate(await rawGet(url + at, { ...headers, ...credential }), at)
        expectPrivate(await rawGet(`${url}${at}?token=${token}`, { ...headers, ...credential }), at)
      }
    }
  })

  test('is private in GraphQL', async () => {
    const query = encodeURIComponent(`{ statusPage(slug: "${acme.slug}") { name } }`)
    for (const credential of credentials)
      expectPrivate(await rawGet(`${url}/graphql?query=${query}`, credential), JSON.stringify(credential))
  })
})
