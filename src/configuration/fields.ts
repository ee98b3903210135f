import { fieldName, inputNames } from '../account/field-name.ts'
import { addressKeys } from '../alerting/channel-address.ts'
import { ownValue } from '../core/own-value.ts'
import type { ObjectFields } from './format.ts'
import { isSecret } from './secret.ts'
import type { Section } from './sections.ts'

/** The section that each reference field refers to. `escalate` refers through its `channel`. */
const references: Readonly<Record<string, Section>> = {
  group: 'groups',
  service: 'services',
  services: 'services',
  monitors: 'monitors',
  dependsOn: 'monitors',
}

/** Fields that may refer to objects of their own section. They are set once all of those exist. */
export const lateFields: ReadonlySet<string> = new Set(['dependsOn', 'escalate'])

/**
 * Fields that only count for an object without a value of its own. People change them while they work, so a file neither
 * locks them nor reports them as drift.
 */
const initialFields: Readonly<Partial<Record<Section, readonly string[]>>> = { services: ['status'] }

/** Returns whether a file keeps managing a field once it is set. */
export const isKept = (section: Section, field: string): boolean => !initialFields[section]?.includes(field)

/** Returns the replacement of a reference found at a path. */
export type Replace = (section: Section, reference: string, path: readonly string[]) => string

/** Replaces all references in fields. */
export function withReferences(fields: ObjectFields, replace: Replace): ObjectFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const section = ownValue(references, name)
      if (section !== undefined && typeof value === 'string') return [name, replace(section, value, [name])]
      if (section !== undefined && Array.isArray(value)) return [name, listed(value, section, name, replace)]
      if (name === 'group' && isMonitorGroup(value)) return [name, withGroupReferences(value, replace)]
      if (name !== 'escalate' || typeof value !== 'object' || value === null) return [name, value]
      const { channel, ...rest } = value as { readonly channel: string }
      return [name, { channel: replace('channels', channel, [name, 'channel']), ...rest }]
    }),
  )
}

/** The group of a monitor: the monitors that it follows. A service's group is a reference. */
interface MonitorGroup {
  readonly monitors: readonly string[]
}

const isMonitorGroup = (value: unknown): value is MonitorGroup =>
  typeof value === 'object' && value !== null && 'monitors' in value && Array.isArray(value.monitors)

function withGroupReferences(group: MonitorGroup, replace: Replace): MonitorGroup {
  const monitors = group.monitors.map((each, index) => replace('monitors', each, ['group', 'monitors', String(index)]))
  return { ...group, monitors }
}

/** Returns the keys of the monitors in a group monitor. Empty for other monitors. */
export const monitorsOfGroup = ({ group }: ObjectFields): readonly string[] =>
  isMonitorGroup(group) ? group.monitors : []

/** Replaces the references in a list of keys, or of objects with a `service` (in templates). */
function listed(
  list: readonly (string | { readonly service: string })[],
  section: Section,
  name: string,
  replace: Replace,
) {
  return list.map((each, index) => {
    if (typeof each === 'string') return replace(section, each, [name, String(index)])
    return { ...each, service: replace(section, each.service, [name, String(index), 'service']) }
  })
}

/** Converts fields to the input of an operation. A channel address of null stays unchanged. */
export function asInput(fields: ObjectFields): Record<string, unknown> {
  const isAddress = (name: string) => (addressKeys as readonly string[]).includes(name)
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => !(isAddress(name) && value === null))
      .map(([name, value]) => {
        if (name === 'group' && isMonitorGroup(value)) {
          const { monitors: monitorIds, ...rest } = value
          return [name, { ...rest, monitorIds }]
        }
        if (name !== 'escalate' || typeof value !== 'object' || value === null) return [inputNames[name] ?? name, value]
        const { channel: channelId, ...rest } = value as { readonly channel: string }
        return [name, { channelId, ...rest }]
      }),
  )
}

/** Converts a path in an operation's input to the path in the file. */
export function fieldPath([first, second, ...rest]: readonly string[]): string[] {
  if (first === undefined) return []
  if (first === 'escalate' && second === 'channelId') return ['escalate', 'channel', ...rest]
  if (first === 'group' && second === 'monitorIds') return ['group', 'monitors', ...rest]
  return [fieldName(first), ...(second === undefined ? [] : [second]), ...rest.map(fieldName)]
}

/** Replaces each secret within a value. */
export function withSecrets(value: unknown, replacement: unknown): unknown {
  if (isSecret(value)) return replacement
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, replacement))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withSecrets(field, replacement)]))
}
