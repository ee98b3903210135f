import { inputNames, memberName } from '../account/member-name.ts'
import { addressKeys } from '../alerting/channel-address.ts'
import { ownValue } from '../core/own-value.ts'
import type { Members } from './format.ts'
import { isSecret } from './secret.ts'
import type { Section } from './sections.ts'

/** The section that each reference member refers to. `escalate` refers through its `channel`. */
const references: Readonly<Record<string, Section>> = {
  group: 'groups',
  service: 'services',
  services: 'services',
  monitors: 'monitors',
  dependsOn: 'monitors',
}

/** Members that may refer to objects of their own section. They are set once all of those exist. */
export const lateMembers: ReadonlySet<string> = new Set(['dependsOn', 'escalate'])

/** Returns the replacement of a reference found at a path. */
export type Replace = (section: Section, reference: string, path: readonly string[]) => string

/** Replaces all references in members. */
export function withReferences(members: Members, replace: Replace): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const section = ownValue(references, name)
      if (section !== undefined && typeof value === 'string') return [name, replace(section, value, [name])]
      if (section !== undefined && Array.isArray(value)) return [name, listed(value, section, name, replace)]
      if (name === 'group' && isMembership(value)) return [name, withMemberships(value, replace)]
      if (name !== 'escalate' || typeof value !== 'object' || value === null) return [name, value]
      const { channel, ...rest } = value as { readonly channel: string }
      return [name, { channel: replace('channels', channel, [name, 'channel']), ...rest }]
    }),
  )
}

/** The group of a monitor: the monitors that it follows. A service's group is a reference. */
interface Membership {
  readonly monitors: readonly string[]
}

const isMembership = (value: unknown): value is Membership =>
  typeof value === 'object' && value !== null && 'monitors' in value && Array.isArray(value.monitors)

function withMemberships(group: Membership, replace: Replace): Membership {
  const monitors = group.monitors.map((each, index) => replace('monitors', each, ['group', 'monitors', String(index)]))
  return { ...group, monitors }
}

/** Returns the keys of the monitors in a group monitor. Empty for other monitors. */
export const membersOfGroup = ({ group }: Members): readonly string[] => (isMembership(group) ? group.monitors : [])

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

/** Converts members to the input of an operation. A channel address of null stays unchanged. */
export function asInput(members: Members): Record<string, unknown> {
  const isAddress = (name: string) => (addressKeys as readonly string[]).includes(name)
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name, value]) => !(isAddress(name) && value === null))
      .map(([name, value]) => {
        if (name === 'group' && isMembership(value)) {
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
export function memberPath([first, second, ...rest]: readonly string[]): string[] {
  if (first === undefined) return []
  if (first === 'escalate' && second === 'channelId') return ['escalate', 'channel', ...rest]
  if (first === 'group' && second === 'monitorIds') return ['group', 'monitors', ...rest]
  return [memberName(first), ...(second === undefined ? [] : [second]), ...rest.map(memberName)]
}

/** Replaces each secret within a value. */
export function withSecrets(value: unknown, replacement: unknown): unknown {
  if (isSecret(value)) return replacement
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, replacement))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withSecrets(member, replacement)]))
}
