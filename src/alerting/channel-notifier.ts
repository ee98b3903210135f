import { MINUTE } from '../core/time.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Alert, AlertChannel } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { createDeliveries } from './alert-deliveries.ts'
import type { AlertWorkContext } from './context.ts'
import { wantedFor } from './rules.ts'
import type { AlertItem } from './sender/item.ts'
import { isOver } from './sender/item.ts'
import { senders } from './senders.ts'
import type { AlertSubject } from './subject.ts'

/** Collects the notifications of one transaction by channel, and its events. */
export interface ChannelNotifier {
  /**
   * Notifies the channels that have chosen a change.
   * @param about `seq`, the event's position (channels created later are skipped), and `notified`, the ids of channels that were
   * already notified and are skipped.
   */
  notify(
    alert: Alert,
    subject: AlertSubject | null,
    item: AlertItem,
    about: { readonly seq: number; readonly notified?: ReadonlySet<string> },
  ): Promise<void>
  /** Sends the end of an alert to the receivers that keep it open, such as PagerDuty. */
  close(alert: Alert, item: AlertItem): Promise<void>
  /** Notifies a channel of an alert, regardless of the changes that it has chosen. */
  notifyChannel(channel: AlertChannel, alert: Alert, item: AlertItem): void
  /** Adds what happened to an alert to the events. */
  log(kind: AlertEventKind, alert: Pick<Alert, 'id' | 'subjectName'>): void
  /** Creates the deliveries, and schedules reminders and escalations. Returns the events for the organization's log. */
  send(): Promise<NewEvent[]>
}

/** Creates a notifier for these channels of one organization. */
export function createChannelNotifier(tx: AlertWorkContext, channels: readonly AlertChannel[]): ChannelNotifier {
  const pending = new Map<string, { readonly alert: Alert; readonly item: AlertItem }[]>()
  const log = createAlertLog()

  const notifyChannel: ChannelNotifier['notifyChannel'] = ({ id }, alert, item) => {
    pending.set(id, [...(pending.get(id) ?? []), { alert, item }])
  }

  const recipientsOf = async ({ id }: Alert) =>
    new Set(
      (await tx.db.alertRecipient.findMany({ where: { alertId: id }, select: { channelId: true } })).map(
        ({ channelId }) => channelId,
      ),
    )

  return {
    log: log.add,
    notifyChannel,
    async notify(alert, subject, item, { seq, notified: before }) {
      const recipients = isOver(item) ? await recipientsOf(alert) : null
      for (const channel of channels) {
        if (before?.has(channel.id)) continue
        const isRecipient = recipients?.has(channel.id) ?? false
        const mustClose = isRecipient && senders[channel.kind].hasLifecycle
        if (mustClose || (channel.sinceSeq < seq && wants(channel, subject, item, isRecipient))) {
          notifyChannel(channel, alert, item)
        }
      }
    },
    async close(alert, item) {
      const recipients = await recipientsOf(alert)
      for (const channel of channels)
        if (recipients.has(channel.id) && senders[channel.kind].hasLifecycle) notifyChannel(channel, alert, item)
    },
    async send() {
      for (const channel of channels) {
        const all = pending.get(channel.id) ?? []
        if (all.length === 0) continue
        const sentAt = await createDeliveries(
          tx,
          channel,
          all.map(({ item }) => item),
        )
        for (const { alert, item } of all) if (isProblem(item)) await recordRecipient(tx, channel, alert, sentAt)
      }
      pending.clear()
      return log.events()
    },
  }
}

const isProblem = (item: AlertItem) => !isOver(item) && item.about !== 'ACKNOWLEDGED'

/** Returns whether a channel gets this change of a monitor or an objective. */
function wants(
  channel: Pick<AlertChannel, 'changes' | 'monitorIds' | 'serviceIds'>,
  subject: Pick<AlertSubject, 'id' | 'serviceId'> | null,
  { change }: Pick<AlertItem, 'change'>,
  isRecipient: boolean,
): boolean {
  if (!wantedFor[change].some((each) => channel.changes.includes(each))) return false
  // A channel that was notified by an escalation also gets the end of the alert.
  return isRecipient || (subject !== null && isChosen(channel, subject))
}

function isChosen(
  { monitorIds, serviceIds }: Pick<AlertChannel, 'monitorIds' | 'serviceIds'>,
  { id, serviceId }: Pick<AlertSubject, 'id' | 'serviceId'>,
): boolean {
  if (monitorIds.length + serviceIds.length === 0) return true
  return monitorIds.includes(id) || (serviceId !== null && serviceIds.includes(serviceId))
}

/**
 * Records that a channel was notified of an alert, and schedules its reminder and escalation.
 * @param from when the message is sent.
 */
async function recordRecipient(
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
  // An alert that failed again escalates again; other changes do not postpone the escalation.
  if (known.count < count) await db.alertRecipient.update({ where, data: { count, remindAt, escalateAt } })
}

type AlertEventKind = Extract<
  EventKind,
  'ALERT_OPENED' | 'ALERT_REMINDED' | 'ALERT_ESCALATED' | 'ALERT_ENDED' | 'ALERT_ACKNOWLEDGED'
>

/** Collects the alerts of one transaction for the organization's event log. */
export interface AlertLog {
  add(kind: AlertEventKind, alert: Pick<Alert, 'id' | 'subjectName'>): void
  /** Returns at most one event per kind, which covers all alerts of that kind. */
  events(): NewEvent[]
}

/** The maximum number of monitors that an event names. */
const MAX_NAMED = 3

/** Creates an empty log. */
export function createAlertLog(): AlertLog {
  const byKind = new Map<AlertEventKind, Map<string, string>>()
  return {
    add(kind, { id, subjectName }) {
      byKind.set(kind, (byKind.get(kind) ?? new Map()).set(id, subjectName))
    },
    events: () =>
      [...byKind].flatMap(([kind, alerts]) => {
        const [first] = alerts.keys()
        return first === undefined ? [] : [{ kind, subjectId: first, subjectName: namesOf([...alerts.values()]) }]
      }),
  }
}

/** Joins the first names and counts the rest, such as `API, Web, Mail and 2 more`. */
function namesOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  const named = names.slice(0, MAX_NAMED).join(', ')
  return more > 0 ? `${named} and ${more} more` : named
}
