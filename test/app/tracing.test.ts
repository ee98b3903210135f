// @slow
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate, succeed } from '../support/filled-organization.ts'
import { newOrganization, post, websocketClient } from '../support/graphql-client.ts'
import { startReceiver } from '../support/receiver.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { silentPort } from '../support/silent-port.ts'

const collector = await startReceiver()
afterAll(() => collector.close())
const dns = await startDnsServer(scriptedLists())

interface SentSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: { readonly key: string; readonly value: Record<string, unknown> }[]
  readonly status: { readonly code?: number }
}

const sent = () =>
  collector.received.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
    }
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  })
const attributesOf = ({ attributes }: SentSpan) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

test('sends a span per request, statement and probe, with routes and operations by name and without callers’ data', async () => {
  const app = await testApp({
    dns,
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b',
      OTEL_SERVICE_NAME: 'status',
      ALLOW_PRIVATE_NETWORKS: 'true',
    },
  })
  const { baseUrl } = app
  const { key, slug } = await newOrganization(baseUrl)
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  await fetch(`${baseUrl}/status/${slug}?from=canary`, { headers: { accept: 'text/html', traceparent } })
  await fetch(`${baseUrl}/nowhere/canary`, { headers: { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` } })
  await fetch(`${baseUrl}/api/blacklist-monitor/ip?target=192.0.2.1`)
  await post(baseUrl, { query: 'query Canteen { organization { name slug } }', key })
  const client = websocketClient(baseUrl, { apiKey: key })
  await new Promise<void>((resolve, reject) => {
    client.subscribe({ query: 'query Socket { __typename }' }, { next() {}, error: reject, complete: resolve })
  })
  await client.dispose()
  const service = await mutate(baseUrl, key, 'createService', 'Service', { name: 'canary service' })
  const monitor = await mutate(baseUrl, key, 'createMonitor', 'Monitor', {
    name: 'canary monitor',
    serviceId: service.id,
    probe: {
      http: { url: `${collector.url}/canary-path`, headers: [{ name: 'authorization', value: 'canary-secret' }] },
    },
  })
  await succeed(baseUrl, key, 'mutation ($id: ID!) { testMonitor(id: $id) { __typename } }', { id: monitor.id })
  // The probe's own request does not go to the collector.
  const exported = () => collector.received.filter(({ path }) => path === '/v1/traces')
  await app.close()
  const probed = collector.received.splice(0).filter((request) => {
    const isExport = request.path === '/v1/traces'
    if (isExport) collector.received.push(request)
    return !isExport
  })
  expect(probed.length).toBeGreaterThan(0)
  for (const { headers } of probed) expect(headers).not.toHaveProperty('traceparent')

  expect(exported()[0]?.headers).toMatchObject({ 'x-team': 'a b', 'content-type': 'application/json' })
  expect(exported()[0]?.body).toContain('{"key":"service.name","value":{"stringValue":"status"}}')
  const spans = sent()
  const named = (name: string) => spans.filter((span) => span.name === name)
  const one = (name: string) => {
    const [span] = named(name)
    if (!span) throw new Error(`No span ${name} among ${[...new Set(spans.map((each) => each.name))].join(', ')}`)
    return { ...span, attributes: attributesOf(span) }
  }
  const page = one('GET /status/:slug')
  expect(page).toMatchObject({
    kind: 2,
    traceId,
    parentSpanId: 'b7ad6b7169203331',
    attributes: { 'http.route': '/status/:slug', 'http.response.status_code': 200, 'http.request.method': 'GET' },
  })
  expect(one('GET').attributes).toMatchObject({ 'http.response.status_code': 404 })
  expect(one('GET').parentSpanId ?? '').toBe('')
  one('GET /api/blacklist-monitor/ip')
  const canteen = named('POST /graphql').find((span) => attributesOf(span)['graphql.operation.name'] === 'Canteen')
  expect(canteen && attributesOf(canteen)).toMatchObject({
    'graphql.operation.type': 'query',
    'http.route': '/graphql',
  })
  expect(one('graphql query')).toMatchObject({ kind: 2, attributes: { 'graphql.operation.name': 'Socket' } })
  expect(one('probe HTTP')).toMatchObject({
    attributes: { 'allclear.monitor.kind': 'HTTP', 'allclear.probe.outcome': 'UP' },
  })
  const ofCanteen = spans.filter(({ parentSpanId }) => parentSpanId !== undefined && parentSpanId === canteen?.spanId)
  expect(ofCanteen.map((span) => [span.name, attributesOf(span)['db.system.name']])).toContainEqual([
    'SELECT ApiKey',
    'postgresql',
  ])
  expect(named('INSERT Monitor')).not.toEqual([])
  // Traces contain no names, values, paths or secrets of callers.
  for (const { body } of exported()) {
    expect(body).not.toContain('canary')
    expect(body).not.toContain(key)
  }
})

test.each([
  ['refuses', async () => collector.url],
  ['is silent', async () => `http://127.0.0.1:${await silentPort('127.0.0.1')}`],
])('works normally when the collector %s', async (_, urlOf) => {
  collector.answer = () => ({ status: 400 })
  const app = await testApp({ dns, settings: { OTEL_EXPORTER_OTLP_ENDPOINT: await urlOf() } })
  expect((await fetch(`${app.baseUrl}/readyz`)).status).toBe(200)
  expect(await app.close()).toEqual([])
})
