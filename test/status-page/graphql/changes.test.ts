import { inflateSync } from 'node:zlib'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Actor } from '../../../src/core/context.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { createService, updateService } from '../../../src/status/service/service.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { lastingTransports, type Subscription } from '../../support/live-client.ts'
import { startLiveService } from '../../support/live-service.ts'
import { newTenant } from '../../support/log-writers.ts'
import { serveUnder } from '../../support/own-domain.ts'

const database = await testDatabase()
const { prisma: db } = database
const service = await startLiveService(database)
afterAll(() => service.close())
const left: Subscription[] = []
afterEach(async () => {
  for (const subscription of left.splice(0)) await subscription.leave()
})

interface Change {
  readonly cursor: string
  readonly isReload: boolean
  readonly patch: { readonly since: readonly string[]; readonly html: string } | null
}

const CHANGES = `subscription ($slug: String!, $host: String, $after: String) {
  statusPageChanges(slug: $slug, host: $host, after: $after) { cursor isReload patch { since html } }
}`

async function tenant() {
  const id = await newTenant(db)
  const actor: Actor = { kind: 'apiKey', keyId: 'key_none', organizationId: id, scope: 'ADMIN', checkPlan: 'FREE' }
  return { id, slug: id.slice(4), ctx: testContext(db, { actor }) }
}

async function follow(variables: Record<string, unknown>, transport = lastingTransports[0]) {
  if (transport === undefined) throw new Error('There is no transport.')
  const subscription = await transport.subscribe(service.url, { query: CHANGES, variables })
  left.push(subscription)
  return async () => {
    const result = await subscription.next()
    expect(result?.errors).toBeUndefined()
    return Object.values(result?.data ?? {})[0] as unknown as Change
  }
}

const htmlOf = ({ patch }: Change) => inflateSync(Buffer.from(patch?.html ?? '', 'base64')).toString()
const partsOf = (html: string) => /data-parts="([^"]+)"/.exec(html)?.[1]
const cursorOf = (html: string) => /data-cursor="([^"]+)"/.exec(html)?.[1] ?? ''
const position = (cursor: string) => Number.parseInt(cursor, 36)

test.each(lastingTransports)('each patch follows the one before, over $name', async (transport) => {
  const { slug, ctx } = await tenant()
  const { id } = await createService(ctx, { name: 'API' })
  await createService(ctx, { name: 'Shop' })
  const next = await follow({ slug, after: '2' }, transport)
  await updateService(ctx, { id, statusOverride: 'MAJOR_OUTAGE' })
  const first = await next()
  expect(htmlOf(first)).toContain('Major outage: API')
  // The unchanged service is not sent again.
  expect(htmlOf(first)).not.toContain('Shop')
  expect(htmlOf(first)).toContain('data-same=')
  await updateService(ctx, { id, statusOverride: 'DEGRADED_PERFORMANCE' })
  let second = await next()
  while (position(second.cursor) <= position(cursorOf(htmlOf(first)))) second = await next()
  expect(second.patch?.since).toContain(partsOf(htmlOf(first)))
  expect(htmlOf(second)).toContain('Degraded performance: API')
})

test('concurrent events cause one patch', async () => {
  const { slug, ctx } = await tenant()
  const services = await Promise.all(['API', 'Shop', 'Mail'].map((name) => createService(ctx, { name })))
  const next = await follow({ slug, after: '3' })
  await createIncident(ctx, {
    title: 'Payments fail',
    status: 'INVESTIGATING',
    impact: 'MAJOR',
    message: 'We are looking.',
    services: services.map(({ id }) => ({ serviceId: id, status: 'MAJOR_OUTAGE' })),
  })
  const { lastSeq } = await db.organization.findUniqueOrThrow({ where: { slug } })
  const changes = [await next()]
  while (position(changes.at(-1)?.cursor ?? '') < lastSeq) changes.push(await next())
  expect(changes.map(({ patch }) => patch !== null)).toEqual(changes.map((_, index) => index === 0))
  expect(changes[0] && position(cursorOf(htmlOf(changes[0])))).toBe(lastSeq)
})

test('a page on a custom domain gets its own addresses, and no other host', async () => {
  const acme = await tenant()
  const other = await tenant()
  const host = `status.${acme.slug}.example`
  await serveUnder(acme.ctx, acme.id, host)
  const after = (await db.organization.findUniqueOrThrow({ where: { id: acme.id } })).lastSeq.toString(36)
  const next = await follow({ slug: acme.slug, host, after })
  const strangers = await Promise.all([
    follow({ slug: other.slug, host, after: '0' }),
    follow({ slug: other.slug, host: 'evil.example', after: '0' }),
    follow({ slug: other.slug, host: '<script>', after: '0' }),
  ])
  const incident = { title: 'Payments fail', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' }
  const { id } = await createIncident(acme.ctx, incident)
  expect(htmlOf(await next())).toContain(`href="/incidents/${id}"`)
  await createIncident(other.ctx, incident)
  for (const stranger of strangers) expect((await stranger()).patch).toBeNull()
})

test('a position beyond the log requests a reload, and an unknown page is an error', async () => {
  const { slug } = await tenant()
  const next = await follow({ slug, after: 'zzz' })
  expect(await next()).toEqual({ cursor: '0', isReload: true, patch: null })
  for (const unknown of ['nobody', 'org_1', "'; --", '']) {
    const subscription = await lastingTransports[0]?.subscribe(service.url, {
      query: CHANGES,
      variables: { slug: unknown },
    })
    expect((await subscription?.next())?.errors?.[0]?.message).toBe('Status page not found.')
    await subscription?.leave()
  }
})
