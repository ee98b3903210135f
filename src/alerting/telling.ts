import { MINUTE } from '../core/time.ts'
import type { Alert, AlertChannel } from '../generated/prisma/client.ts'
import type { AlertWorkContext } from './context.ts'
import { deliver } from './deliver.ts'
import type { AlertItem } from './item.ts'
import { isOver } from './item.ts'
import { wantedFor } from './rules.ts'
import { senders } from './senders.ts'
import type { AlertSubject } from './subject.ts'

/** Gathers what channels are told in one transaction. */
export interface Telling {
  /**
   * Tells the channels that want it. @param about the event's position: channels that are newer do not hear of it; and channels
   * that have heard of it.
   */
  tell(
    alert: Alert,
    subject: AlertSubject | null,
    item: AlertItem,
    about: { readonly seq: number; readonly told?: ReadonlySet<string> },
  ): Promise<void>
  /** Tells its end to the receivers that must close what they opened. */
  end(alert: Alert, item: AlertItem): Promise<void>
  /** Tells a channel, whatever it wants. */
  tellChannel(channel: AlertChannel, alert: Alert, item: AlertItem): void
  /** Creates the deliveries of all that was told. */
  send(): Promise<void>
}

/** Creates one for the channels of an organization. */
export function createTelling(tx: AlertWorkContext, channels: readonly AlertChannel[]): Telling {
  const told = new Map<string, { readonly alert: Alert; readonly item: AlertItem }[]>()

  const tellChannel: Telling['tellChannel'] = ({ id }, alert, item) => {
    told.set(id, [...(told.get(id) ?? []), { alert, item }])
  }

  const recipientsOf = async ({ id }: Alert) =>
    new Set(
      (await tx.db.alertRecipient.findMany({ where: { alertId: id }, select: { channelId: true } })).map(
        ({ channelId }) => channelId,
      ),
    )

  return {
    tellChannel,
    async tell(alert, subject, item, { seq, told: before }) {
      const recipients = isOver(item) ? await recipientsOf(alert) : null
      for (const channel of channels) {
        if (before?.has(channel.id)) continue
        const isRecipient = recipients?.has(channel.id) ?? false
        const mustClose = isRecipient && senders[channel.kind].hasLifecycle
        if (mustClose || (channel.sinceSeq < seq && wants(channel, subject, item, isRecipient))) {
          tellChannel(channel, alert, item)
        }
      }
    },
    async end(alert, item) {
      const recipients = await recipientsOf(alert)
      for (const channel of channels)
        if (recipients.has(channel.id) && senders[channel.kind].hasLifecycle) tellChannel(channel, alert, item)
    },
    async send() {
      for (const channel of channels) {
        const all = told.get(channel.id) ?? []
        if (all.length === 0) continue
        const sentAt = await deliver(
          tx,
          channel,
          all.map(({ item }) => item),
        )
        for (const { alert, item } of all) if (isProblem(item)) await noteRecipient(tx, channel, alert, sentAt)
      }
      told.clear()
    },
  }
}

const isProblem = (item: AlertItem) => !isOver(item) && item.about !== 'ACKNOWLEDGED'

/** Returns whether a channel wants to hear of a change of a monitor or an objective. */
function wants(
  channel: Pick<AlertChannel, 'changes' | 'monitorIds' | 'serviceIds'>,
  subject: Pick<AlertSubject, 'id' | 'serviceId'> | null,
  { change }: Pick<AlertItem, 'change'>,
  isRecipient: boolean,
): boolean {
  if (!wantedFor[change].some((each) => channel.changes.includes(each))) return false
  // Whoever was told of it by escalation hears of its end.
  return isRecipient || (subject !== null && isChosen(channel, subject))
}

function isChosen(
  { monitorIds, serviceIds }: Pick<AlertChannel, 'monitorIds' | 'serviceIds'>,
  { id, serviceId }: Pick<AlertSubject, 'id' | 'serviceId'>,
): boolean {
  if (monitorIds.length + serviceIds.length === 0) return true
  return monitorIds.includes(id) || (serviceId !== null && serviceIds.includes(serviceId))
}

/** Notes that a channel is told of an alert, and when it is reminded and who hears of it next. @param from when it is sent. */
async function noteRecipient(
  { db }: AlertWorkContext,
  channel: AlertChannel,
  { id: alertId, acknowledgedAt, count }: Alert,
  from: Date,
): Promise<void> {
  const after = (minutes: number | null) =>
    minutes === null || acknowledgedAt !== null ? null : new Date(from.getTime() + minutes * MINUTE)
  const remindAt = after(channel.remindAfterMinutes)
  const escalateAt = channel.escalateToId === null ? null : after(channel.escalateAfterMinutes)
  const where = { alertId_channelId: { alertId, channelId: channel.id } }
  const known = await db.alertRecipient.findUnique({ where })
  if (known === null) {
    await db.alertRecipient.create({
      data: { alertId, channelId: channel.id, notifiedAt: from, count, remindAt, escalateAt },
    })
    return
  }
  // What began again is escalated again; what only changed, or lasts, is not put off.
  if (known.count < count) await db.alertRecipient.update({ where, data: { count, remindAt, escalateAt } })
}
