import pino from 'pino'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOrganization, setCheckPlan } from '../../src/account/organization.ts'
import { createBtcpay } from '../../src/billing/btcpay.ts'
import { prolongCheckPlan } from '../../src/billing/check-plan.ts'
import { reconcileInvoice } from '../../src/billing/check-plan-invoice.ts'
import { remindOfRenewals } from '../../src/billing/reminder-round.ts'
import { createTokens } from '../../src/billing/token.ts'
import type { Mailer } from '../../src/notification/channel/mailer.ts'
import { createMailer } from '../../src/notification/channel/mailer.ts'
import { DAY, HOUR, MINUTE } from '../../src/time.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import type { ReceivedMail } from '../support/mail-server.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { nestingFaults } from '../support/markup.ts'
import { send } from './send.ts'
import { startBtcpay } from './setup.ts'

let at = noon
const { prisma } = await testDatabase()
const fake = await startBtcpay({ now: () => at })
const btcpay = createBtcpay({ url: fake.url, apiKey: 'key-of-the-tests', storeId: 'store-1', send })
const tokens = createTokens(Buffer.alloc(32))
const site = { baseUrl: 'https://allclear.example' }
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
const system = { ...testContext(prisma, { now: () => at, log }), billing: { tokens, btcpay }, site }
const operator = testContext(prisma, { now: () => at, actor: { kind: 'operator' } })

const server = await startMailServer()
const mailerTo = (SMTP_URL: string): Mailer => {
  const made = createMailer({ SMTP_URL, MAIL_FROM: 'billing@allclear.example' }, site)
  if (!made) throw new Error('There is no mailer.')
  afterAll(() => made.close())
  return made
}
const mailer = mailerTo(server.url)
const unreachable = mailerTo('smtp://127.0.0.1:1')
afterAll(() => server.close())
beforeEach(async () => {
  at = noon
  server.mails.length = 0
  server.refusal = () => null
  logged.length = 0
  // Each test has its own organizations, but the round is for all.
  await prisma.organization.updateMany({ data: { checkPlanReminderAt: null } })
})

const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const round = (through: Mailer = mailer) => remindOfRenewals(system, through)
const subjects = () => server.mails.map(({ subject }) => subject)
const week = 'The pro check plan of Acme ends on 20 Dec 2026, 12:00 UTC'
const day = `Last day: the pro check plan of Acme ends on 20 Dec 2026, 12:00 UTC`
const ended = 'The pro check plan of Acme has ended'

let made = 0

/** An organization that has nothing. */
async function newcomer(): Promise<string> {
  const fields = { name: 'Acme', slug: `reminded-${++made}`, contactEmail: 'ops@acme.example' }
  return (await createOrganization(operator, fields)).organization.id
}

/** An organization pays for thirty days, now. Gives the invoice's id. */
async function pay(id: string): Promise<string> {
  const invoice = await prolongCheckPlan(system, id, { currency: 'BTC' })
  await becomes(invoice.id, 'Settled')
  return invoice.id
}

async function becomes(invoiceId: string, status: string): Promise<void> {
  for (const theirs of fake.invoices.values()) if (theirs.metadata['orderId'] === invoiceId) theirs.status = status
  await reconcileInvoice(system, invoiceId)
}

/** One that has paid at noon: its plan ends thirty days after that. */
async function buyer(): Promise<string> {
  const id = await newcomer()
  await pay(id)
  return id
}

const organizationOf = (id: string) => prisma.organization.findUniqueOrThrow({ where: { id } })
const dueOf = async (id: string) => (await organizationOf(id)).checkPlanReminderAt

describe('who has paid for a plan', () => {
  test('is reminded a week and a day before its end, and when it has ended: once each', async () => {
    const id = await buyer()
    const said: unknown[] = []
    for (const hours of [
      0,
      30,
      23 * 24 - 1,
      23 * 24,
      23 * 24 + 1,
      28 * 24,
      29 * 24,
      29 * 24 + 2,
      30 * 24,
      31 * 24,
      90 * 24,
    ]) {
      at = later(hours * HOUR)
      for (let time = 0; time < 2; time += 1) {
        const next = await round()
        said.push(...server.mails.splice(0).map(({ subject }) => [hours / 24, subject, next]))
      }
    }
    expect(said).toEqual([
      [23, week, later(29 * DAY)],
      [29, day, later(30 * DAY)],
      [30, ended, null],
    ])
    expect(await dueOf(id)).toBe(null)
  })

  test('is told once, however many workers look at the same time', async () => {
    await buyer()
    await buyer()
    at = later(23 * DAY)
    await Promise.all([round(), round(), round()])
    expect(subjects()).toEqual([week, week])
    expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(2)
  })

  test.each([
    ['in the last week', 25 * DAY, [week], 29 * DAY],
    ['on the last day', 29 * DAY + HOUR, [day], 30 * DAY],
    ['soon after the end', 33 * DAY, [ended], null],
    ['long after the end', 33 * DAY + 1, [], null],
  ])('after a time without a worker is told only what applies: %s', async (_, time, expected, next) => {
    const id = await buyer()
    at = later(time)
    for (let times = 0; times < 2; times += 1) await round()
    expect(subjects()).toEqual(expected)
    expect(await dueOf(id)).toEqual(next === null ? null : later(next))
  })

  test('is reminded of the new end after paying again', async () => {
    const id = await buyer()
    at = later(23 * DAY)
    await round()
    at = later(25 * DAY)
    await pay(id)
    expect(await dueOf(id)).toEqual(later(53 * DAY))
    for (const time of [29, 30, 31, 52]) {
      at = later(time * DAY)
      await round()
    }
    expect(subjects()).toEqual([week])
    at = later(53 * DAY)
    await round()
    expect(subjects()[1]).toBe(week.replace('20 Dec 2026', '19 Jan 2027'))
  })

  test('keeps the reminders of a payment that comes while one is being sent', async () => {
    const id = await buyer()
    at = later(29 * DAY)
    const paying: Mailer = {
      ...mailer,
      send: async (mail) => {
        await pay(id)
        return mailer.send(mail)
      },
    }
    await round(paying)
    expect([await dueOf(id), subjects()]).toEqual([later(53 * DAY), [day]])
    const failing: Mailer = {
      ...unreachable,
      send: async (mail) => {
        await pay(id)
        return unreachable.send(mail)
      },
    }
    at = later(53 * DAY)
    await round(failing)
    expect(await dueOf(id)).toEqual(later(83 * DAY))
  })

  test('is told nothing of days that were taken back', async () => {
    const id = await newcomer()
    const invoiceId = await pay(id)
    await becomes(invoiceId, 'Invalid')
    expect(await dueOf(id)).toBe(null)
    await becomes(invoiceId, 'Settled')
    expect(await dueOf(id)).toEqual(later(23 * DAY))
    const second = await pay(id)
    expect(await dueOf(id)).toEqual(later(53 * DAY))
    await becomes(second, 'Invalid')
    expect(await dueOf(id)).toEqual(later(23 * DAY))
  })
})

describe('what the operator sets by hand', () => {
  test.each([
    ['no end', { plan: 'PRO' }, null],
    ['no plan', { plan: 'FREE' }, null],
    ['a later end', { plan: 'PRO', until: later(60 * DAY) }, 53 * DAY],
    ['an end long ago', { plan: 'PRO', until: noon }, null],
  ])('after a payment is what counts: %s', async (_, fields, next) => {
    const id = await buyer()
    await setCheckPlan(operator, { organizationId: id, ...fields })
    at = later(23 * DAY)
    await round()
    expect(subjects()).toEqual([])
    expect(await dueOf(id)).toEqual(next === null ? null : later(next))
  })

  test('without a payment is nobody’s to renew', async () => {
    const id = await newcomer()
    await setCheckPlan(operator, { organizationId: id, plan: 'PRO', until: later(DAY) })
    for (const time of [0, 0.5, 1, 2]) {
      at = later(time * DAY)
      expect(await round()).toBe(null)
    }
    expect(subjects()).toEqual([])
  })
})

describe('a mail server', () => {
  test('that is down is asked again each hour, and the mail goes out once when it is up', async () => {
    const id = await buyer()
    at = later(23 * DAY)
    expect(await round(unreachable)).toEqual(later(23 * DAY + HOUR))
    at = later(23 * DAY + HOUR - 1)
    await round()
    expect(subjects()).toEqual([])
    at = later(23 * DAY + HOUR)
    server.refusal = () => '450 4.2.1 <ops@acme.example> try later'
    await round()
    expect(await dueOf(id)).toEqual(later(23 * DAY + 2 * HOUR))
    server.refusal = () => null
    at = later(23 * DAY + 2 * HOUR)
    for (let time = 0; time < 2; time += 1) await round()
    expect([subjects(), await dueOf(id)]).toEqual([[week], later(29 * DAY)])
    expect(logged.join('')).toContain('trying again in an hour')
    expect(logged.join('')).not.toContain('ops@acme.example')
  })

  test('that is down for long is asked for what applies by then, and for nothing more in the end', async () => {
    const id = await buyer()
    for (at = later(23 * DAY); at < later(29 * DAY); at = new Date(at.getTime() + 12 * HOUR)) await round(unreachable)
    await round()
    expect(subjects()).toEqual([day])
    for (at = later(30 * DAY); at <= later(33 * DAY); at = new Date(at.getTime() + 12 * HOUR)) await round(unreachable)
    await round()
    expect([subjects(), await dueOf(id)]).toEqual([[day], null])
  })

  test('that refuses for good is left alone until the next reminder', async () => {
    const id = await buyer()
    server.refusal = (to) => `550 5.1.1 <${to}>: no such mailbox`
    at = later(23 * DAY)
    await round()
    expect(await dueOf(id)).toEqual(later(29 * DAY))
    const [said] = logged.map((line) => JSON.parse(line)).filter(({ msg }) => /refused for good/.test(msg))
    expect(said).toMatchObject({ organization: id, reminder: 'WEEK', status: 550 })
    expect(said.said).toContain('no such mailbox')
    expect(logged.join('')).not.toMatch(/ops@acme\.example|token=/)
  })

  test('is given the same mail under the same id by who takes over from a worker that died after sending', async () => {
    const id = await buyer()
    const dying: Mailer = {
      ...mailer,
      domain: mailer.domain,
      send: async (mail) => {
        await mailer.send(mail)
        throw new Error('killed')
      },
    }
    at = later(23 * DAY)
    await round(dying)
    expect(await dueOf(id)).toEqual(later(23 * DAY + 2 * MINUTE))
    at = later(23 * DAY + 2 * MINUTE - 1)
    await round()
    expect(server.mails.length).toBe(1)
    at = later(23 * DAY + 2 * MINUTE)
    await round()
    const [first, second] = server.mails
    expect(server.mails.length).toBe(2)
    expect(second?.messageId).toBe(first?.messageId)
    expect(first?.messageId).toBe(`<renewal.${id}.${later(30 * DAY).getTime()}.week@allclear.example>`)
    at = later(29 * DAY)
    await round()
    expect(server.mails[2]?.messageId).not.toBe(first?.messageId)
  })
})

test('nothing is said where nothing can be renewed; what still applies is, once it can', async () => {
  const id = await buyer()
  const bare = { ...system, billing: { tokens, btcpay: null } }
  at = later(29 * DAY)
  expect(await remindOfRenewals(bare, mailer)).toBe(null)
  expect([subjects(), await dueOf(id)]).toEqual([[], later(23 * DAY)])
  await round()
  expect(subjects()).toEqual([day])
})

describe('a reminder', () => {
  const header = (mail: ReceivedMail | undefined, name: string) => mail?.headers.find(({ key }) => key === name)?.value
  const reminderOf = async (fields: object, time: number) => {
    const id = await buyer()
    await prisma.organization.update({ where: { id }, data: fields })
    at = later(time)
    await round()
    const [mail] = server.mails
    if (mail === undefined) throw new Error('There is no mail.')
    return { id, mail, text: (mail.text ?? '').replace(/\s+/g, ' '), html: mail.html ?? '' }
  }

  test('says whose plan ends when, what falls away, that nothing is charged, and how to renew', async () => {
    const { id, mail, text, html } = await reminderOf({ name: 'Acme <b>& Co</b>', timeZone: 'Europe/Berlin' }, 23 * DAY)
    expect(mail).toMatchObject({
      envelopeTo: 'ops@acme.example',
      from: { name: 'Allclear', address: 'billing@allclear.example' },
      to: [{ address: 'ops@acme.example' }],
      subject: 'The pro check plan of Acme <b>& Co</b> ends on 20 Dec 2026, 13:00 CET',
      date: at.toISOString(),
    })
    for (const words of [
      'Ends: 20 Dec 2026, 13:00 CET (20 Dec 2026, 12:00 UTC)',
      '100 checks a day',
      '1,000',
      'no bulk checks',
      'Nothing is charged by itself',
      '€9 for 30 days, in Bitcoin or Litecoin',
    ]) {
      expect(text).toContain(words)
    }
    const link = linkIn(mail, `${site.baseUrl}/billing/check-plan/renew?token=`)
    const token = new URL(link).searchParams.get('token') ?? ''
    expect(html).toContain(`href="${link}"`)
    expect(html.match(/href=/g)).toHaveLength(1)
    expect(tokens.read('renewal', token, later(60 * DAY - 1))).toBe(id)
    expect(tokens.read('renewal', token, later(60 * DAY))).toBe(null)
    expect(tokens.read('checkout', token, at)).toBe(null)
  })

  test('after the end says that it is over', async () => {
    const { text } = await reminderOf({}, 30 * DAY)
    for (const words of [
      'has ended',
      'Ended: 20 Dec 2026, 12:00 UTC',
      'Nothing was charged',
      'when a payment arrives',
    ]) {
      expect(text).toContain(words)
    }
  })

  test('is well formed, fetches nothing, and belongs to no list', async () => {
    const { mail, html } = await reminderOf({ name: '<img src=x>' }, 23 * DAY)
    expect(nestingFaults(html.replace(/<!DOCTYPE html>|<meta[^>]*>|<br>/g, ''))).toEqual([])
    expect(html).not.toMatch(/<script|<img|<link|src=x>/)
    expect(mail.headers.map(({ key }) => key).filter((key) => key.startsWith('list-'))).toEqual([])
    expect(header(mail, 'auto-submitted')).toBe('auto-generated')
  })

  test('has no headers but ours, whatever the organization is called', async () => {
    const { mail } = await reminderOf({ name: 'Acme\r\nBcc: all@victim.example\r\n\r\n<b>body</b>' }, 23 * DAY)
    expect(server.mails.length).toBe(1)
    const keys = mail.headers.map(({ key }) => key)
    expect(keys).not.toContain('bcc')
    expect(mail.subject).toContain('Bcc: all@victim.example')
    expect(mail.to).toEqual([expect.objectContaining({ address: 'ops@acme.example' })])
  })
})
