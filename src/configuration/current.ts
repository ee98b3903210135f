import { createHmac } from 'node:crypto'
import { readOrganization } from '../account/organization/organization-queries.ts'
import { pagesWithServices } from '../account/page/page-rows.ts'
import { isLogoAddress } from '../account/page/page-settings.ts'
import { kindByKey } from '../alerting/channel-address.ts'
import { sealedAddress } from '../alerting/message.ts'
import { quietTimesInput, quietTimesOf } from '../alerting/quiet-hours.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Database } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { AlertChannel, Monitor, Objective, Organization, Page } from '../generated/prisma/client.ts'
import { openOptions, optionKeys } from '../monitoring/monitor/options.ts'
import { changeSecrets } from '../monitoring/monitor/secrets.ts'
import { targetPercent } from '../monitoring/objective/objective.ts'
import { statedStatus } from '../status/service/statement.ts'
import type { Template } from '../status/template/template.ts'
import { templateServices } from '../status/template/template.ts'
import { bothIn } from '../status/timeline/translations.ts'
import type { ObjectFields } from './format.ts'
import type { Section } from './sections.ts'

/** An object of an organization, with the fields that a file can set. References are ids; secrets are `Secret`s. */
export interface Existing {
  readonly section: Section
  readonly id: string
  readonly name: string
  /** The subject of its events. */
  readonly subjectId: string
  readonly fields: ObjectFields
}

/** Hashes values with the installation's key, so that they cannot be guessed without it. */
export type Digest = (value: unknown) => string

/** Creates the hash function of an organization. */
export function createDigest(seal: SecretBox, organizationId: string): Digest {
  const key = seal.keyFor(`configuration ${organizationId}`)
  return (value) => createHmac('sha256', key).update(JSON.stringify(value)).digest('base64url')
}

/** The columns of a page that a file can set. Null inherits the organization's value. */
const inheritable = ['description', 'accentColor', 'links', 'uptimeSource'] as const

/**
 * Reads all objects of an organization that a file can manage, each section in its display order. Reads in parts, so that other
 * work gets its turn, and leaves out objects that are deleted in the meantime.
 */
export async function readExisting(
  { db, seal }: { readonly db: Database; readonly seal: SecretBox },
  organizationId: string,
  digest: Digest,
): Promise<Existing[]> {
  const where = { organizationId }
  const order = {
    byPosition: { where, select: { id: true }, orderBy: [{ position: 'asc' as const }, { id: 'asc' as const }] },
    byAge: { where, select: { id: true }, orderBy: [{ createdAt: 'asc' as const }, { id: 'asc' as const }] },
  }
  const groups = await inParts(await db.serviceGroup.findMany(order.byPosition), (some) =>
    db.serviceGroup.findMany({ where: some }),
  )
  const services = await inParts(await db.service.findMany(order.byPosition), (some) =>
    db.service.findMany({ where: some }),
  )
  const monitors = await inParts(await db.monitor.findMany(order.byAge), (some) =>
    db.monitor.findMany({
      where: some,
      include: { dependencies: { select: { parentId: true }, orderBy: { parentId: 'asc' } } },
    }),
  )
  const organization = await readOrganization({ db }, organizationId)
  const pages = await pagesWithServices({ db }, organizationId)
  const channels = await inParts(await db.alertChannel.findMany(order.byAge), (some) =>
    db.alertChannel.findMany({ where: some }),
  )
  const templates = await inParts(await db.template.findMany(order.byAge), (some) =>
    db.template.findMany({ where: some, include: templateServices }),
  )
  const objectives = await inParts(await db.objective.findMany(order.byAge), (some) =>
    db.objective.findMany({ where: some, include: { service: { select: { name: true } } } }),
  )
  const mapped = <T>(rows: readonly T[], read: (row: T) => Existing) => mapInSlices(organizationId, rows, read)
  return [
    ...(await mapped(groups, (group) => objectOf('groups', group, { description: group.description }))),
    ...(await mapped(services, (service) =>
      objectOf('services', service, {
        description: service.description,
        group: service.groupId,
        status: statedStatus(service),
      }),
    )),
    ...(await mapped(monitors, (monitor) => objectOf('monitors', monitor, monitorFields(monitor, seal, digest)))),
    ...(await mapped(pages, (page) => pageObject(page, organization))),
    ...(await mapped(channels, (channel) => objectOf('channels', channel, channelFields(channel, seal, digest)))),
    ...(await mapped(templates, (template) => objectOf('templates', template, templateFields(template)))),
    ...(await mapped(objectives, objectiveObject)),
  ]
}

/** The number of rows read per turn of the event loop. */
const PART = 50

/** Reads rows in parts. Returns them in the order of their ids. */
async function inParts<T extends { readonly id: string }>(
  ids: readonly { readonly id: string }[],
  read: (where: { id: { in: string[] } }) => Promise<T[]>,
): Promise<T[]> {
  const rows = new Map<string, T>()
  for (let start = 0; start < ids.length; start += PART) {
    const part = ids.slice(start, start + PART).map(({ id }) => id)
    for (const row of await read({ id: { in: part } })) rows.set(row.id, row)
  }
  return ids.flatMap(({ id }) => rows.get(id) ?? [])
}

/** Maps values in time slices of an owner. */
async function mapInSlices<T, U>(owner: string, values: readonly T[], read: (value: T) => U): Promise<U[]> {
  const all: U[] = []
  for (const value of values) {
    await yieldAfterTimeSlice(owner)
    all.push(read(value))
  }
  return all
}

function objectOf(section: Section, { id, name }: { id: string; name: string }, fields: ObjectFields, subjectId = id) {
  return { section, id, name, subjectId, fields: { name, ...fields } }
}

function pageObject(
  page: Page & { readonly services: readonly { readonly serviceId: string }[] },
  organization: Organization,
): Existing {
  const own = page.isFirst ? organization : page
  const { logoUrl } = own
  const fields = {
    slug: page.slug,
    services: page.allServices ? null : page.services.map(({ serviceId }) => serviceId),
    ...Object.fromEntries(inheritable.map((name) => [name, own[name]])),
    // A file cannot contain an uploaded logo.
    ...((logoUrl === null || isLogoAddress(logoUrl)) && { logoUrl }),
  }
  const named = { id: page.id, name: own.name ?? organization.name }
  return objectOf('pages', named, fields, page.isFirst ? organization.id : page.id)
}

function monitorFields(
  monitor: Monitor & { readonly dependencies: readonly { readonly parentId: string }[] },
  seal: SecretBox,
  digest: Digest,
): ObjectFields {
  const { kind, options } = openOptions(seal, monitor)
  const dependsOn = monitor.dependencies.map(({ parentId }) => parentId)
  if (kind === 'GROUP') {
    const { monitorIds: monitors, ...rest } = options
    return { service: monitor.serviceId, dependsOn, group: { monitors, ...rest } }
  }
  // Options hold hashes in place of secrets.
  const secret = (text: string, what: string) => ({ secret: digest([what, text]) })
  return {
    service: monitor.serviceId,
    intervalSeconds: monitor.intervalSeconds,
    timeoutMs: monitor.timeoutMs,
    failureThreshold: monitor.failureThreshold,
    recoveryThreshold: monitor.recoveryThreshold,
    agreement: monitor.agreement,
    dependsOn,
    [keyOf(optionKeys, kind)]: changeSecrets(kind, options, secret),
  }
}

function channelFields(channel: AlertChannel, seal: SecretBox, digest: Digest): ObjectFields {
  const { id, kind, address, changes, escalateToId, escalateAfterMinutes } = channel
  const opened = seal.open(address, sealedAddress(id))
  const times = quietTimesOf(channel)
  return {
    [keyOf(kindByKey, kind)]: kind === 'PUSH' || kind === 'MAIL' ? JSON.parse(opened) : { secret: digest(opened) },
    when: changes,
    monitors: channel.monitorIds,
    services: channel.serviceIds,
    remindAfterMinutes: channel.remindAfterMinutes,
    escalate:
      escalateToId === null || escalateAfterMinutes === null
        ? null
        : { channel: escalateToId, afterMinutes: escalateAfterMinutes },
    quietTimes: times === null ? null : quietTimesInput(times),
  }
}

function templateFields({
  kind,
  title,
  message,
  translations,
  status,
  impact,
  services,
  ...rest
}: Template): ObjectFields {
  return {
    kind,
    title,
    message,
    translations: bothIn(translations),
    status,
    impact,
    services: services.map(({ serviceId, status: prepared }) =>
      prepared === null ? serviceId : { service: serviceId, status: prepared },
    ),
    notifySubscribers: rest.notifySubscribers,
  }
}

/** Returns an objective as an object with the name of its service. */
function objectiveObject({
  id,
  serviceId,
  service,
  target,
  windowDays,
  timeZone,
}: Objective & { readonly service: { readonly name: string } }): Existing {
  const fields = { service: serviceId, target: targetPercent(target), windowDays, timeZone }
  return { section: 'objectives', id, name: service.name, subjectId: id, fields }
}

function keyOf<K extends string>(table: Readonly<Record<K, string>>, value: string): K {
  const found = (Object.keys(table) as K[]).find((key) => table[key] === value)
  if (found === undefined) throw new Error(`Unknown kind ${value}`)
  return found
}
