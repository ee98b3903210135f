import { isDeepStrictEqual } from 'node:util'
import { yieldAfterTimeSlice } from '../core/time-slice.ts'
import { truncate } from '../core/truncate.ts'
import type { Digest, Existing } from './current.ts'
import type { Keys } from './keys.ts'
import { withReferences, withSecrets } from './members.ts'
import type { Section } from './sections.ts'

/** `RELEASE`: the object stays, and the file no longer manages it. */
export const changeActions = ['CREATE', 'UPDATE', 'DELETE', 'RELEASE'] as const

type ChangeAction = (typeof changeActions)[number]

/** A member that changes. Values are JSON; null: absent before or after. Of secrets, only that they change. */
export interface MemberChange {
  readonly name: string
  readonly from: string | null
  readonly to: string | null
}

/** An object that changes. */
export interface ObjectChange {
  readonly action: ChangeAction
  readonly section: Section
  readonly key: string
  readonly name: string
  /** Whether no file managed it until now. */
  readonly takenOver: boolean
  readonly members: readonly MemberChange[]
}

/** What has changed other than by the file since it was applied. */
export interface Drift {
  readonly section: Section
  readonly key: string
  /** The members; empty: the object was deleted. */
  readonly members: readonly string[]
  /** The last change of the object since then; null: not known. */
  readonly last: { readonly by: string; readonly at: Date } | null
}

/** What applying a file does. */
export interface Plan {
  readonly changes: readonly ObjectChange[]
  readonly drift: readonly Drift[]
  /** How many objects it starts to manage without changing them. */
  readonly takenOver: number
  /** A keyed hash of what it does. */
  readonly hash: string
}

const MAX_VALUE_LENGTH = 400

/** An object that a file names or named, after it was applied. */
export interface Applied {
  readonly section: Section
  readonly key: string
  /** Null: it could not be made. */
  readonly id: string | null
  /** Whether a file managed it before. */
  readonly wasManaged: boolean
  /** Whether the file still names it. */
  readonly isNamed: boolean
}

/** Compares the states before and after a file was applied, in time slices of an owner. */
export async function comparePlan(
  owner: string,
  states: {
    readonly before: readonly Existing[]
    readonly after: readonly Existing[]
    readonly applied: readonly Applied[]
    readonly drift: readonly Drift[]
    readonly keys: Keys
    readonly digest: Digest
  },
): Promise<Plan> {
  const before = new Map(states.before.map((each) => [each.id, each]))
  const after = new Map(states.after.map((each) => [each.id, each]))
  const changes: ObjectChange[] = []
  const exact: unknown[] = []
  let takenOver = 0
  for (const { section, key, id, wasManaged, isNamed } of states.applied) {
    await yieldAfterTimeSlice(owner)
    const old = found(before, id)
    const now = found(after, id)
    const isTakenOver = isNamed && old !== null && !wasManaged
    const members = membersBetween(old, now, states.keys)
    const action = actionOf(old, now, isNamed)
    exact.push([section, key, action, isTakenOver, ...[old, now].map((each) => each && comparable(each, states.keys))])
    const changesNothing = action === null || (action === 'UPDATE' && members.length === 0)
    if (changesNothing) takenOver += Number(isTakenOver)
    else changes.push({ action, section, key, name: (now ?? old)?.name ?? key, takenOver: isTakenOver, members })
  }
  return { changes, drift: states.drift, takenOver, hash: states.digest(exact) }
}

const found = (objects: ReadonlyMap<string, Existing>, id: string | null) =>
  id === null ? null : (objects.get(id) ?? null)

function actionOf(old: Existing | null, now: Existing | null, isNamed: boolean): ChangeAction | null {
  if (now === null) return old === null ? null : 'DELETE'
  if (old === null) return 'CREATE'
  return isNamed ? 'UPDATE' : 'RELEASE'
}

function membersBetween(before: Existing | null, after: Existing | null, keys: Keys): MemberChange[] {
  if (after === null) return []
  const old = before === null ? {} : comparable(before, keys)
  const now = comparable(after, keys)
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) =>
    isDeepStrictEqual(old[name], now[name]) ? [] : [{ name, from: shown(old[name]), to: shown(now[name]) }],
  )
}

/** Members with keys instead of ids, which differ between a plan and what is applied. */
const comparable = ({ members }: Existing, keys: Keys) => withReferences(members, (_section, id) => keys.keyOf(id))

function shown(value: unknown): string | null {
  if (value === undefined) return null
  return truncate(JSON.stringify(withSecrets(value, '(secret)')), MAX_VALUE_LENGTH)
}
