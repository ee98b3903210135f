// @slow
import { beforeEach, describe, expect, test } from 'vitest'
import { deleteOldDeliveries } from '../../../src/notification/delivery/delivery.ts'
import { readAddress, requireReachableAddress } from '../../../src/notification/subscriber/address.ts'
import { reportBounce } from '../../../src/notification/subscriber/bounce.ts'
import { subscribe } from '../../../src/notification/subscriber/subscribe.ts'
import {
  confirmSubscription,
  deleteSubscriber,
  rotateWebhookSecret,
  subscriberByToken,
  unsubscribe,
  updateSubscription,
} from '../../../src/notification/subscriber/subscriber.ts'
import { importSubscribers } from '../../../src/notification/subscriber/subscriber-import.ts'
import { secretsOf } from '../../../src/notification/subscriber/token.ts'
import type { Tenant } from '../../status/setup.ts'
import { together } from '../../status/setup.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { statementsOf } from '../../support/statements.ts'
import { notifiedIn, seal } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const { visitor, system } = notified
const HOURS = 60
const HOUR = 60 * 60 * 1000

// Many tests send to the same addresses.
beforeEach(() => {
  notified.time += 24 * HOURS
})

let clients = 0
/** A visitor with a different client address. */
const stranger = () => visitor(`198.51.100.${++clients}`)
const ask = (tenant: Tenant, input: object, ctx = stranger()) => subscribe(ctx, { slug: tenant.slug, ...input })
const rows = ({ id }: Tenant) =>
  prisma.subscriber.findMany({ where: { organizationId: id }, include: { services: true, deliveries: true } })
async function only(tenant: Tenant) {
  const [row, ...more] = await rows(tenant)
  if (!row || more.length > 0) throw new Error('There is not one subscriber.')
  return row
}
/** A subscriber who has confirmed. */
async function reader(tenant: Tenant, email: string) {
  await ask(tenant, { email })
  const row = await prisma.subscriber.findFirstOrThrow({ where: { organizationId: tenant.id, label: email } })
  return confirmSubscription(system, notified.token(row))
}

describe('a visitor who subscribes an address', () => {
  test('learns nothing about the address, which gets a confirmation message and no events', async () => {
    const tenant = await notified.tenant()
    expect(await ask(tenant, { email: 'Ada@Reader.example' })).toBe(null)
    expect(await only(tenant)).toMatchObject({
      channel: 'EMAIL',
      label: 'ada@reader.example',
      confirmedAt: null,
      topics: ['INCIDENTS', 'MAINTENANCES'],
      allServices: true,
      deliveries: [{ seq: null, status: 'PENDING', dueAt: notified.now() }],
    })
  })

  test('gets the same response for a known address, whose preferences do not change', async () => {
    const tenant = await notified.tenant()
    const [service = ''] = await tenant.services('Mail')
    const known = await reader(tenant, 'ada@reader.example')
    expect(await ask(tenant, { email: 'ada@reader.example', topics: ['SERVICE_STATUS'], serviceIds: [service] })).toBe(
      null,
    )
    expect(await only(tenant)).toMatchObject({
      ...known,
      confirmableUntil: expect.any(Date),
      // Anyone who can see the page could have requested this address.
      vouchedAt: notified.now(),
      services: [],
      deliveries: [{ seq: null }, { seq: null }],
    })
  })

  test('causes the same statements whether or not it exists', async () => {
    const tenant = await notified.tenant()
    await reader(tenant, 'ada@reader.example')
    const statements = (email: string) => statementsOf(() => ask(tenant, { email }, stranger()))
    const known = await statements('ada@reader.example')
    expect(known.length).toBeGreaterThan(4)
    expect(await statements('new@reader.example')).toEqual(known)
  })

  test('twice before confirmation creates one subscriber, with the newer preferences', async () => {
    const tenant = await notified.tenant()
    const [mail = '', web = ''] = await tenant.services('Mail', 'Web')
    await ask(tenant, { email: 'ada@reader.example', serviceIds: [mail] })
    await ask(tenant, { email: 'ADA@reader.example', serviceIds: [web], topics: ['MAINTENANCES'] })
    const row = await only(tenant)
    expect(row).toMatchObject({ topics: ['MAINTENANCES'], allServices: false })
    expect(row.services.map(({ serviceId }) => serviceId)).toEqual([web])
  })

  test('concurrently creates one subscriber', async () => {
    const tenant = await notified.tenant()
    const { refused } = await together(Array.from({ length: 3 }, () => ask(tenant, { email: 'ada@reader.example' })))
    expect(refused).toEqual([])
    expect((await rows(tenant)).length).toBe(1)
  })

  test.each([
    [{}, 'exactly one of'],
    [{ email: 'a@b.example', webhook: 'https://a.example' }, 'exactly one of'],
    [{ email: 'no address' }, 'email: must be an email address'],
    [{ email: 'a@b.example\r\nBcc: all@b.example' }, 'email: must be an email address'],
    [{ webhook: 'ftp://a.example' }, 'webhook: must be an http'],
    [{ webhook: 'https://user:secret@a.example/' }, 'webhook: must not have a user'],
    [{ slack: 'https://example.com/services/T0/B0/x' }, 'slack: must be a webhook URL of Slack'],
    [{ slack: 'https://hooks.slack.com.example.com/services/T0' }, 'slack: must be a webhook URL of Slack'],
    [{ slack: 'http://hooks.slack.com/services/T0' }, 'slack: must be a webhook URL of Slack'],
    [{ discord: 'https://evildiscord.com/api/webhooks/1/x' }, 'discord: must be a webhook URL'],
    [{ teams: 'https://example.com/workflows' }, 'teams: must be a webhook URL'],
    [{ telegram: { botToken: 'x', chatId: '1' } }, 'telegram.botToken: must be a bot'],
    [{ telegram: { botToken: `12345:${'a'.repeat(35)}/../x`, chatId: '1' } }, 'telegram.botToken: must be a bot'],
    [{ email: 'a@b.example', topics: [] }, 'topics: must name at least one'],
    [{ email: 'a@b.example', serviceIds: ['svc_1'] }, 'Service not found'],
  ])('with %j is refused', async (input, message) => {
    await expect(ask(await notified.tenant(), input)).rejects.toThrow(message)
  })

  test('of an unknown page is rejected', async () => {
    for (const slug of ['nobody', '', 'a\0b', 'A B']) {
      await expect(subscribe(stranger(), { slug, email: 'a@b.example' })).rejects.toThrow('Status page not found')
    }
  })

  test('to another page’s services is rejected', async () => {
    const [theirs = ''] = await (await notified.tenant()).services('Mail')
    const asked = ask(await notified.tenant(), { email: 'a@b.example', serviceIds: [theirs] })
    await expect(asked).rejects.toThrow('Service not found')
  })
})

test('webhooks must have public hosts unless private networks are allowed', async () => {
  const read = async (webhook: string, ALLOW_PRIVATE_NETWORKS: string) => {
    const ctx = testContext(prisma, { settings: { ALLOW_PRIVATE_NETWORKS } })
    const address = readAddress(ctx, { webhook })
    await requireReachableAddress(ctx, address, null)
    return address.text
  }
  const inside = ['http://127.0.0.1/', 'http://0x7f.1/', 'http://[::1]/', 'http://localhost:8080/', 'http://10.1.2.3/a']
  for (const url of inside) {
    await expect(read(url, 'false')).rejects.toThrow('the operator of this service decides')
    expect(await read(url, 'true')).toContain('http://')
  }
  await expect(read('http://169.254.169.254/', 'true')).rejects.toThrow('must be at a public host')
  expect(await read('https://Hooks.Example/a#b', 'false')).toBe('https://hooks.example/a')
})

test('email is not available without SMTP settings', () => {
  expect(() => readAddress(testContext(prisma), { email: 'a@b.example' })).toThrow('email isn’t set up')
})

describe('no one is flooded', () => {
  test('by one client', async () => {
    const tenant = await notified.tenant()
    const ctx = visitor('2001:db8:1:2::1')
    const neighbour = visitor('2001:db8:1:2::ffff')
    for (let each = 0; each < 10; each += 1) await ask(tenant, { email: `${each}@reader.example` }, ctx)
    const retryAt = new Date(Math.ceil((notified.now().getTime() + 1) / HOUR) * HOUR)
    await expect(ask(tenant, { email: 'more@reader.example' }, neighbour)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAt,
    })
    await ask(tenant, { email: 'more@reader.example' })
    notified.time += HOURS
    for (let each = 10; each < 20; each += 1) await ask(tenant, { email: `${each}@reader.example` }, ctx)
    notified.time += HOURS
    await expect(ask(tenant, { email: 'again@reader.example' }, ctx)).rejects.toMatchObject({ limit: 20 })
  })

  test('by many clients, pages and spellings: at most three messages an hour and five a day', async () => {
    const tenants = [await notified.tenant(), await notified.tenant()]
    const spellings = ['Vic.tim@gmail.com', 'victim+1@gmail.com', 'v.i.c.tim@googlemail.com', 'VICTIM+x@googlemail.com']
    const askAll = () =>
      together(
        spellings.flatMap((email) => tenants.map((tenant) => ask(tenant, { email }).then(() => 'asked' as const))),
      )
    const first = await askAll()
    expect([first.done.length, first.refused.length]).toEqual([3, 5])
    expect(first.refused[0]).toMatchObject({ code: 'RATE_LIMITED' })
    notified.time += HOURS
    expect((await askAll()).done.length).toBe(2)
    notified.time += HOURS
    expect((await askAll()).done.length).toBe(0)
    const letters = { subscriber: { label: { endsWith: 'mail.com' } }, status: 'PENDING' } as const
    expect(await prisma.delivery.count({ where: letters })).toBe(5)
  })

  test('per page: the number of visitors’ requests a day is limited by the tier', async () => {
    const tenant = await notified.tenant()
    for (let each = 0; each < 100; each += 1) await ask(tenant, { email: `reader@${each}.example` })
    await expect(ask(tenant, { email: 'reader@more.example' })).rejects.toThrow('no more subscriptions today')
    await ask(await notified.tenant(), { email: 'reader@more.example' })
  })

  test('per webhook host', async () => {
    const tenant = await notified.tenant()
    for (let each = 0; each < 3; each += 1) await ask(tenant, { webhook: `https://victim.example/${each}` })
    await expect(ask(tenant, { webhook: 'https://victim.example/4' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })
})

describe('a subscription', () => {
  test('is confirmed once and gets later events', async () => {
    const tenant = await notified.tenant()
    await notified.incident(tenant, 'Before')
    const confirmed = await reader(tenant, 'ada@reader.example')
    expect(confirmed).toMatchObject({ confirmedAt: notified.now(), sinceSeq: 3 })
    expect(await confirmSubscription(system, notified.token(confirmed))).toEqual(confirmed)
    expect(await prisma.dispatch.findUnique({ where: { organizationId: tenant.id } })).toMatchObject({ seq: 3 })
  })

  test('can be confirmed for 48 hours and is then deleted', async () => {
    const tenant = await notified.tenant()
    await ask(tenant, { email: 'ada@reader.example' })
    const token = notified.token(await only(tenant))
    notified.time += 48 * HOURS
    await expect(confirmSubscription(system, token)).rejects.toThrow('expired')
    await deleteOldDeliveries(system)
    expect(await rows(tenant)).toEqual([])
    await expect(subscriberByToken(system, token)).rejects.toThrow('Subscription not found')
  })

  test('is not confirmed beyond the tier’s limit, even concurrently', async () => {
    const tenant = await notified.tenant()
    const csv = Array.from({ length: 49 }, (_, each) => `${each}@full.example`).join('\n')
    await importSubscribers(notified.owner(tenant), { csv })
    await ask(tenant, { email: 'one@reader.example' })
    await ask(tenant, { email: 'two@reader.example' })
    const tokens = (await rows(tenant)).filter(({ confirmedAt }) => confirmedAt === null).map(notified.token)
    const { done, refused } = await together(tokens.map((token) => confirmSubscription(system, token)))
    expect(done.length).toBe(1)
    expect(refused).toEqual([expect.objectContaining({ code: 'TIER_LIMIT_REACHED', limit: 50 })])
    await expect(ask(tenant, { email: 'three@reader.example' })).rejects.toThrow('subscriber limit')
  })

  test('can be changed only with its token', async () => {
    const tenant = await notified.tenant()
    const [mail = ''] = await tenant.services('Mail')
    const token = notified.token(await reader(tenant, 'ada@reader.example'))
    await updateSubscription(system, { token, topics: ['MAINTENANCES'], serviceIds: [mail] })
    expect(await only(tenant)).toMatchObject({
      topics: ['MAINTENANCES'],
      allServices: false,
      services: [{ serviceId: mail }],
    })
    for (const wrong of ['', 'x'.repeat(32), token.slice(1), `${token}0`, '\0']) {
      await expect(updateSubscription(system, { token: wrong })).rejects.toThrow('Subscription not found')
    }
  })

  test('that has ended can be requested and confirmed again, and its link still works', async () => {
    const tenant = await notified.tenant()
    const token = notified.token(await reader(tenant, 'ada@reader.example'))
    expect(await unsubscribe(system, token)).toMatchObject({ stopReason: 'UNSUBSCRIBED', stoppedAt: notified.now() })
    expect(await unsubscribe(system, token)).toMatchObject({ stopReason: 'UNSUBSCRIBED' })
    await expect(confirmSubscription(system, token)).rejects.toThrow('expired')
    await ask(tenant, { email: 'ada@reader.example' })
    expect(await confirmSubscription(system, token)).toMatchObject({ stoppedAt: null, stopReason: null })
  })

  test('that has ended cannot be restored by the page’s owner', async () => {
    const tenant = await notified.tenant()
    const token = notified.token(await reader(tenant, 'ada@reader.example'))
    await unsubscribe(system, token)
    await expect(notified.subscriber(tenant, { email: 'ada@reader.example' })).rejects.toThrow(
      'This address unsubscribed',
    )
  })

  test('of a webhook can rotate its secret; the old one is valid for a day', async () => {
    const tenant = await notified.tenant()
    const webhook = await notified.subscriber(tenant, { webhook: 'https://hooks.example/a' })
    const [first] = secretsOf(seal, webhook, notified.now())
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
    const rotated = await rotateWebhookSecret({ ...system, seal }, notified.token(webhook))
    const [second, former, ...more] = secretsOf(seal, rotated, notified.now())
    expect([former, more]).toEqual([first, []])
    notified.time += 24 * HOURS
    expect(secretsOf(seal, rotated, notified.now())).toEqual([second])
    const byMail = await reader(tenant, 'ada@reader.example')
    await expect(rotateWebhookSecret({ ...system, seal }, notified.token(byMail))).rejects.toThrow('Only webhooks')
  })

  test('has its address, token and secret sealed in the database', async () => {
    const tenant = await notified.tenant()
    const token = `12345678:${'Tt'.repeat(18)}`
    await notified.subscriber(tenant, { telegram: { botToken: token, chatId: '-1001' } })
    const webhook = await notified.subscriber(tenant, { webhook: 'https://hooks.example/very/secret-path' })
    const stored = JSON.stringify(await rows(tenant))
    for (const secret of [token, 'secret-path', notified.token(webhook), ...secretsOf(seal, webhook, notified.now())]) {
      expect(stored).not.toContain(secret)
    }
    const labels = (await rows(tenant)).map(({ label }) => label)
    expect(labels.sort()).toEqual(['bot 12345678, chat -1001', 'hooks.example/…path'])
  })
})

describe('the owner', () => {
  test('can subscribe an address without confirmation, once', async () => {
    const tenant = await notified.tenant()
    expect(await notified.subscriber(tenant, { email: 'ada@reader.example' })).toMatchObject({
      confirmedAt: notified.now(),
    })
    expect((await only(tenant)).deliveries).toEqual([])
    await expect(notified.subscriber(tenant, { email: 'ada@reader.example' })).rejects.toThrow('already subscribed')
  })

  test('with a READ key, or another page’s key, counts as a visitor', async () => {
    const tenant = await notified.tenant()
    const readOnly = { ...notified.owner(tenant), actor: tenant.as('READ').actor }
    expect(await ask(tenant, { email: 'a@reader.example' }, readOnly)).toBe(null)
    expect(await ask(tenant, { email: 'b@reader.example' }, notified.owner(await notified.tenant()))).toBe(null)
    expect((await rows(tenant)).map(({ confirmedAt }) => confirmedAt)).toEqual([null, null])
  })

  test('can delete its subscribers; the log omits the address', async () => {
    const tenant = await notified.tenant()
    const { id } = await reader(tenant, 'ada@reader.example')
    await expect(deleteSubscriber(notified.owner(await notified.tenant()), id)).rejects.toThrow('Subscriber not found')
    await deleteSubscriber(notified.owner(tenant), id)
    expect(await rows(tenant)).toEqual([])
    expect(await tenant.news()).toEqual(['SUBSCRIBER_DELETED EMAIL'])
  })
})

describe('a report of the mail system', () => {
  const operator = { ...testContext(prisma, { actor: { kind: 'operator' } }), seal }

  test('of a third bounce stops an address on all pages', async () => {
    const tenants = [await notified.tenant(), await notified.tenant()]
    for (const tenant of tenants) await reader(tenant, 'gone@reader.example')
    const bounced = () => reportBounce(operator, { email: 'Gone@reader.example', kind: 'BOUNCE' })
    expect([await bounced(), await bounced(), await bounced(), await bounced()]).toEqual([0, 0, 2, 0])
    for (const tenant of tenants) expect(await only(tenant)).toMatchObject({ stopReason: 'BOUNCED' })
  })

  test('of a complaint stops it at once and suppresses it', async () => {
    const tenant = await notified.tenant()
    const { id } = await reader(tenant, 'angry@reader.example')
    expect(await reportBounce(operator, { email: 'angry@reader.example', kind: 'COMPLAINT' })).toBe(1)
    await ask(tenant, { email: 'angry@reader.example' })
    const [newest] = await prisma.delivery.findMany({ where: { subscriberId: id }, orderBy: { createdAt: 'desc' } })
    expect(newest).toMatchObject({ status: 'CANCELLED', dueAt: null })
    const token = notified.token(await only(tenant))
    await expect(confirmSubscription(system, token)).rejects.toThrow('expired')
  })

  test('is accepted from the operator only', async () => {
    const input = { email: 'a@b.example', kind: 'BOUNCE' }
    await expect(reportBounce(notified.owner(await notified.tenant()), input)).rejects.toThrow('Only the operator')
    await expect(reportBounce(visitor(), input)).rejects.toThrow('operator’s token')
  })
})
