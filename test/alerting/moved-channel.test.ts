import { expect, test } from 'vitest'
import { sealedAddress } from '../../src/alerting/message.ts'
import { testAlertChannel } from '../../src/alerting/test-channel.ts'
import { seal } from '../notification/setup.ts'
import { testDatabase } from '../support/database.ts'
import type { Received, ReceiverAnswer } from '../support/receiver.ts'
import { alertedWithReceiver } from './setup.ts'

const database = await testDatabase()
const { alerted, receiver } = await alertedWithReceiver(database)

const chatOf = ({ body }: Pick<Received, 'body'>) => JSON.parse(body).chat_id
const botToken = `123456:${'A'.repeat(35)}`

/** Telegram’s answers once the group has become a supergroup. */
function upgraded(request: Received): ReceiverAnswer {
  if (chatOf(request) !== '-1001') return { status: 200, body: '{"ok":true}' }
  const parameters = { migrate_to_chat_id: -1_009_876_543_210 }
  return {
    status: 400,
    body: JSON.stringify({ ok: false, description: 'Bad Request: group chat was upgraded', parameters }),
  }
}

/** Returns the address that is stored for a channel, and its label. */
async function stored(id: string) {
  const { address, label } = await database.prisma.alertChannel.findUniqueOrThrow({ where: { id } })
  return [JSON.parse(seal.open(address, sealedAddress(id))), label]
}

const moved = [{ botToken, chatId: '-1009876543210' }, 'bot 123456, chat -1009876543210']

test('alerts follow a Telegram group that became a supergroup', async () => {
  receiver.answer = upgraded
  const tenant = await alerted.tenant()
  const { id } = await alerted.channel(tenant, { telegram: { botToken, chatId: '-1001' } })
  const monitor = await alerted.monitor(tenant, 'API')
  await alerted.setState(tenant, [monitor], 'DOWN')
  await alerted.run(tenant, 2)
  expect(receiver.received.map(chatOf)).toEqual(['-1001', '-1009876543210'])
  expect(await stored(id)).toEqual(moved)
})

test('so does a test of the channel', async () => {
  receiver.answer = upgraded
  const tenant = await alerted.tenant()
  const { id } = await alerted.channel(tenant, { telegram: { botToken, chatId: '-1001' } })
  expect(await testAlertChannel(alerted.own(tenant), id)).toMatchObject({ delivered: true })
  expect(await stored(id)).toEqual(moved)
})
