import { afterAll, describe, expect, test } from 'vitest'
import { acknowledgeByToken } from '../../src/alerting/acknowledge.ts'
import { testAlertChannel } from '../../src/alerting/test-channel.ts'
import { createMailer } from '../../src/notification/channel/mailer.ts'
import { readAttempts } from '../../src/notification/queue/attempt.ts'
import { outbound, site } from '../notification/setup.ts'
import { testDatabase } from '../support/database.ts'
import { startMailServer } from '../support/mail-server.ts'
import { alertedIn } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const server = await startMailServer()
const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'status@allclear.example' }, site)
const alerted = alertedIn(database, { outbound, mailer })
afterAll(async () => {
  mailer?.close()
  await server.close()
})

const to = (address: string) => server.mails.filter(({ envelopeTo }) => envelopeTo === address)

describe('alerts by email', () => {
  test('form one thread per alert, in text and HTML, with an acknowledgement link', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, { mail: { address: 'ops@example.com' } })
    const monitor = await alerted.monitor(tenant, 'API <b>')
    await alerted.setState(tenant, [monitor], 'DOWN', 'HTTP 500 instead of 2xx')
    await alerted.run(tenant, 1)
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 1)
    const [down, up] = to('ops@example.com')
    expect(down?.subject).toMatch(/^\[.+\] Down: API <b>$/)
    expect(up?.subject).toMatch(/Up: API <b>$/)
    expect(down?.text).toContain('HTTP 500 instead of 2xx')
    expect(down?.html).toContain('API &#60;b&#62;')
    expect(down?.inReplyTo).toBe(up?.inReplyTo)
    expect(down?.messageId).not.toBe(up?.messageId)
    const [, token = ''] = /\/alerts\/([-\w]{43})/.exec(down?.text ?? '') ?? []
    const { alerts } = await acknowledgeByToken({ ...alerted.system, actor: { kind: 'visitor' } }, token)
    expect(alerts).toMatchObject([{ subjectName: 'API <b>' }])
  })

  test('are short plain texts for SMS gateways', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, { mail: { address: '4915112345@sms.example.com', short: true } })
    const monitor = await alerted.monitor(tenant, 'API')
    await alerted.setState(tenant, [monitor], 'DOWN', 'x'.repeat(300))
    await alerted.run(tenant, 1)
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 1)
    const [down, up] = to('4915112345@sms.example.com')
    const text = down?.text?.trim() ?? ''
    expect(down?.html).toBeUndefined()
    expect(down?.raw).not.toContain('text/html')
    expect(text).toMatch(/^Down: API: x+…\nhttps:\/\/allclear\.example\/alerts\/[-\w]{43}$/)
    expect(text).toHaveLength(160)
    expect(up?.text?.trim()).toMatch(/^Up: API: x+…$/)
  })

  test('fail permanently or are retried, depending on the server’s answer', async () => {
    const tenant = await alerted.tenant()
    const channel = await alerted.channel(tenant, { mail: { address: 'gone@example.com' } })
    server.refusal = (address) => (address === 'gone@example.com' ? '451 4.3.0 Try again' : null)
    const last = () => prisma.alertDelivery.findFirstOrThrow({ where: { channelId: channel.id } })
    await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
    await alerted.run(tenant, 0.5)
    expect(await last()).toMatchObject({ status: 'PENDING' })
    server.refusal = (address) => (address === 'gone@example.com' ? '550 5.1.1 No such mailbox' : null)
    await alerted.run(tenant, 2)
    const { status, attempts } = await last()
    expect([status, readAttempts(attempts).at(-1)]).toMatchObject([
      'FAILED',
      { status: 550, message: expect.stringContaining('No such mailbox') },
    ])
    expect(await testAlertChannel(alerted.own(tenant), channel.id)).toMatchObject({
      ...{ delivered: false, status: 550 },
      message: expect.stringContaining('No such mailbox'),
    })
  })
})
