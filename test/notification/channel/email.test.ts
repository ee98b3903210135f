import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { contrast, readableAccents } from '../../../src/core/colour.ts'
import { wordsOf } from '../../../src/language/catalogue.ts'
import { email } from '../../../src/notification/channel/email.ts'
import { escapeHtml } from '../../../src/notification/channel/mail-template.ts'
import { createMailer } from '../../../src/notification/channel/mailer.ts'
import { noon } from '../../support/context.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { nestingFaults } from '../../support/markup.ts'
import { outbound } from '../setup.ts'
import { baseUrl, contentOf, incident, messageTo } from './messages.ts'

const server = await startMailServer()
const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'Our status <status@allclear.example>' }, { baseUrl })
if (!mailer) throw new Error('There is no mailer.')
afterAll(async () => {
  mailer.close()
  await server.close()
})
beforeEach(() => {
  server.mails.length = 0
  server.refusal = () => null
})
const tools = { outbound, mailer, now: () => noon }
const header = (mail: ReceivedMail | undefined, name: string) => mail?.headers.find(({ key }) => key === name)?.value

describe('an email', () => {
  test('arrives as text and HTML with one-click unsubscribe', async () => {
    expect(await email.send(messageTo('ada@reader.example'), tools)).toMatchObject({ kind: 'delivered', status: 250 })
    const [mail] = server.mails
    expect(mail).toMatchObject({
      envelopeTo: 'ada@reader.example',
      from: { name: 'Acme <&> Co status', address: 'status@allclear.example' },
      to: [{ address: 'ada@reader.example' }],
      subject: `[Acme <&> Co] Investigating: ${incident.title}`,
      date: noon.toISOString(),
    })
    expect(header(mail, 'list-unsubscribe')).toBe(`<${baseUrl}/subscriptions/token/unsubscribe>`)
    expect(header(mail, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(header(mail, 'auto-submitted')).toBe('auto-generated')
    expect(header(mail, 'list-id')).toContain('<acme.allclear.example>')
    expect(mail?.text).toContain('We look into <script>it</script>. @everyone <!channel>')
    expect(mail?.text).toContain(`View the incident: ${baseUrl}/status/acme/incidents/${incident.id}`)
    expect(mail?.text).toContain(`Manage or unsubscribe: ${baseUrl}/subscriptions/token`)
  })

  test('contains only escaped content and loads nothing except the logo', async () => {
    await email.send(messageTo('ada@reader.example'), tools)
    const html = server.mails[0]?.html ?? ''
    expect(html).toContain('<strong>look</strong>')
    expect(html).toContain('<div class="message" dir="auto"')
    expect(html).not.toMatch(/<script|<img|<link|src=|<b>/)
    expect(html).toContain('&#60;b&#62;down')
    expect(nestingFaults(html.replace(/<!DOCTYPE html>|<meta[^>]*>|<br>/g, ''))).toEqual([])
    const look = { accentColor: '#ffdd00', logoUrl: 'https://cdn.example/a.png?b=1&c="' }
    await email.send(messageTo('ada@reader.example', { content: { ...contentOf(), look } }), tools)
    expect(server.mails[1]?.html?.match(/src="[^"]*"/g)).toEqual(['src="https://cdn.example/a.png?b=1&#38;c=&#34;"'])
  })

  test('has the owner’s color, readable in light and dark mode', async () => {
    await email.send(messageTo('ada@reader.example'), tools)
    const html = server.mails[0]?.html ?? ''
    expect(html).toContain('border-top:4px solid #ffdd00')
    const { light, dark } = readableAccents('#ffdd00')
    expect(html).toContain(`background:${light};color:#ffffff`)
    expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(4.5)
    expect(html).toMatch(
      new RegExp(`prefers-color-scheme:dark.*\\.action\\{background:${dark}!important;color:#14181a`, 's'),
    )
    expect(contrast(dark, '#14181a')).toBeGreaterThanOrEqual(4.5)
  })

  test('marks the language of a message that differs from that of the email', async () => {
    const content = { ...contentOf(), words: wordsOf('DE'), messageTag: 'en' }
    await email.send(messageTo('ada@reader.example', { content }), tools)
    const html = server.mails[0]?.html ?? ''
    expect(html).toContain('<html lang="de" dir="ltr">')
    expect(html).toContain('<div class="message" lang="en" dir="auto"')
  })

  test('gives each text of the owner its language and direction, in headline, facts and reason', async () => {
    await email.send(messageTo('ada@reader.example', { content: contentOf(incident, 'DE') }), tools)
    const [mail] = server.mails
    const own = [...(mail?.html ?? '').matchAll(/<bdi lang="en">(.*?)<\/bdi>/g)].map(([, text]) => text)
    const names = incident.services.map(({ name }) => escapeHtml(name))
    const page = escapeHtml('Acme <&> Co')
    expect(own).toEqual([page, escapeHtml(incident.title), ...names, page])
    expect(mail?.html).toContain(`Wird untersucht: <bdi lang="en">`)
    expect(`${mail?.subject}${mail?.text}${mail?.html}`).not.toMatch(/[\u2066-\u2069]/)
  })

  test('is in one thread with others about the same object', async () => {
    await email.send(messageTo('ada@reader.example'), tools)
    await email.send(messageTo('ada@reader.example', { id: 'dlv_2', opensThread: false }), tools)
    const [first, second] = server.mails
    expect(first?.messageId).toBe('<inc_1.sub_1@allclear.example>')
    expect(second).toMatchObject({
      messageId: '<dlv_2@allclear.example>',
      inReplyTo: first?.messageId,
      references: first?.messageId,
    })
  })

  test('has only our headers, regardless of the title and the names of page and recipient', async () => {
    const nasty = 'Hello\r\nBcc: all@victim.example\r\n\r\n<b>body</b>'
    const content = { ...contentOf(), subject: nasty, page: { name: `Acme\r\nX-Evil: 1`, slug: 'acme', url: baseUrl } }
    await email.send(messageTo('ada@reader.example', { content }), tools)
    const [mail] = server.mails
    expect(server.mails.length).toBe(1)
    const keys = mail?.headers.map(({ key }) => key) ?? []
    expect(keys).not.toContain('bcc')
    expect(keys).not.toContain('x-evil')
    expect(mail?.subject).toContain('Bcc: all@victim.example')
  })
})

test('an email about the subscription itself has no list headers', async () => {
  const mail = { to: 'ada@reader.example', fromName: 'Allclear', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
  await mailer.send({ ...mail, messageId: 'a@allclear.example', inReplyTo: null, list: null, date: noon })
  const [received] = server.mails
  expect(received).toMatchObject({ messageId: '<a@allclear.example>', text: 'Hello\n' })
  expect(received?.headers.map(({ key }) => key).filter((key) => key.startsWith('list-'))).toEqual([])
  expect(header(received, 'auto-submitted')).toBe('auto-generated')
})

describe('an SMTP server that refuses', () => {
  test.each([
    ['550 5.1.1 No such mailbox', 'REFUSED'],
    ['552 5.2.2 Mailbox full', 'TEMPORARY'],
    ['550 5.7.1 Blocked', 'TEMPORARY'],
    ['450 4.2.1 Try later', 'TEMPORARY'],
    ['421 4.7.0 Too many', 'TEMPORARY'],
  ])('with %s fails permanently or temporarily', async (refusal, permanence) => {
    server.refusal = () => refusal
    const outcome = await email.send(messageTo('gone@reader.example'), tools)
    expect(outcome).toMatchObject({ kind: 'failed', permanence, status: Number(refusal.slice(0, 3)) })
    expect(outcome).toMatchObject({ message: expect.stringContaining(refusal.slice(4)) })
  })

  test('because it is unreachable fails temporarily', async () => {
    const absent = createMailer({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: undefined }, { baseUrl })
    expect(await email.send(messageTo('a@b.example'), { ...tools, mailer: absent })).toMatchObject({
      kind: 'failed',
      permanence: 'TEMPORARY',
      status: null,
    })
    absent?.close()
  })
})

test('the sender comes from the settings, or from our host', () => {
  const domainOf = (MAIL_FROM: string | undefined) =>
    createMailer({ SMTP_URL: 'smtp://a.example', MAIL_FROM }, { baseUrl })?.domain
  expect(domainOf(undefined)).toBe('allclear.example')
  expect(domainOf('a@b.example')).toBe('b.example')
  for (const wrong of ['nobody', 'a@b.example, c@d.example', 'a@b.example\r\nX: 1', '<>']) {
    expect(() => domainOf(wrong)).toThrow('must be one email address')
  }
  expect(createMailer({ SMTP_URL: undefined, MAIL_FROM: undefined }, { baseUrl })).toBe(null)
})

test('addresses ignore case, and tags belong to one mailbox', () => {
  expect(email.address.parse('Ada+News@Reader.Example')).toEqual({
    text: 'ada+news@reader.example',
    label: 'ada+news@reader.example',
    destination: 'mail',
    target: 'ada@reader.example',
  })
})
