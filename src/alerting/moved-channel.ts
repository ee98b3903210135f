import type { Context } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { AlertChannel } from '../generated/prisma/client.ts'
import type { SendResult } from '../notification/channel/channel.ts'
import { sealedAddress } from './message.ts'

/** Stores the id that a Telegram chat has after it became a supergroup, unless the channel got another address meanwhile. */
export async function followMove(
  { db }: Pick<Context, 'db'>,
  seal: SecretBox,
  { id, address }: Pick<AlertChannel, 'id' | 'address'>,
  result: SendResult,
): Promise<void> {
  if (result.kind === 'postponed' || result.movedTo === undefined) return
  const { text, label } = result.movedTo
  const data: unknown = JSON.parse(seal.open(address, sealedAddress(id)))
  const moved = { ...Object(data), chatId: text.slice(text.indexOf('/') + 1) }
  await db.alertChannel.updateMany({
    where: { id, address },
    data: { address: seal.seal(JSON.stringify(moved), sealedAddress(id)), label },
  })
}
