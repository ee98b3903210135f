import { afterAll, beforeEach, expect, test } from 'vitest'
import { addressOf } from '../../../src/notification/channel/sealed-address.ts'
import { toReceiver } from '../../alerting/setup.ts'
import { testDatabase } from '../../support/database.ts'
import type { Received, ReceiverAnswer } from '../../support/receiver.ts'
import { startReceiver } from '../../support/receiver.ts'
import { notifiedIn, seal } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const receiver = await startReceiver()
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = upgraded
})

const chatOf = ({ body }: Pick<Received, 'body'>) => JSON.parse(body).chat_id
const botToken = `123456:${'A'.repeat(35)}`
const group = { telegram: { botToken, chatId: '-1001' } }
const supergroup = { telegram: { botToken, chatId: '-1009876543210' } }

/** Telegram’s answers once the group has become the supergroup. */
function upgraded(request: Received): ReceiverAnswer {
  if (chatOf(request) !== '-1001') return { status: 200, body: '{"ok":true}' }
  const description = 'Bad Request: group chat was upgraded to a supergroup chat'
  const parameters = { migrate_to_chat_id: -1_009_876_543_210 }
  return { status: 400, body: JSON.stringify({ ok: false, error_code: 400, description, parameters }) }
}

test('a Telegram group that became a supergroup stays subscribed at its new id', async () => {
  const tenant = await notified.tenant()
  const { id } = await notified.subscriber(tenant, group)
  const worker = notified.worker({ outbound: toReceiver(receiver) })
  const incident = await notified.incident(tenant, 'A')
  await notified.tick(tenant, worker)
  expect(receiver.received.map(chatOf)).toEqual(['-1001', '-1009876543210'])
  const moved = await prisma.subscriber.findUniqueOrThrow({ where: { id } })
  expect(moved).toMatchObject({ stoppedAt: null, bounces: 0, label: 'bot 123456, chat -1009876543210' })
  expect(addressOf(seal, moved)).toBe(`${botToken}/-1009876543210`)
  await notified.update(tenant, incident, 'Later.')
  await notified.tick(tenant, worker)
  expect(receiver.received.map(chatOf).slice(2)).toEqual(['-1009876543210'])
  await expect(notified.subscriber(tenant, supergroup), 'it is found by its new id').rejects.toThrow('already')
})

test('a group whose new id is subscribed already is not notified twice from then on', async () => {
  const tenant = await notified.tenant()
  const { id } = await notified.subscriber(tenant, group)
  await notified.subscriber(tenant, supergroup)
  const worker = notified.worker({ outbound: toReceiver(receiver) })
  const incident = await notified.incident(tenant, 'A')
  await notified.tick(tenant, worker)
  expect(await prisma.subscriber.findUniqueOrThrow({ where: { id } })).toMatchObject({ stopReason: 'GONE' })
  receiver.received.length = 0
  await notified.update(tenant, incident, 'Later.')
  await notified.tick(tenant, worker)
  expect(receiver.received.map(chatOf)).toEqual(['-1009876543210'])
})
