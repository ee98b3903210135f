import type { Member } from '../../core/described.ts'
import { membersOf, secretPathsIn } from '../../core/described.ts'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import { kindRules } from './probe-kinds.ts'

/** Returns the options of a kind, in their order. */
export const optionsOf = (kind: MonitorKind): readonly Member[] => membersOf(kindRules[kind].options)

const secrets = new Map<MonitorKind, readonly (readonly string[])[]>()

/** Returns the paths of the options that are sealed and never shown. `*` stands for the items of a list. */
export function secretsOf(kind: MonitorKind): readonly (readonly string[])[] {
  const paths = secrets.get(kind) ?? secretPathsIn(optionsOf(kind))
  secrets.set(kind, paths)
  return paths
}
