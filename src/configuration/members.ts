import { inputNames, memberName } from '../account/managed-object.ts'
import { addressKeys } from '../alerting/channel-address.ts'
import { isSecret } from './current.ts'
import type { Members } from './format.ts'
import type { Section } from './sections.ts'

/** The section to which each member with references refers. `escalate` refers with its `channel`. */
const references: Readonly<Record<string, Section>> = {
  group: 'groups',
  service: 'services',
  services: 'services',
  monitors: 'monitors',
  dependsOn: 'monitors',
}

/** Members that may refer to objects of their own section, which are given once all of these exist. */
export const lateMembers: ReadonlySet<string> = new Set(['dependsOn', 'escalate'])

/** A reference to replace, and where it stands. */
export type Replace = (section: Section, reference: string, path: readonly string[]) => string

/** Returns members with their references replaced. */
export function withReferences(members: Members, replace: Replace): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const section = references[name]
      if (section !== undefined && typeof value === 'string') return [name, replace(section, value, [name])]
      if (section !== undefined && Array.isArray(value)) return [name, listed(value, section, name, replace)]
      if (name !== 'escalate' || typeof value !== 'object' || value === null) return [name, value]
      const { channel, ...rest } = value as { readonly channel: string }
      return [name, { channel: replace('channels', channel, [name, 'channel']), ...rest }]
    }),
  )
}

/** Replaces the references of a list: keys, or objects with a `service`, as those of a template. */
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

/** Returns members as the input of an operation has them. Of a channel, an address that is null stays as it is. */
export function asInput(members: Members): Record<string, unknown> {
  const isAddress = (name: string) => (addressKeys as readonly string[]).includes(name)
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name, value]) => !(isAddress(name) && value === null))
      .map(([name, value]) => {
        if (name !== 'escalate' || typeof value !== 'object' || value === null) return [inputNames[name] ?? name, value]
        const { channel: channelId, ...rest } = value as { readonly channel: string }
        return [name, { channelId, ...rest }]
      }),
  )
}

/** Returns the path of a member in the file for one in the input of an operation. */
export function memberPath([first, second, ...rest]: readonly string[]): string[] {
  if (first === undefined) return []
  if (first === 'escalate' && second === 'channelId') return ['escalate', 'channel', ...rest]
  return [memberName(first), ...(second === undefined ? [] : [second]), ...rest.map(memberName)]
}

/** Returns a value with each secret replaced. */
export function withSecrets(value: unknown, replacement: unknown): unknown {
  if (isSecret(value)) return replacement
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, replacement))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withSecrets(member, replacement)]))
}
