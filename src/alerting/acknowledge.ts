import { actorName } from '../account/actor-name.ts'
import { ofLiveOrganization, withOrganizationName } from '../account/views.ts'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { hashSecret } from '../core/hash-secret.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Alert } from '../generated/prisma/client.ts'
import { findOwned } from '../status/ownership.ts'
import { createChannelNotifier } from './channel-notifier.ts'
import type { AlertWorkContext } from './context.ts'
import { itemOf } from './dispatch-alerts.ts'
import { isAcknowledgeToken } from './message.ts'
import { readItems } from './sender/item.ts'
import { senders } from './senders.ts'

/**
 * Acknowledges an alert, which stops its reminders and its escalation. Does nothing if it is already acknowledged. Requires a key
 * with scope WRITE.
 * @throws NotFound.
 */
export async function acknowledgeAlert(ctx: AlertWorkContext, id: string): Promise<Alert> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const alert = await findOwned('Alert', id, (known) =>
      tx.db.alert.findUnique({ where: { id: known, organizationId } }),
    )
    const by = await actorName(tx)
    const events = await acknowledge(tx, [alert], by)
    return [await tx.db.alert.findUniqueOrThrow({ where: { id } }), ...events]
  })
}

/** An alert that a message reported. */
export type LinkedAlert = Alert & {
  /** Whether the alert ended and failed again after the message was sent. Its link then no longer acknowledges the alert. */
  readonly hasBegunAgain: boolean
}

/** Returns whether the link of the message can still acknowledge an alert. */
export const canAcknowledge = ({ endedAt, acknowledgedAt, hasBegunAgain }: LinkedAlert): boolean =>
  endedAt === null && acknowledgedAt === null && !hasBegunAgain

/** The alerts behind the link of a message. */
export interface LinkedAlerts {
  readonly organization: { readonly id: string; readonly name: string; readonly timeZone: string }
  readonly channelName: string
  /** Whether the link has been used. */
  readonly isUsed: boolean
  readonly alerts: readonly LinkedAlert[]
}

/** Returns the alerts of the message whose link has this token. @throws NotFound for an unknown token. */
export async function linkedAlerts({ db }: Pick<Context, 'db'>, token: string): Promise<LinkedAlerts> {
  const delivery = isAcknowledgeToken(token)
    ? await db.alertDelivery.findUnique({
        where: { tokenHash: hashSecret(token), ...ofLiveOrganization },
        include: { channel: true, ...withOrganizationName },
      })
    : null
  if (delivery === null) throw new NotFound('Alert not found. It may have been deleted.')
  const { organization, channel, usedAt } = delivery
  const counts = new Map(readItems(delivery.items).map(({ alertId, count }) => [alertId, count]))
  const found = await db.alert.findMany({
    where: { organizationId: organization.id, id: { in: [...counts.keys()] } },
    orderBy: [{ openedAt: 'desc' }, { subjectName: 'asc' }, { id: 'asc' }],
  })
  const alerts = found.map((alert) => ({ ...alert, hasBegunAgain: alert.count > (counts.get(alert.id) ?? 0) }))
  return { organization, channelName: channel.name, isUsed: usedAt !== null, alerts }
}

/**
 * Acknowledges the alerts of the message whose link has this token. A link works once, and only for the outages that its message
 * reported: an alert that has failed again since needs the link of a later message.
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
    const current = before.alerts.filter(({ hasBegunAgain }) => !hasBegunAgain)
    const events = await acknowledge(tx, current, by)
    return [await linkedAlerts(tx, token), ...events]
  })
}

/** Acknowledges the alerts that are open and unacknowledged. Returns the new events. */
async function acknowledge(tx: AlertWorkContext, alerts: readonly Alert[], by: string): Promise<NewEvent[]> {
  const open = alerts.filter(({ endedAt, acknowledgedAt }) => endedAt === null && acknowledgedAt === null)
  if (open.length === 0) return []
  const alertId = { in: open.map(({ id }) => id) }
  const data = { acknowledgedAt: tx.now(), acknowledgedBy: by }
  await tx.db.alert.updateMany({ where: { id: alertId, endedAt: null, acknowledgedAt: null }, data })
  await tx.db.alertRecipient.updateMany({ where: { alertId }, data: { remindAt: null, escalateAt: null } })
  const recipients = await tx.db.alertRecipient.findMany({ where: { alertId }, include: { channel: true } })
  const closers = recipients.filter(({ channel }) => senders[channel.kind].hasLifecycle)
  const notifier = createChannelNotifier(tx, [...new Map(closers.map(({ channel }) => [channel.id, channel])).values()])
  for (const { channel, alertId: id } of closers) {
    const alert = open.find((each) => each.id === id)
    if (alert) notifier.notifyChannel(channel, alert, itemOf({ ...alert, ...data }, 'ACKNOWLEDGED', tx.now()))
  }
  for (const alert of open) notifier.log('ALERT_ACKNOWLEDGED', alert)
  return notifier.send()
}
