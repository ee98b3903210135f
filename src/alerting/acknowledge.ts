import { actorName } from '../account/actor-name.ts'
import { hashSecret } from '../account/secret.ts'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Alert } from '../generated/prisma/client.ts'
import { findOwned } from '../status/ownership.ts'
import type { AlertWorkContext } from './context.ts'
import { itemOf } from './dispatch-alerts.ts'
import { readItems } from './item.ts'
import { isAcknowledgeToken } from './message.ts'
import { senders } from './senders.ts'
import { createTelling } from './telling.ts'

/**
 * Acknowledges an alert: nobody is reminded of it any more, and it is not escalated. Acknowledging again changes nothing. Needs a
 * key with scope WRITE.
 * @throws NotFound.
 */
export async function acknowledgeAlert(ctx: AlertWorkContext, id: string): Promise<Alert> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const alert = await findOwned('Alert', id, (known) =>
      tx.db.alert.findUnique({ where: { id: known, organizationId } }),
    )
    const by = await actorName(tx)
    const events = await acknowledge({ ...tx, seal: ctx.seal }, [alert], by)
    return [await tx.db.alert.findUniqueOrThrow({ where: { id } }), ...events]
  })
}

/** What the link of a message is about. */
export interface LinkedAlerts {
  readonly organization: { readonly id: string; readonly name: string; readonly timeZone: string }
  readonly channelName: string
  /** Whether the link was used. */
  readonly isUsed: boolean
  readonly alerts: readonly Alert[]
}

/** Returns the alerts of a message by the token of its link. @throws NotFound for an unknown token. */
export async function linkedAlerts({ db }: Pick<Context, 'db'>, token: string): Promise<LinkedAlerts> {
  const delivery = isAcknowledgeToken(token)
    ? await db.alertDelivery.findUnique({
        where: { tokenHash: hashSecret(token), organization: { deletedAt: null } },
        include: { channel: true, organization: { select: { id: true, name: true, timeZone: true } } },
      })
    : null
  if (delivery === null) throw new NotFound('Alert not found. It may have been deleted.')
  const { organization, channel, usedAt } = delivery
  const ids = readItems(delivery.items).map(({ alertId }) => alertId)
  const alerts = await db.alert.findMany({
    where: { organizationId: organization.id, id: { in: ids } },
    orderBy: [{ openedAt: 'desc' }, { id: 'asc' }],
  })
  return { organization, channelName: channel.name, isUsed: usedAt !== null, alerts }
}

/**
 * Acknowledges the alerts of a message by the token of its link, which works once: what begins again later needs another message's.
 * @throws NotFound for an unknown token.
 */
export async function acknowledgeByToken(ctx: AlertWorkContext, token: string): Promise<LinkedAlerts> {
  const { organization } = await linkedAlerts(ctx, token)
  return change(ctx, organization.id, async (tx) => {
    const before = await linkedAlerts(tx, token)
    const where = { tokenHash: hashSecret(token), usedAt: null }
    const { count } = await tx.db.alertDelivery.updateMany({ where, data: { usedAt: tx.now() } })
    if (count === 0) return [before]
    const by = `the link sent to ${before.channelName}`
    const events = await acknowledge({ ...tx, seal: ctx.seal }, before.alerts, by)
    return [await linkedAlerts(tx, token), ...events]
  })
}

/** Acknowledges those that last and that nobody has acknowledged. Returns the new events. */
async function acknowledge(tx: AlertWorkContext, alerts: readonly Alert[], by: string): Promise<NewEvent[]> {
  const open = alerts.filter(({ endedAt, acknowledgedAt }) => endedAt === null && acknowledgedAt === null)
  if (open.length === 0) return []
  const alertId = { in: open.map(({ id }) => id) }
  const data = { acknowledgedAt: tx.now(), acknowledgedBy: by }
  await tx.db.alert.updateMany({ where: { id: alertId, endedAt: null, acknowledgedAt: null }, data })
  await tx.db.alertRecipient.updateMany({ where: { alertId }, data: { remindAt: null, escalateAt: null } })
  const recipients = await tx.db.alertRecipient.findMany({ where: { alertId }, include: { channel: true } })
  const closers = recipients.filter(({ channel }) => senders[channel.kind].hasLifecycle)
  const telling = createTelling(tx, [...new Map(closers.map(({ channel }) => [channel.id, channel])).values()])
  for (const { channel, alertId: id } of closers) {
    const alert = open.find((each) => each.id === id)
    if (alert) telling.tellChannel(channel, alert, itemOf({ ...alert, ...data }, 'ACKNOWLEDGED', tx.now()))
  }
  await telling.send()
  return open.map((alert) => ({
    kind: 'ALERT_ACKNOWLEDGED',
    subjectId: alert.id,
    subjectName: alert.monitorName,
  }))
}
