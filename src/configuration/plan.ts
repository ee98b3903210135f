import { isDeepStrictEqual } from 'node:util'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import { isJsonObject } from '../core/json-object.ts'
import { truncate } from '../core/truncate.ts'
import type { Digest, Existing } from './current.ts'
import { deletionWarningOf } from './deletion-limit.ts'
import { withReferences, withSecrets } from './fields.ts'
import type { ObjectFields } from './format.ts'
import type { Keys } from './keys.ts'
import { isSecret } from './secret.ts'
import type { Move, Section } from './sections.ts'

/** `RELEASE`: the object stays, and the file no longer manages it. */
export const changeActions = ['CREATE', 'UPDATE', 'DELETE', 'RELEASE'] as const

type ChangeAction = (typeof changeActions)[number]

/** A change of a field. Values are JSON, with secrets masked; null: absent before or after. */
export interface FieldChange {
  /** Its path, such as `http.url`. */
  readonly name: string
  readonly from: string | null
  readonly to: string | null
}

/** A change of an object. */
export interface ObjectChange {
  readonly action: ChangeAction
  readonly section: Section
  readonly key: string
  readonly name: string
  /** Whether the object existed without being managed by a file. */
  readonly takenOver: boolean
  readonly members: readonly FieldChange[]
}

/** A change made outside the file since it was last applied. */
export interface Drift {
  readonly section: Section
  readonly key: string
  /** The changed fields; empty: the object was deleted. */
  readonly members: readonly string[]
  /** The last change of the object since then; null: not known. */
  readonly last: { readonly by: string; readonly at: Date } | null
}

/** The result of applying a file. */
export interface Plan {
  readonly changes: readonly ObjectChange[]
  readonly drift: readonly Drift[]
  /** The renamed keys. */
  readonly moved: readonly Move[]
  /** How many objects it starts to manage without changing them. */
  readonly takenOver: number
  /** Why its deletions need permission; null: they need none. */
  readonly deletionWarning: string | null
  /** A keyed hash of all changes. */
  readonly hash: string
}

const MAX_VALUE_LENGTH = 400

/** An object that a file names or named, after the file was applied. */
export interface Applied {
  readonly section: Section
  readonly key: string
  /** Null: it could not be created. */
  readonly id: string | null
  /** Whether a file managed it before. */
  readonly wasManaged: boolean
  /** Whether the file still names it. */
  readonly isNamed: boolean
}

/** How many objects of a section change in the same way. */
export interface ChangeCount {
  readonly section: Section
  readonly action: ChangeAction
  readonly count: number
}

/** Counts changes by section and action, in order of first occurrence. */
export function countChanges(changes: readonly ObjectChange[]): ChangeCount[] {
  const counts = new Map<string, ChangeCount>()
  for (const { section, action } of changes) {
    const key = `${section} ${action}`
    counts.set(key, { section, action, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** Compares the states before and after a file was applied, in time slices of an owner. */
export async function comparePlan(
  owner: string,
  states: {
    readonly before: readonly Existing[]
    readonly after: readonly Existing[]
    readonly applied: readonly Applied[]
    /** How many objects the file managed before. */
    readonly managed: number
    readonly drift: readonly Drift[]
    readonly moved: readonly Move[]
    readonly keys: Keys
    readonly digest: Digest
  },
): Promise<Plan> {
  const before = new Map(states.before.map((each) => [each.id, each]))
  const after = new Map(states.after.map((each) => [each.id, each]))
  const changes: ObjectChange[] = []
  const { drift, moved } = states
  const exact: unknown[] = moved.map(({ section, from, to }) => [section, from, to])
  let takenOver = 0
  for (const { section, key, id, wasManaged, isNamed } of states.applied) {
    await yieldAfterTimeSlice(owner)
    const old = found(before, id)
    const now = found(after, id)
    const isTakenOver = isNamed && old !== null && !wasManaged
    const members = fieldChanges(old, now, states.keys)
    const action = actionOf(old, now, isNamed)
    const compared = [old, now].map((each) => each && comparable(each, states.keys))
    exact.push(states.digest([section, key, action, isTakenOver, ...compared]))
    const changesNothing = action === null || (action === 'UPDATE' && members.length === 0)
    if (changesNothing) takenOver += Number(isTakenOver)
    else changes.push({ action, section, key, name: (now ?? old)?.name ?? key, takenOver: isTakenOver, members })
  }
  const deletionWarning = deletionWarningOf({ ...states, changes })
  return { changes, drift, moved, takenOver, deletionWarning, hash: states.digest(exact) }
}

const found = (objects: ReadonlyMap<string, Existing>, id: string | null) =>
  id === null ? null : (objects.get(id) ?? null)

function actionOf(old: Existing | null, now: Existing | null, isNamed: boolean): ChangeAction | null {
  if (now === null) return old === null ? null : 'DELETE'
  if (old === null) return 'CREATE'
  return isNamed ? 'UPDATE' : 'RELEASE'
}

function fieldChanges(before: Existing | null, after: Existing | null, keys: Keys): FieldChange[] {
  if (after === null) return []
  const old = before === null ? {} : comparable(before, keys)
  const now = comparable(after, keys)
  return differences('', old, now)
}

/** Returns the fields that differ between two values. Compares lists of named objects, such as headers, item by item. */
function differences(path: string, old: unknown, now: unknown): FieldChange[] {
  if (isDeepStrictEqual(old, now)) return []
  const inner = path === '' ? '' : `${path}.`
  if (hasFields(old) && hasFields(now)) {
    const names = new Set([...Object.keys(old), ...Object.keys(now)])
    return [...names].flatMap((name) => differences(inner + name, old[name], now[name]))
  }
  if (Array.isArray(old) && Array.isArray(now) && areNamedAlike(old, now))
    return old.flatMap((item, index) => differences(inner + index, item, now[index]))
  const isNewSecret = isSecret(old) && isSecret(now)
  return [{ name: path, from: shown(old), to: isNewSecret ? JSON.stringify('(new secret)') : shown(now) }]
}

function areNamedAlike(old: readonly unknown[], now: readonly unknown[]): boolean {
  const nameOf = (item: unknown) => (hasFields(item) ? item['name'] : undefined)
  return old.length === now.length && old.every((item, index) => nameOf(item) && nameOf(item) === nameOf(now[index]))
}

function hasFields(value: unknown): value is ObjectFields {
  return isJsonObject(value) && !isSecret(value)
}

/** Replaces ids by keys, because new objects get different ids in the plan and when it is applied. */
const comparable = ({ fields }: Existing, keys: Keys) => withReferences(fields, (_section, id) => keys.keyOf(id))

function shown(value: unknown): string | null {
  if (value === undefined) return null
  return truncate(JSON.stringify(withSecrets(value, '(secret)')), MAX_VALUE_LENGTH)
}
