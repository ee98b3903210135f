import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'

/** What is served at a path beside the REST API, as OpenAPI is to describe it. */
export interface Served {
  /** As OpenAPI writes it: `/status/{slug}`. */
  readonly path: string
  readonly summary: string
  /** The media type of what is answered. */
  readonly type: string
  readonly tag: 'Pages' | 'Status page documents' | 'Operation'
  readonly method?: 'get' | 'post'
}

/** Describes pages, documents and files, of which there is little more to say than that they are there. */
export function describeServed(all: readonly Served[]): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const served of all) {
    paths[served.path] = { ...paths[served.path], [served.method ?? 'get']: operationOf(served) }
  }
  return paths
}

function operationOf({ path, summary, type, tag, method = 'get' }: Served): ZodOpenApiOperationObject {
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
      ...(names.length > 0 && { 404: { description: 'There is no such thing.' } }),
    },
  }
}

const html = 'text/html'
const page = (path: string, summary: string): Served => ({ path, summary, type: html, tag: 'Pages' })
const form = (path: string, summary: string): Served => ({ ...page(path, summary), method: 'post' })

/** Every page that people open, and the forms on them. */
export const pagesServed: readonly Served[] = [
  page('/', 'Check an address or a domain; on an owner’s domain its status page'),
  page('/check', 'Go to the report on ?target='),
  page('/check/{target}', 'The report on an address or a domain, as it comes in'),
  page('/docs', 'This description, to be tried out'),
  page('/graphql', 'GraphiQL, for browsers; programs POST operations as JSON here'),
  page('/pricing', 'Plans and prices'),
  form('/pricing/upgrade', 'Go to the payment of a tier'),
  form('/pricing/check-plan', 'Buy the pro check plan'),
  page('/billing/check-plan/renew', 'Renew the pro check plan'),
  form('/billing/check-plan/renew', 'Pay for a renewal'),
  page('/billing/check-plan/{id}', 'A purchase of the pro check plan'),
  form('/billing/check-plan/{id}', 'Show the key that was bought'),
  page('/subscriptions/{token}', 'What a subscription notifies about'),
  form('/subscriptions/{token}', 'Change what a subscription notifies about'),
  form('/subscriptions/{token}/confirm', 'Confirm a subscription'),
  page('/subscriptions/{token}/unsubscribe', 'Go to the page of the subscription'),
  form('/subscriptions/{token}/unsubscribe', 'End a subscription in one click (RFC 8058)'),
  form('/subscriptions/{token}/secret', 'Make a new secret of a webhook'),
  ...['/status/{slug}', ''].flatMap((base) => [
    ...(base === '' ? [] : [page(base, 'A status page')]),
    page(`${base}/history`, 'The past incidents of a status page'),
    page(`${base}/incidents/{id}`, 'An incident'),
    page(`${base}/subscribe`, 'Subscribe to a status page'),
    form(`${base}/subscribe`, 'Ask for a subscription'),
  ]),
]

/** What programs read of status pages, by their paths and media types: under a slug, and at the root of an owner's domain. */
export function documentsServed(kinds: readonly { readonly path: string; readonly type: string }[]): Served[] {
  const pictures = ['/picture.png', '/incidents/{id}/picture.png'].map((path) => ({ path, type: 'image/png' }))
  return ['/status/{slug}', ''].flatMap((base) =>
    [...kinds, ...pictures].map(({ path, type }) => ({
      path: base + path.replace(/:(\w+)/g, '{$1}'),
      summary: `${path.split('/').at(-1)} of a status page`,
      type: type.split(';')[0] ?? type,
      tag: 'Status page documents' as const,
    })),
  )
}

/** What the service says of itself. */
export const operationServed: readonly Served[] = [
  { path: '/healthz', summary: 'Whether the process runs', type: 'application/json', tag: 'Operation' },
  { path: '/readyz', summary: 'Whether it can serve; 503 while it cannot', type: 'application/json', tag: 'Operation' },
  { path: '/metrics', summary: 'Metrics for Prometheus', type: 'text/plain', tag: 'Operation' },
  { path: '/openapi.json', summary: 'This description', type: 'application/json', tag: 'Operation' },
  { path: '/robots.txt', summary: 'What search engines may read', type: 'text/plain', tag: 'Operation' },
  {
    path: '/api/v1/billing/success/live',
    summary: 'Tells when a payment has arrived',
    type: 'text/event-stream',
    tag: 'Operation',
  },
  {
    path: '/.well-known/allclear-challenge/{token}',
    summary: 'The proof of an owner’s domain',
    type: 'text/plain',
    tag: 'Operation',
  },
  { path: '/assets/{file}', summary: 'A style sheet, script or icon', type: 'text/css', tag: 'Operation' },
  { path: '/assets/{library}/{file}', summary: 'A file of a library', type: 'text/javascript', tag: 'Operation' },
]
