import { markPushChannel, readOrganization } from '../account/organization/organization-queries.ts'
import { organizations } from '../account/views.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { startDispatch } from '../notification/subscriber/subscriber.ts'
import { members } from '../people/views.ts'
import { channelEvent } from './channel.ts'
import { sealedAddress } from './message.ts'
import { PUSH } from './sender/push.ts'

/** How many organizations get their channel in one run. */
const BATCH = 50

/**
 * Selects the organizations whose members have browsers with notifications turned on, and that never had a default push channel.
 */
export const WITHOUT_PUSH_CHANNEL = Prisma.sql`
  SELECT organization.id FROM ${organizations} AS organization
  WHERE organization."pushChannelAt" IS NULL AND organization."deletedAt" IS NULL AND EXISTS (
    SELECT 1 FROM ${members} AS member JOIN "PushBrowser" AS browser ON browser."userId" = member."userId"
    WHERE member."organizationId" = organization.id)`

/**
 * Creates an alert channel to the browsers of all members, once per organization, as soon as a member turns notifications on.
 * Members thus get alerts by default; the organization can change or delete the channel. It does not count against the tier's
 * limit. Returns whether there may be more organizations.
 */
export async function createDefaultPushChannels(ctx: ChangeContext & { readonly seal: SecretBox }): Promise<boolean> {
  const found = await ctx.db.$queryRaw<{ id: string }[]>`${WITHOUT_PUSH_CHANNEL} LIMIT ${BATCH}`
  for (const { id } of found) await createDefault(ctx, id)
  return found.length === BATCH
}

function createDefault(ctx: ChangeContext & { readonly seal: SecretBox }, organizationId: string): Promise<void> {
  return change(ctx, organizationId, async (tx) => {
    const { pushChannelAt, lastSeq } = await readOrganization(tx, organizationId)
    if (pushChannelAt !== null) return [undefined]
    await markPushChannel(tx, organizationId)
    if ((await tx.db.alertChannel.count({ where: { organizationId, kind: 'PUSH' } })) > 0) return [undefined]
    await startDispatch(tx.db, organizationId, lastSeq)
    const position = await tx.db.dispatch.findUnique({ where: { organizationId } })
    const id = newId('AlertChannel')
    const channel = await tx.db.alertChannel.create({
      data: {
        ...{ id, organizationId, kind: 'PUSH', name: 'Browsers of members', changes: ['DOWN', 'UP'] },
        address: ctx.seal.seal(JSON.stringify({ userIds: [] }), sealedAddress(id)),
        ...{ label: 'every member', destination: PUSH },
        // Events that are not dispatched yet reach it too.
        sinceSeq: position?.seq ?? lastSeq,
        createdAt: tx.now(),
      },
    })
    return [undefined, channelEvent('ALERT_CHANNEL_CREATED', channel)]
  })
}
