// @slow
import pino from 'pino'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOrganization, setCheckPlan } from '../../../src/account/organization/organization.ts'
import { createBtcpay } from '../../../src/billing/btcpay.ts'
import { extendCheckPlan } from '../../../src/billing/check-plan/check-plan.ts'
import { reconcileInvoice } from '../../../src/billing/check-plan/check-plan-invoice.ts'
import { sendDueReminders } from '../../../src/billing/check-plan/reminder-job.ts'
import { createTokens } from '../../../src/billing/token.ts'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import type { Mailer } from '../../../src/notification/channel/mailer.ts'
import { createMailer } from '../../../src/notification/channel/mailer.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { linkIn, startMailServer } from '../../support/mail-server.ts'
import { nestingFaults } from '../../support/markup.ts'
import { send } from '../send.ts'
import { startBtcpay } from '../setup.ts'

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
  // Each test has its own organizations, but the job processes all of them.
  await prisma.organization.updateMany({ data: { checkPlanReminderAt: null } })
})

const later = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const round = (through: Mailer = mailer) => sendDueReminders(system, through)
const subjects = () => server.mails.map(({ subject }) => subject)
const week = 'The pro check plan of Acme ends on 20 Dec 2026, 12:00 UTC'
const day = `Last day: the pro check plan of Acme ends on 20 Dec 2026, 12:00 UTC`
const ended = 'The pro check plan of Acme has ended'

let made = 0

/** Creates an organization without a plan. */
async function newcomer(): Promise<string> {
  const fields = { name: 'Acme', slug: `reminded-${++made}`, contactEmail: 'ops@acme.example' }
  return (await createOrganization(operator, fields)).organization.id
}

/** Pays for thirty days of an organization's plan now. Returns the invoice's id. */
async function pay(id: string): Promise<string> {
  const invoice = await extendCheckPlan(system, id, { currency: 'BTC' })
  await becomes(invoice.id, 'Settled')
  return invoice.id
}

async function becomes(invoiceId: string, status: string): Promise<void> {
  for (const theirs of fake.invoices.values()) if (theirs.metadata['orderId'] === invoiceId) theirs.status = status
  await reconcileInvoice(system, invoiceId)
}

/** Creates an organization that paid at noon: its plan ends thirty days after that. */
async function buyer(): Promise<string> {
  const id = await newcomer()
  await pay(id)
  return id
}

const organizationOf = (id: string) => prisma.organization.findUniqueOrThrow({ where: { id } })
const dueOf = async (id: string) => (await organizationOf(id)).checkPlanReminderAt

describe('an organization with a paid plan', () => {
  test('gets one reminder a week before the end, one a day before and one after it', async () => {
    const id = await buyer()
    const sent: unknown[] = []
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
        sent.push(...server.mails.splice(0).map(({ subject }) => [hours / 24, subject, next]))
      }
    }
    expect(sent).toEqual([
      [23, week, later(29 * DAY)],
      [29, day, later(30 * DAY)],
      [30, ended, null],
    ])
    expect(await dueOf(id)).toBe(null)
  })

  test('gets each reminder once, with many concurrent workers', async () => {
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
  ])('gets only the current reminder after a time without workers: %s', async (_, time, expected, next) => {
    const id = await buyer()
    at = later(time)
    for (let times = 0; times < 2; times += 1) await round()
    expect(subjects()).toEqual(expected)
    expect(await dueOf(id)).toEqual(next === null ? null : later(next))
  })

  test('gets reminders of the new end after another payment', async () => {
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

  test('keeps the schedule of a payment that arrives while a reminder is sent', async () => {
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

  test('gets no reminders for withdrawn days', async () => {
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

describe('a plan set by the operator', () => {
  test.each([
    ['no end', { plan: 'PRO' }, null],
    ['no plan', { plan: 'FREE' }, null],
    ['a later end', { plan: 'PRO', until: later(60 * DAY) }, 53 * DAY],
    ['an end in the past', { plan: 'PRO', until: noon }, null],
  ])('overrides a payment: %s', async (_, fields, next) => {
    const id = await buyer()
    await setCheckPlan(operator, { organizationId: id, ...fields })
    at = later(23 * DAY)
    await round()
    expect(subjects()).toEqual([])
    expect(await dueOf(id)).toEqual(next === null ? null : later(next))
  })

  test('without a payment gets no reminder', async () => {
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
  test('that is down gets a retry each hour, and delivers the email once when it is up again', async () => {
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
    expect(logged.join('')).toContain('will retry in an hour')
    expect(logged.join('')).not.toContain('ops@acme.example')
  })

  test('that is down for a long time gets only the reminder that then applies, and eventually none', async () => {
    const id = await buyer()
    for (at = later(23 * DAY); at < later(29 * DAY); at = new Date(at.getTime() + 12 * HOUR)) await round(unreachable)
    await round()
    expect(subjects()).toEqual([day])
    for (at = later(30 * DAY); at <= later(33 * DAY); at = new Date(at.getTime() + 12 * HOUR)) await round(unreachable)
    await round()
    expect([subjects(), await dueOf(id)]).toEqual([[day], null])
  })

  test('that refuses permanently gets no retry before the next reminder', async () => {
    const id = await buyer()
    server.refusal = (to) => `550 5.1.1 <${to}>: no such mailbox`
    at = later(23 * DAY)
    await round()
    expect(await dueOf(id)).toEqual(later(29 * DAY))
    const [line] = logged.map((line) => JSON.parse(line)).filter(({ msg }) => /permanently refused/.test(msg))
    expect(line).toMatchObject({ organization: id, reminder: 'WEEK', status: 550 })
    expect(line.reply).toContain('no such mailbox')
    expect(logged.join('')).not.toMatch(/ops@acme\.example|token=/)
  })

  test('gets the same email with the same id when another worker takes over after a crash', async () => {
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

test('sends no reminder without a payment server, and the current reminder once a server is configured', async () => {
  const id = await buyer()
  const bare = { ...system, billing: { tokens, btcpay: null } }
  at = later(29 * DAY)
  expect(await sendDueReminders(bare, mailer)).toBe(null)
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

  test('contains the organization, the end, the lost limits and the renewal link', async () => {
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
      'bulk checks',
      'We never charge automatically',
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

  test('after the end says that the plan has ended', async () => {
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

  test('is well formed, loads nothing and has no list headers', async () => {
    const { mail, html } = await reminderOf({ name: '<img src=x>' }, 23 * DAY)
    expect(nestingFaults(html.replace(/<!DOCTYPE html>|<meta[^>]*>|<br>/g, ''))).toEqual([])
    expect(html).not.toMatch(/<script|<img|<link|src=x>/)
    expect(mail.headers.map(({ key }) => key).filter((key) => key.startsWith('list-'))).toEqual([])
    expect(header(mail, 'auto-submitted')).toBe('auto-generated')
  })

  test('has only our headers for any name of the organization', async () => {
    const { mail } = await reminderOf({ name: 'Acme\r\nBcc: all@victim.example\r\n\r\n<b>body</b>' }, 23 * DAY)
    expect(server.mails.length).toBe(1)
    const keys = mail.headers.map(({ key }) => key)
    expect(keys).not.toContain('bcc')
    expect(mail.subject).toContain('Bcc: all@victim.example')
    expect(mail.to).toEqual([expect.objectContaining({ address: 'ops@acme.example' })])
  })
})
