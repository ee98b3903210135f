// @slow
import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../../../src/core/id.ts'
import { DAY, MINUTE } from '../../../../src/core/time.ts'
import type { Browser } from '../../../support/console.ts'
import { testConsole } from '../../../support/console.ts'
import { fewestStatements } from '../../../support/statements.ts'

const { app, database, organization } = await testConsole({ SMTP_URL: 'smtp://127.0.0.1:1' })
const { signIn, organization: acme } = await organization('readers')
const { signIn: signInElsewhere } = await organization('elsewhere')
const { prisma } = database
beforeAll(async () => void (await prisma.organization.updateMany({ data: { tier: 'TEAM' } })))

const found = (address: string) => prisma.subscriber.findFirst({ where: { organizationId: acme.id, label: address } })
const idOf = async (address: string) => (await found(address))?.id ?? ''
const add = (browser: Browser, email: string) => browser.post('subscribers/new', { email })

describe('subscribers', () => {
  test('show a hint while there are none', async () => {
    const { html } = await (await signIn('EDITOR')).get('subscribers')
    expect(html).toContain('No one has subscribed yet.')
    expect(html).toContain('subscribers/import')
  })

  test('are added on any channel, without a confirmation', async () => {
    const editor = await signIn('EDITOR')
    const topics = { 'topics.shown': 'true', topics: ['INCIDENTS'] }
    expect((await editor.post('subscribers/new', { email: 'ada@a.example', ...topics })).status).toBe(303)
    expect(await found('ada@a.example')).toMatchObject({ topics: ['INCIDENTS'], confirmedAt: expect.any(Date) })
    expect((await editor.post('subscribers/new', { webhook: 'http://127.0.0.1:3/hook', ...topics })).status).toBe(303)
  })

  test('get some services only, if some are chosen', async () => {
    const editor = await signIn('EDITOR')
    await editor.post('services/new', { name: 'API', description: '' })
    const { id } = await prisma.service.findFirstOrThrow({ where: { organizationId: acme.id } })
    expect((await editor.get('subscribers/new')).html).toContain(`name="serviceIds" value="${id}"`)
    const chosen = { 'serviceIds.shown': 'true', serviceIds: id }
    await editor.post('subscribers/new', { email: 'some@a.example', ...chosen })
    await editor.post('subscribers/import', { csv: 'also@a.example', ...chosen })
    for (const address of ['some@a.example', 'also@a.example']) {
      expect(await found(address)).toMatchObject({ allServices: false })
      const services = await prisma.subscriberService.findMany({ where: { subscriberId: await idOf(address) } })
      expect(services.map(({ serviceId }) => serviceId)).toEqual([id])
    }
    const elsewhere = { 'serviceIds.shown': 'true', serviceIds: newId('Service') }
    const refused = await editor.post('subscribers/import', { csv: 'not@a.example', ...elsewhere })
    expect([refused.status, await found('not@a.example')]).toEqual([404, null])
  })

  test('are added on Telegram', async () => {
    const editor = await signIn('EDITOR')
    const bot = { 'telegram.botToken': `123456:${'a'.repeat(35)}`, 'telegram.chatId': '@acme_status' }
    const wrong = await editor.post('subscribers/new', { ...bot, 'telegram.chatId': 'acme' })
    expect([wrong.status, wrong.html]).toEqual([422, expect.stringContaining('id="telegram.chatId-problem"')])
    expect((await editor.post('subscribers/new', bot)).status).toBe(303)
    expect(await found('bot 123456, chat @acme_status')).toMatchObject({ channel: 'TELEGRAM' })
  })

  test('are refused beside their field, with the input', async () => {
    const editor = await signIn('EDITOR')
    const wrong = await editor.post('subscribers/new', { email: 'nobody' })
    expect([wrong.status, wrong.html]).toEqual([422, expect.stringContaining('id="email-problem"')])
    expect(wrong.html).toContain('value="nobody"')
    await add(editor, 'twice@a.example')
    expect((await add(editor, 'twice@a.example')).html).toContain('This address is already subscribed.')
    const viewer = await (await signIn('VIEWER')).post('subscribers/new', { email: 'eve@a.example' })
    expect([viewer.status, await found('eve@a.example')]).toEqual([422, null])
  })

  test('are not imported without the file that was lost at sign-in, which the form reports beside the field', async () => {
    const editor = await signIn('EDITOR')
    const { status, html } = await editor.post('subscribers/import', { csv: 'late@a.example', 'csv.sent': 'true' })
    expect(status).toBe(422)
    expect(html).toMatch(/Was lost while you signed in: choose the file again/)
    expect(html).toContain('late@a.example</textarea>')
    expect(await found('late@a.example')).toBeNull()
  })

  test('are imported from a file or from pasted text, and the answer describes what was skipped', async () => {
    const editor = await signIn('EDITOR')
    const pasted = await editor.post('subscribers/import', { csv: 'email\nbob@a.example\nnobody\nbob@a.example\n' })
    expect(pasted.status).toBe(200)
    expect(pasted.html).toContain('1 added, 0 known before, 0 skipped.')
    expect(pasted.html).toContain('<th scope="row">3</th><td>must be an email address</td>')
    const body = new FormData()
    body.append('csv', new File(['Name,Email\nEve,from-file@a.example\n'], 'people.csv', { type: 'text/csv' }))
    body.append('csv', '')
    const headers = { cookie: `allclear_session=${editor.token}`, 'sec-fetch-site': 'same-origin' }
    const address = `${app.baseUrl}/console/readers/subscribers/import`
    const response = await fetch(address, { method: 'POST', body, headers })
    expect(await response.text()).toContain('1 added')
    expect(await found('from-file@a.example')).not.toBeNull()
  })

  test('are exported as filtered', async () => {
    const editor = await signIn('EDITOR')
    await add(editor, 'exported@a.example')
    const { html, headers } = await editor.get('subscribers/export.csv?address=EXPORTED')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toContain('subscribers-readers.csv')
    expect(html.trim().split('\r\n')).toEqual([expect.stringMatching(/^email,/), expect.stringMatching(/^exported@a/)])
    expect((await (await signInElsewhere('OWNER')).get('/console/readers/subscribers/export.csv')).status).toBe(404)
  })

  test('are removed on a page that lists them', async () => {
    const editor = await signIn('EDITOR')
    await add(editor, 'gone@a.example')
    const id = await idOf('gone@a.example')
    const { location } = await editor.post('subscribers/bulk', { ids: id })
    const { html } = await editor.get(location ?? '')
    expect(html).toContain('Remove this subscriber?')
    expect(html).toContain('gone@a.example')
    expect((await (await signInElsewhere('OWNER')).post('subscribers/delete', { ids: id })).status).toBe(404)
    expect((await (await signIn('VIEWER')).post('subscribers/delete', { ids: id })).status).toBe(422)
    expect(await found('gone@a.example')).not.toBeNull()
    expect((await editor.post('subscribers/delete', { ids: id })).status).toBe(303)
    expect(await found('gone@a.example')).toBeNull()
  })

  test('in thousands are paged and searched with few statements', async () => {
    const { signIn: enter, organization: many } = await organization('thousands')
    const editor = await enter('EDITOR')
    await prisma.$executeRaw`
      INSERT INTO "Subscriber" (id, "organizationId", channel, address, "addressHash", label, destination, "tokenHash", token,
        topics, "allServices", "createdAt", "confirmableUntil", "confirmedAt")
      SELECT 'sub_' || lpad(each::text, 24, '0'), ${many.id}, (CASE each % 2 WHEN 1 THEN 'EMAIL' ELSE 'SLACK' END)::"ChannelKind",
        each, ${many.id} || each, 'reader-' || each || '@a.example', 'a.example', ${many.id} || each, '',
        '{INCIDENTS}'::"Topic"[], true, at, at, CASE each % 3 WHEN 0 THEN NULL ELSE at END
      FROM (
        SELECT each, ${new Date(Date.now() - 20 * DAY)}::timestamptz + each * interval '1 minute' AS at
        FROM generate_series(0, 9999) AS each
      ) AS numbered`
    const first = await editor.get('subscribers')
    expect(first.html.match(/<li id="sub_/g)).toHaveLength(50)
    expect(Buffer.byteLength(first.html)).toBeLessThan(100_000)
    const next = /href="([^"]*after=[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await editor.get(next)).html).toContain('reader-9949@a.example')
    expect(await fewestStatements(async () => void (await editor.get(next)))).toBeLessThanOrEqual(10)
    const filtered = await editor.get('subscribers?address=READER-9999&channel=EMAIL&state=PENDING')
    expect(filtered.html.match(/<li id="sub_/g)).toHaveLength(1)
    expect((await editor.get('subscribers?address=READER-9999&channel=SLACK')).html).toContain('No subscriber matches.')
  })
})

describe('deliveries', () => {
  const now = () => new Date()

  async function delivery(status: 'FAILED' | 'PENDING' | 'DELIVERED', seq: number | null = null) {
    const editor = await signIn('EDITOR')
    const address = `d${Math.random().toString(36).slice(2)}@a.example`
    await add(editor, address)
    const failed = { at: now(), delivered: false, status: 550, message: '5.1.1 No such user', durationMs: 12 }
    const { id } = await prisma.delivery.create({
      data: {
        ...{ id: newId('Delivery'), organizationId: acme.id, subscriberId: await idOf(address), channel: 'EMAIL', seq },
        ...{ subjectId: 'x', destination: 'a.example', status, attempts: [failed], createdAt: now(), endedAt: now() },
      },
    })
    return { editor, id, address }
  }

  test('are listed by state, channel and day, with the last answer', async () => {
    const { editor, id, address } = await delivery('FAILED')
    await delivery('DELIVERED')
    const { html } = await editor.get('deliveries?status=FAILED')
    expect(html).toContain(address)
    expect(html).toContain('5.1.1 No such user')
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: acme.timeZone }).format(now())
    expect((await editor.get(`deliveries?from=${today}&to=${today}&channel=EMAIL`)).html).toContain(id)
    expect((await editor.get('deliveries?to=2020-01-01')).html).toContain('No delivery matches.')
    expect((await editor.get('deliveries?channel=SLACK')).html).toContain('No delivery matches.')
    expect(await fewestStatements(async () => void (await editor.get('deliveries')))).toBeLessThanOrEqual(10)
  })

  test('show every attempt with the receiver’s answer, and can be sent again', async () => {
    const { editor, id } = await delivery('FAILED')
    const { html } = await editor.get(`deliveries/${id}`)
    expect(html).toContain('550 5.1.1 No such user')
    expect(html).toContain('About the subscription')
    expect((await (await signIn('VIEWER')).get(`deliveries/${id}`)).html).not.toContain('Send again')
    expect((await editor.post(`deliveries/${id}/redeliver`, {})).status).toBe(303)
    const { createdAt } = await prisma.delivery.findUniqueOrThrow({ where: { id } })
    expect(now().getTime() - createdAt.getTime()).toBeLessThan(10 * MINUTE)
  })

  test('that are pending cannot be sent again, and strangers see none', async () => {
    const { editor, id } = await delivery('PENDING')
    const { status, html } = await editor.post(`deliveries/${id}/redeliver`, {})
    expect([status, html]).toEqual([422, expect.stringContaining('This delivery is still pending.')])
    const stranger = await signInElsewhere('OWNER')
    expect((await stranger.get(`deliveries/${id}`)).status).toBe(404)
    expect((await stranger.post(`deliveries/${id}/redeliver`, {})).status).toBe(404)
  })
})
