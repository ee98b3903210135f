import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { SIGN_UPS_IN_TOTAL, SIGN_UPS_PER_NETWORK } from '../../../src/account/organization/sign-up.ts'
import { Conflict, RateLimited } from '../../../src/core/errors.ts'
import { HOUR, nextUtcDay, nextUtcHour, utcDay } from '../../../src/core/time.ts'
import { testApp } from '../../support/app.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { post, type Result } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken } from '../../support/service-data.ts'

const { prisma } = await testDatabase()

let made = 0
const fields = () => ({ name: 'Acme', slug: `sign-up-${++made}`, contactEmail: 'ops@acme.example' })

/** A visitor of a service with open sign-up. */
function visitor(clientAddress: string, now = noon) {
  return testContext(prisma, {
    actor: { kind: 'visitor' },
    settings: { SIGNUP: 'open' },
    clientAddress,
    now: () => now,
  })
}

/** Signs up many times. Returns the number of created organizations, and the last refusal. */
async function ask(ctx: ReturnType<typeof visitor>, times: number) {
  const asked = await Promise.allSettled(Array.from({ length: times }, () => createOrganization(ctx, fields())))
  const refusals = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  return { made: times - refusals.length, refusal: refusals.at(-1) }
}

/** Counts sign-ups of others on the day of noon. */
const countAll = (subject: string, count: number) =>
  prisma.usageCounter.upsert({
    where: { subject_day: { subject, day: utcDay(noon) } },
    create: { subject, day: utcDay(noon), count, lastGrant: 0 },
    update: { count },
  })

describe('signing up', () => {
  test('is limited per hour and IPv4 address, even concurrently', async () => {
    const one = visitor('198.51.100.1')
    const { made, refusal } = await ask(one, SIGN_UPS_PER_NETWORK.hour + 3)
    expect(made).toBe(SIGN_UPS_PER_NETWORK.hour)
    expect(refusal).toBeInstanceOf(RateLimited)
    expect(refusal).toMatchObject({ code: 'RATE_LIMITED', retryAt: nextUtcHour(noon) })
    expect(await ask(visitor('198.51.100.2'), 1)).toMatchObject({ made: 1 })
    expect(await ask(visitor('198.51.100.1', nextUtcHour(noon)), 1)).toMatchObject({ made: 1 })
  })

  test('is limited per IPv6 /64', async () => {
    for (let n = 0; n < SIGN_UPS_PER_NETWORK.hour; n++) {
      expect(await ask(visitor(`2001:db8:1:1::${n + 1}`), 1)).toMatchObject({ made: 1 })
    }
    expect(await ask(visitor('2001:db8:1:1:ffff::1'), 1)).toMatchObject({ made: 0 })
    expect(await ask(visitor('2001:db8:1:2::1'), 1)).toMatchObject({ made: 1 })
  })

  test('is limited per day', async () => {
    const at = (hour: number) => visitor('198.51.100.3', new Date(noon.getTime() + hour * HOUR))
    for (const hour of [0, 1]) expect(await ask(at(hour), 5)).toMatchObject({ made: 5 })
    expect(await ask(at(2), 1)).toMatchObject({ made: 0, refusal: { retryAt: nextUtcDay(noon) } })
    expect(await ask(at(12), 1)).toMatchObject({ made: 1 })
  })

  test('is limited in total', async () => {
    await countAll('sign-up hour 12', SIGN_UPS_IN_TOTAL.hour - 1)
    expect(await ask(visitor('198.51.100.4'), 1)).toMatchObject({ made: 1 })
    expect(await ask(visitor('198.51.100.5'), 1)).toMatchObject({ made: 0, refusal: { retryAt: nextUtcHour(noon) } })
    await countAll('sign-up', SIGN_UPS_IN_TOTAL.day)
    await countAll('sign-up hour 12', 0)
    expect(await ask(visitor('198.51.100.5'), 1)).toMatchObject({ made: 0, refusal: { retryAt: nextUtcDay(noon) } })
    await countAll('sign-up', 0)
  })

  test('does not count rejected requests or the operator’s', async () => {
    const one = visitor('198.51.100.6')
    const { slug } = fields()
    await createOrganization(testContext(prisma, { actor: { kind: 'operator' } }), { ...fields(), slug })
    for (let n = 0; n < 6; n++) {
      await expect(createOrganization(one, { ...fields(), slug })).rejects.toThrow(Conflict)
    }
    expect(await ask(one, 5)).toMatchObject({ made: 5 })
    const operator = testContext(prisma, { actor: { kind: 'operator' }, clientAddress: '198.51.100.6' })
    expect((await createOrganization(operator, fields())).organization.name).toBe('Acme')
  })
})

describe('over every protocol', async () => {
  const { baseUrl: url } = await testApp({
    dns: await startDnsServer(scriptedLists()),
    now: () => noon,
    settings: { SIGNUP: 'open', TRUST_PROXY: '127.0.0.1' },
  })
  const one = (
    slug: string,
  ) => `createOrganization(input: { name: "A", slug: "${slug}", contactEmail: "a@b.example" }) {
    __typename ... on Error { code } ... on RateLimitedError { retryAt } }`
  const slugs = (from: number, count: number) => Array.from({ length: count }, (_, n) => `door-${from + n}`)
  const mutation = (many: readonly string[]) => `mutation { ${many.map((slug, n) => `a${n}: ${one(slug)}`).join(' ')} }`
  const typesOf = ({ data }: Result) =>
    Object.values<{ __typename: string }>(data ?? {}).map(({ __typename }) => __typename)
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('one network has one limit over POST, event streams and websocket, regardless of the headers that it sends', async () => {
    const made = await post(url, { query: mutation(slugs(0, 2)) }, from('2001:db8:2:1::1'))
    expect(typesOf(made)).toEqual(['CreateOrganizationPayload', 'CreateOrganizationPayload'])
    const events = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...from('192.0.2.77, 2001:db8:2:1::2'),
      },
      body: JSON.stringify({ query: mutation(slugs(2, 1)) }),
    })
    expect(await events.text()).toContain('CreateOrganizationPayload')
    const [overSocket] = await overWebsocket(url, mutation(slugs(3, 4)), from('2001:db8:2:1::3'))
    expect(typesOf(overSocket ?? {})).toEqual([
      'CreateOrganizationPayload',
      'CreateOrganizationPayload',
      'RateLimitedError',
      'RateLimitedError',
    ])
    const refused = await post(url, { query: mutation(slugs(7, 1)) }, from('2001:db8:2:1::1'))
    expect(refused.data).toEqual({
      a0: { __typename: 'RateLimitedError', code: 'RATE_LIMITED', retryAt: nextUtcHour(noon).toISOString() },
    })
    expect(typesOf(await post(url, { query: mutation(slugs(7, 1)) }, from('2001:db8:2:2::1')))).toEqual([
      'CreateOrganizationPayload',
    ])
  })

  test('GET creates no organization', async () => {
    const response = await fetch(`${url}/graphql?query=${encodeURIComponent(mutation(['over-get']))}`)
    expect(response.status).toBe(405)
    const page = await post(url, { query: '{ statusPage(slug: "over-get") { name } }' })
    expect(page.data).toEqual({ statusPage: null })
  })

  test('the operator is not limited', async () => {
    const asked = { query: mutation(slugs(20, 7)), key: operatorToken }
    const types = typesOf(await post(url, asked, from('2001:db8:2:1::1')))
    expect(new Set(types)).toEqual(new Set(['CreateOrganizationPayload']))
  })
})

/** Runs one operation over a websocket that is opened with the headers. */
function overWebsocket(url: string, query: string, headers: Record<string, string>): Promise<Result[]> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', { headers })
  const results: Result[] = []
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
    socket.on('message', (data) => {
      const { type, payload } = JSON.parse(String(data)) as { type: string; payload: Result }
      if (type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
      if (type === 'next') results.push(payload)
      if (type === 'complete' || type === 'error') {
        socket.close()
        resolve(results)
      }
    })
  })
}
