import { z } from 'zod'
import type { EditContext } from '../account/managed-object.ts'
import { requireDeletable, requireUnlocked } from '../account/managed-object.ts'
import { readOrganization } from '../account/organization/organization-queries.ts'
import { zoneName } from '../account/page/page-settings.ts'
import { tierOf } from '../account/tier.ts'
import { requireScope } from '../core/access.ts'
import type { Context } from '../core/context.ts'
import { described, idOf, idText, named } from '../core/described.ts'
import { Conflict, NotFound, TierLimitReached } from '../core/errors.ts'
import { isIdOf, newId, typeOfId } from '../core/id.ts'
import { changedFields, requireVersion, versionInput } from '../core/optimistic-lock.ts'
import { ownValue } from '../core/own-value.ts'
import { DAY } from '../core/time.ts'
import { cappedText, invalid, nameText, validate } from '../core/validation.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { AlertChannel, Tier } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { AlertChange } from '../generated/prisma/enums.ts'
import { suppressedAmong } from '../notification/mail/suppression.ts'
import { startDispatch } from '../notification/subscriber/subscriber.ts'
import { newSecret } from '../notification/subscriber/token.ts'
import { countMembers } from '../people/membership.ts'
import { findOwned, requireDistinct, requireServices } from '../status/ownership.ts'
import type { AddressInput } from './channel-address.ts'
import { addressFields, addressKeys, hasAddress, kindByKey, readAddress } from './channel-address.ts'
import type { AlertingContext } from './context.ts'
import { sealedAddress, sealedSecret } from './message.ts'
import type { QuietTimes } from './quiet-hours.ts'
import { isAlwaysQuiet, parseEnd, parseMinutes, quietColumnsOf, weekday, weekdays } from './quiet-hours.ts'
import { requireReachableAddress } from './reachable-address.ts'
import type { AlertAddress } from './sender/sender.ts'

/** How many alert channels an organization may have. */
const maxChannels: Readonly<Record<Tier, number>> = { FREE: 3, PRO: 20, TEAM: 100 }

/** How many monitors, or services, a channel may choose. */
const MAX_CHOSEN = 500
/** A day, in minutes. */
const MAX_MINUTES = 1440

const allChanges = Object.values(AlertChange)

const changes = z
  .array(z.enum(AlertChange))
  .min(1, 'must name at least one change')
  .max(allChanges.length * 2)
  .transform((given) => allChanges.filter((each) => given.includes(each)))
const ids = z.array(idText).max(MAX_CHOSEN, `must have at most ${MAX_CHOSEN} ids`)
const timeOf = (parse: (text: string) => number | null) =>
  cappedText(20).transform((text, ctx) => {
    const minutes = parse(text)
    if (minutes !== null) return minutes
    ctx.addIssue({ code: 'custom', message: 'must be a time of day, such as 22:00' })
    return z.NEVER
  })
const time = timeOf(parseMinutes)
/** How many quiet windows a channel may have. */
const MAX_WINDOWS = 14
const windows = z
  .array(
    named(
      z.object({
        days: described(
          z
            .array(weekday)
            .min(1, 'must name at least one day')
            .max(weekdays.length * 2)
            .transform((given) => weekdays.flatMap((day, index) => (given.includes(day) ? [index + 1] : []))),
          { description: 'The days on which the window begins.' },
        ),
        from: described(time, { description: 'The start, such as 22:00.' }),
        to: described(timeOf(parseEnd), {
          description: 'The end, up to 24:00. If it is not after `from`, it is on the next day.',
        }),
      }),
      { name: 'QuietWindow', about: 'Hours on some days of the week when a channel gets no messages.' },
    ),
  )
  .min(1, 'must have at least one window')
  .max(MAX_WINDOWS, `must have at most ${MAX_WINDOWS} windows`)
  .refine((given) => !isAlwaysQuiet(given), { message: 'must leave some time in which messages can be sent' })
const minutes = (least: number) => z.int().min(least).max(MAX_MINUTES)

const escalation = named(
  z.object({
    channelId: idOf('Another channel. It is notified regardless of the changes that it has chosen.'),
    afterMinutes: described(minutes(1), { description: 'The minutes to wait, 1 to 1440.' }),
  }),
  { name: 'Escalate', about: 'The channel that gets an alert if it is not acknowledged in time.' },
)

const quietTimes = named(
  z.object({
    windows: described(windows, { description: 'Up to 14 windows, which must not cover the whole week.' }),
    timeZone: described(zoneName.nullish(), {
      description: 'The IANA time zone. Default: the zone of the organization.',
    }),
  }),
  { name: 'QuietTimes', about: 'When a channel gets no messages.' },
)

const settings = {
  when: described(changes.nullish(), {
    description: 'The changes that the channel is notified of. Default: all.',
  }),
  monitorIds: described(ids.nullish(), {
    description:
      'Only these monitors and those of `serviceIds`. If both are empty or omitted: all monitors, with or without a service.',
  }),
  serviceIds: described(ids.nullish(), {
    description: 'Only the monitors of these services and those in `monitorIds`.',
  }),
  remindAfterMinutes: described(minutes(5).nullish(), {
    description: 'The minutes between reminders of an unacknowledged alert, 5 to 1440. Null: no reminders.',
  }),
  escalate: described(escalation.nullish(), {
    description: 'Notifies another channel if an alert is not acknowledged in time. Null: no escalation.',
  }),
  quietTimes: described(quietTimes.nullish(), {
    description: 'When it gets no messages; alerts wait until the window ends. Null: never.',
  }),
  ...addressFields,
}

const name = described(nameText, { description: 'The channel’s name.' })

/** The input of `createAlertChannel`. */
export const newChannel = named(z.object({ name, ...settings }), {
  name: 'CreateAlertChannel',
  about: 'Where to send which alerts, and when.',
})

/** The input of `updateAlertChannel`. */
export const channelEdit = named(
  z.object({ id: idOf('The channel to update.'), name: name.optional(), ...settings, version: versionInput }),
  { name: 'UpdateAlertChannel', about: 'Omitted fields stay unchanged. The kind cannot change.' },
)

/**
 * Creates an alert channel, which gets alerts about events from now on. Requires a key with scope WRITE.
 * @throws Invalid, NotFound for a monitor, service or channel outside the organization, and TierLimitReached.
 */
export async function createAlertChannel(ctx: AlertingContext, input: unknown): Promise<AlertChannel> {
  const organizationId = requireScope(ctx, 'WRITE')
  const given = validate(newChannel, input)
  const address = readAddress(ctx, given)
  const { kind, data, label, destination } = address
  return change(ctx, organizationId, async (tx) => {
    const tier = await tierOf(tx, organizationId)
    const limit = maxChannels[tier]
    if ((await tx.db.alertChannel.count({ where: { organizationId } })) >= limit)
      throw new TierLimitReached(`The ${tier} tier allows ${limit} alert channels, and all are in use.`, limit)
    await requireUsable(tx, organizationId, address)
    const id = newId('AlertChannel')
    const organization = await readOrganization(tx, organizationId)
    const chosen = await chosenSettings(tx, organizationId, id, given, organization.timeZone)
    await startDispatch(tx.db, organizationId, organization.lastSeq)
    const channel = await tx.db.alertChannel.create({
      data: {
        changes: allChanges,
        ...chosen,
        id,
        organizationId,
        name: given.name,
        kind,
        address: ctx.seal.seal(JSON.stringify(data), sealedAddress(id)),
        label,
        destination,
        secret: kind === 'WEBHOOK' ? newWebhookSecret(ctx, id) : null,
        sinceSeq: organization.lastSeq,
        createdAt: tx.now(),
      },
    })
    return [channel, channelEvent('ALERT_CHANNEL_CREATED', channel)]
  })
}

/**
 * Updates the given fields of an alert channel; null removes reminders, escalation and quiet times. The kind cannot change.
 * Requires a key with scope WRITE.
 * @throws Invalid, NotFound, Conflict if the channel is newer than the given version, and ManagedByFile.
 */
export async function updateAlertChannel(ctx: AlertingContext, input: unknown): Promise<AlertChannel> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, name, ...given } = validate(channelEdit, input)
  const address = hasAddress(given) ? readAddress(ctx, given) : null
  return change(ctx, organizationId, async (tx) => {
    const before = await ownChannel(tx, organizationId, id)
    requireVersion(before, version)
    if (address !== null) requireSameKind(before, address.kind, given)
    const isReplaced = address !== null && !leadsTo(ctx, before, address.data)
    if (isReplaced) await requireUsable(tx, organizationId, address)
    const { timeZone } = await readOrganization(tx, organizationId)
    const chosen = { name, ...(await chosenSettings(tx, organizationId, id, given, timeZone)) }
    const changed = changedFields(before, chosen)
    if (address === null && changed.length === 0) return [before]
    const fields = [
      ...changed.flatMap((column) => ownValue(fieldsOf, column) ?? column),
      ...(isReplaced ? [keyOf(before)] : []),
    ]
    await requireUnlocked(tx, organizationId, id, fields)
    const channel = await tx.db.alertChannel.update({
      where: { id },
      data: {
        ...chosen,
        ...(address && {
          address: ctx.seal.seal(JSON.stringify(address.data), sealedAddress(id)),
          label: address.label,
          destination: address.destination,
        }),
        version: { increment: 1 },
      },
    })
    // Pending messages go to the new address.
    if (address)
      await tx.db.alertDelivery.updateMany({
        where: { channelId: id, status: 'PENDING' },
        data: { destination: address.destination },
      })
    return [channel, channelEvent('ALERT_CHANNEL_UPDATED', channel)]
  })
}

/** How long messages are also signed with the previous secret after a rotation. */
const ROTATION = DAY

/**
 * Rotates the signing secret of a webhook channel. For a day its messages also carry a signature with the previous secret; older
 * secrets stop working immediately. Requires a key with scope WRITE.
 * @throws NotFound, and Conflict for a channel of another kind.
 */
export async function rotateAlertChannelSecret(ctx: AlertingContext, id: string): Promise<AlertChannel> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const { kind, secret } = await ownChannel(tx, organizationId, id)
    if (kind !== 'WEBHOOK') throw new Conflict('Only webhooks have a signing secret.')
    const formerSecretUntil = new Date(tx.now().getTime() + ROTATION)
    const data = { secret: newWebhookSecret(ctx, id), formerSecret: secret, formerSecretUntil }
    const channel = await tx.db.alertChannel.update({ where: { id }, data: { ...data, version: { increment: 1 } } })
    return [channel, channelEvent('ALERT_CHANNEL_UPDATED', channel)]
  })
}

/** Deletes an alert channel with its deliveries. Requires a key with scope WRITE. @throws NotFound and ManagedByFile. */
export async function deleteAlertChannel(ctx: EditContext, id: string): Promise<AlertChannel> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const channel = await ownChannel(tx, organizationId, id)
    await requireDeletable(tx, organizationId, id)
    await tx.db.alertChannel.updateMany({ where: { escalateToId: id }, data: { escalateAfterMinutes: null } })
    await tx.db.alertChannel.delete({ where: { id } })
    return [channel, channelEvent('ALERT_CHANNEL_DELETED', channel)]
  })
}

/** The input fields of each column whose name differs from the column’s. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  changes: ['when'],
  escalateToId: ['escalate'],
  escalateAfterMinutes: ['escalate'],
  quietWindows: ['quietTimes'],
  quietFrom: ['quietTimes'],
  quietTo: ['quietTimes'],
  quietZone: ['quietTimes'],
}

const keyOf = ({ kind }: AlertChannel) => addressKeys.find((key) => kindByKey[key] === kind) ?? ''

/** Returns whether a channel already has this address. */
function leadsTo({ seal }: Pick<AlertingContext, 'seal'>, { id, address }: AlertChannel, data: unknown): boolean {
  return seal.open(address, sealedAddress(id)) === JSON.stringify(data)
}

/** Reads an alert channel of an organization. @throws NotFound. */
export function ownChannel({ db }: Pick<Context, 'db'>, organizationId: string, id: string): Promise<AlertChannel> {
  return findOwned('AlertChannel', id, (known) => db.alertChannel.findUnique({ where: { id: known, organizationId } }))
}

/** Returns the signing secret of a webhook channel; null for other kinds. */
export function signingSecret(ctx: Pick<AlertingContext, 'seal'>, channel: Pick<AlertChannel, 'id' | 'secret'>) {
  return channel.secret === null ? null : ctx.seal.open(channel.secret, sealedSecret(channel.id))
}

/** Creates a sealed signing secret of a channel. */
function newWebhookSecret({ seal }: Pick<AlertingContext, 'seal'>, id: string): string {
  return seal.seal(seal.open(newSecret(seal, id), `${id} secret`), sealedSecret(id))
}

/** Creates an event about an alert channel. */
export const channelEvent = (kind: EventKind, { id, name }: AlertChannel): NewEvent => ({
  kind,
  subjectId: id,
  subjectName: name,
})

type Given = Omit<z.output<typeof newChannel>, 'name'>

/**
 * Returns the columns of the given settings; omitted settings stay unchanged.
 * @throws Invalid, and NotFound for ids outside the organization.
 */
async function chosenSettings(
  tx: Context,
  organizationId: string,
  id: string,
  { when, monitorIds, serviceIds, remindAfterMinutes, escalate, quietTimes }: Given,
  timeZone: string,
) {
  await requireMonitors(tx, organizationId, monitorIds ?? [])
  requireDistinct(serviceIds ?? [], (index) => ['serviceIds', index])
  await requireServices(tx, organizationId, serviceIds ?? [])
  if (escalate?.channelId === id)
    throw invalid([{ path: ['escalate', 'channelId'], message: 'must be another channel' }])
  if (escalate) await ownChannel(tx, organizationId, escalate.channelId)
  return {
    ...(when && { changes: when }),
    ...(monitorIds && { monitorIds }),
    ...(serviceIds && { serviceIds }),
    ...(remindAfterMinutes !== undefined && { remindAfterMinutes }),
    ...(escalate !== undefined && escalationColumns(escalate)),
    ...quietColumns(quietTimes, timeZone),
  }
}

const escalationColumns = (escalate: Given['escalate']) => ({
  escalateToId: escalate?.channelId ?? null,
  escalateAfterMinutes: escalate?.afterMinutes ?? null,
})

/** Returns the columns of quiet times; empty if none are given. */
function quietColumns(given: Given['quietTimes'], zone: string) {
  if (given === undefined) return {}
  const times: QuietTimes | null = given && {
    windows: given.windows.map(({ days, from, to }) => ({ days, from, to })),
    timeZone: given.timeZone ?? zone,
  }
  return quietColumnsOf(times)
}

/** @throws NotFound unless every id belongs to a monitor of the organization. */
async function requireMonitors({ db }: Context, organizationId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  requireDistinct(ids, (index) => ['monitorIds', index])
  const isValid = ids.every((id) => typeOfId(id) === 'Monitor')
  const count = isValid ? await db.monitor.count({ where: { organizationId, id: { in: [...ids] } } }) : 0
  if (count !== ids.length) throw new NotFound('Monitor not found.')
}

const memberIdsIn = (data: unknown): readonly string[] => z.object({ userIds: z.array(z.string()) }).parse(data).userIds

/**
 * Returns the ids of the members whose browsers a push channel notifies. Empty for every member, and for channels of other kinds.
 */
export function pushMembers({ seal }: Pick<AlertingContext, 'seal'>, { id, kind, address }: AlertChannel) {
  return kind === 'PUSH' ? memberIdsIn(JSON.parse(seal.open(address, sealedAddress(id)))) : []
}

/** @throws NotFound unless every person that a push channel names is a member. */
async function requireMembers(ctx: Context, organizationId: string, data: AlertAddress['data']): Promise<void> {
  const ids = memberIdsIn(data)
  if (ids.length === 0) return
  requireDistinct(ids, (index) => ['push', 'userIds', index])
  const isValid = ids.every((id) => isIdOf('User', id))
  const count = isValid ? await countMembers(ctx, organizationId, ids) : 0
  if (count !== ids.length) throw new NotFound('Member not found.')
}

/** @throws Invalid if an edit gives an address of another kind. */
function requireSameKind(before: AlertChannel, kind: AlertChannel['kind'], given: AddressInput): void {
  if (before.kind === kind) return
  const key = Object.keys(kindByKey).find((each) => given[each as keyof AddressInput] != null) ?? ''
  throw invalid([
    { path: [key], message: `must not be given: this channel is of kind ${before.kind}, which cannot change` },
  ])
}

/**
 * Checks a new address of an organization.
 * @throws Invalid for a blocked mailbox and a host that it may not reach. @throws NotFound for a person outside of it.
 */
async function requireUsable(
  ctx: ChangeContext & Pick<AlertingContext, 'seal'>,
  organizationId: string,
  address: ReturnType<typeof readAddress>,
): Promise<void> {
  await requireReachableAddress(ctx, organizationId, address)
  if (address.kind === 'MAIL') await requireUnblocked(ctx, organizationId, address.label)
  if (address.kind === 'PUSH') await requireMembers(ctx, organizationId, address.data)
}

/** @throws Invalid for a mailbox that complained about our email, or whose email bounced. */
async function requireUnblocked(
  ctx: Context & Pick<AlertingContext, 'seal'>,
  organizationId: string,
  text: string,
): Promise<void> {
  const found = await suppressedAmong(ctx, organizationId, [{ channel: 'EMAIL', text }])
  if (found.get(text) !== 'BLOCKED') return
  const message = 'no longer gets email from this service: the recipient marked it as spam, or an email bounced'
  throw invalid([{ path: ['mail', 'address'], message }])
}
