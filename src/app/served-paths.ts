import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { SCHEMA_PATH } from '../configuration/json-schema.ts'

/** A path outside the REST API, as OpenAPI describes it. */
export interface ServedPath {
  /** In OpenAPI notation: `/status/{slug}`. */
  readonly path: string
  readonly summary: string
  /** The media type of the response. */
  readonly type: string
  readonly tag: 'Pages' | 'Status page documents' | 'Operation'
  readonly method?: 'get' | 'post'
}

/** Describes pages, documents and files by their summary and media type. */
export function describePaths(all: readonly ServedPath[]): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const served of all) {
    paths[served.path] = { ...paths[served.path], [served.method ?? 'get']: operationOf(served) }
  }
  return paths
}

function operationOf({ path, summary, type, tag, method = 'get' }: ServedPath): ZodOpenApiOperationObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const form = { content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } } } as const
  return {
    tags: [tag],
    summary,
    security: [],
    ...(names.length > 0 && {
      requestParams: { path: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) },
    }),
    ...(method === 'post' && { requestBody: form }),
    responses: {
      200: { description: `${summary}.`, content: { [type]: { schema: { type: 'string' } } } },
      ...(names.length > 0 && { 404: { description: 'Not found.' } }),
    },
  }
}

const html = 'text/html'
const page = (path: string, summary: string): ServedPath => ({ path, summary, type: html, tag: 'Pages' })
const form = (path: string, summary: string): ServedPath => ({ ...page(path, summary), method: 'post' })

/** All pages and the forms on them. */
export const pagePaths: readonly ServedPath[] = [
  page('/', 'The home page with the check form; on a custom domain, the status page'),
  page('/status', 'Find a status page; redirect to the one in ?page=, or to the only one'),
  page('/check', 'Redirect to the report on ?target='),
  page('/check/{target}', 'The live report on an address or a domain'),
  page('/docs', 'All guides'),
  page('/docs/search', 'Search the guides for ?q='),
  page('/docs/{guide}', 'A guide'),
  page('/docs/reference', 'The API reference'),
  page('/graphql', 'GraphiQL for browsers; programs POST operations as JSON'),
  page('/pricing', 'Plans and prices'),
  form('/pricing/upgrade', 'Redirect to the payment of a tier'),
  form('/pricing/check-plan', 'Buy the pro check plan'),
  page('/billing/check-plan/renew', 'Renew the pro check plan'),
  form('/billing/check-plan/renew', 'Pay for a renewal'),
  page('/billing/check-plan/{id}', 'A purchase of the pro check plan'),
  form('/billing/check-plan/{id}', 'Show the purchased key'),
  page('/subscriptions/{token}', 'The settings of a subscription'),
  form('/subscriptions/{token}', 'Change the settings of a subscription'),
  form('/subscriptions/{token}/confirm', 'Confirm a subscription'),
  page('/subscriptions/{token}/unsubscribe', 'Redirect to the subscription page'),
  form('/subscriptions/{token}/unsubscribe', 'End a subscription in one click (RFC 8058)'),
  form('/subscriptions/{token}/secret', 'Create a new webhook secret'),
  page('/alerts/{token}', 'The alerts of a message'),
  form('/alerts/{token}', 'Acknowledge the alerts of a message'),
  ...['/status/{slug}', '/status/{slug}/{language}', '', '/{language}'].flatMap((base) => [
    ...(base === '' ? [] : [page(base, 'A status page')]),
    page(`${base}/history`, 'The past incidents of a status page'),
    page(`${base}/incidents/{id}`, 'An incident'),
    page(`${base}/maintenance/{id}`, 'A maintenance'),
    page(`${base}/services/{id}`, 'A service, day by day'),
    page(`${base}/reports`, 'The monthly reports of a status page that publishes them'),
    page(`${base}/reports/{month}`, 'The report of a month, such as 2026-10'),
  ]),
  ...['/status/{slug}', ''].flatMap((base) => [
    page(`${base}/subscribe`, 'Subscribe to a status page'),
    form(`${base}/subscribe`, 'Request a subscription'),
    form(`${base}/access`, 'Open a private page by its password, or request a link by email'),
    page(`${base}/embed`, 'The status line that other sites embed'),
    page(`${base}/access`, 'Redirect to the status page'),
    page(`${base}/access/{token}`, 'Open a private page by the link in an email'),
    form(`${base}/access/{token}`, 'Open a private page by the link in an email'),
  ]),
]

/** Returns the documents of status pages, by path and media type: under a slug, and at the root of a custom domain. */
export function documentPaths(kinds: readonly { readonly path: string; readonly type: string }[]): ServedPath[] {
  const pictures = ['/picture.png', '/incidents/{id}/picture.png', '/maintenance/{id}/picture.png'].map((path) => ({
    path,
    type: 'image/png',
  }))
  const files = { path: '/files/:id', type: 'application/octet-stream' }
  return ['/status/{slug}', ''].flatMap((base) =>
    [...kinds, ...pictures, files].map(({ path, type }) => ({
      path: base + path.replace(/:(\w+)/g, '{$1}'),
      summary: path === files.path ? 'A file of an incident update' : `${path.split('/').at(-1)} of a status page`,
      type: type.split(';')[0] ?? type,
      tag: 'Status page documents' as const,
    })),
  )
}

/** Health, metrics and files. */
export const operationPaths: readonly ServedPath[] = [
  { path: '/healthz', summary: 'Whether the process runs', type: 'application/json', tag: 'Operation' },
  {
    path: '/readyz',
    summary: 'Whether it can serve, and with ?for=writes, whether it can do all of its work; 503 while not',
    type: 'application/json',
    tag: 'Operation',
  },
  { path: '/metrics', summary: 'Metrics for Prometheus', type: 'text/plain', tag: 'Operation' },
  { path: '/openapi.json', summary: 'This description', type: 'application/json', tag: 'Operation' },
  {
    path: SCHEMA_PATH,
    summary: 'The JSON Schema of configuration files, for editors',
    type: 'application/schema+json',
    tag: 'Operation',
  },
  { path: '/robots.txt', summary: 'What search engines may read', type: 'text/plain', tag: 'Operation' },
  {
    path: '/api/v1/billing/success/live',
    summary: 'Reports when a payment arrives',
    type: 'text/event-stream',
    tag: 'Operation',
  },
  {
    path: '/.well-known/allclear-challenge/{token}',
    summary: 'The ownership proof of a custom domain',
    type: 'text/plain',
    tag: 'Operation',
  },
  {
    path: '/.well-known/allclear-certificate',
    summary: 'Whether a reverse proxy may fetch a certificate for ?domain=; 404 if not',
    type: 'text/plain',
    tag: 'Operation',
  },
  { path: '/logos/{file}', summary: 'The uploaded logo of a status page', type: 'image/png', tag: 'Operation' },
  { path: '/docs/images/{file}', summary: 'An image in a guide', type: 'image/png', tag: 'Operation' },
  { path: '/assets/{file}', summary: 'A style sheet, script or icon', type: 'text/css', tag: 'Operation' },
  { path: '/assets/{library}/{file}', summary: 'A file of a library', type: 'text/javascript', tag: 'Operation' },
]
