import { isJsonObject } from '../core/json-object.ts'
import { ownValue } from '../core/own-value.ts'
import { type Fields, isEmpty, type Unread } from './fields.ts'
import { sectionOf } from './list-sections.ts'
import { type Draft, nameOf } from './translation.ts'

/** A key that holds no setting and no record, such as the time of the last change. It is not listed as lost, but keys in it are. */
export const NO_LOSS = null

/**
 * What is known of a key that an importer does not read: the reason to show, NO_LOSS, or a function that decides by the value and
 * by the object that has the key.
 */
type Known = string | typeof NO_LOSS | ((value: unknown, owner: Unread['owner']) => string | typeof NO_LOSS)

/** The known keys of a source, by name or by the end of a path, such as `alerts.description` or `setting.*`. The longest match
 * counts. */
export type KnownKeys = Readonly<Record<string, Known>>

/** The maximum number of keys that are listed one by one. */
const MAX_LISTED = 300
/** The maximum number of objects to name for a key, and of keys to name for an object. */
const MAX_NAMES = 3
const MAX_KEYS = 20
/** The depth to which the keys of an object that nobody reads are named. */
const MAX_DEPTH = 6
const MAX_PATH = 100

interface Loss {
  readonly path: string
  readonly section: ReturnType<typeof sectionOf>
  readonly reason: string
  /** The names of objects with the key. */
  readonly names: Set<string>
  /** The keys within its value. */
  readonly keys: Set<string>
  count: number
}

/**
 * Adds a note on each key of a source that no importer read: its path, the kind of its value, the keys in it, and the objects that
 * have it. Never shows a value, which may be a secret.
 * @param roots all that the source contains.
 * @param above the path of the roots in the source, if they are not the whole of it.
 */
export function noteLosses(
  draft: Draft,
  roots: readonly Fields[],
  known: KnownKeys = {},
  above: readonly string[] = [],
): void {
  const losses = new Map<string, Loss>()
  let unlisted = 0
  for (const root of roots) {
    for (const found of root.unread()) {
      for (const unread of lossesIn({ ...found, path: [...above, ...found.path] }, known, MAX_DEPTH)) {
        if (!added(losses, unread)) unlisted += 1
      }
    }
  }
  for (const loss of losses.values()) draft.partly(loss.section, loss.path, textOf(loss))
  if (unlisted > 0) draft.partly('settings', `${unlisted} more keys`, 'These keys are not imported.')
}

/** Returns the losses of an unread key. An object that loses nothing may contain keys that do. */
function* lossesIn(unread: Unread, known: KnownKeys, depth: number): Generator<Unread & { readonly reason: string }> {
  const reason = reasonOf(unread, known)
  if (reason !== NO_LOSS) yield { ...unread, reason }
  else if (depth > 0) for (const inner of keysIn(unread)) yield* lossesIn(inner, known, depth - 1)
}

/** Returns the keys of the objects in a value. */
function keysIn({ path, value, name }: Unread): Unread[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  return items.filter(isJsonObject).flatMap((owner) =>
    Object.entries(owner)
      .filter(([, field]) => !isEmpty(field))
      .map(([key, field]) => ({ path: [...path, key], value: field, owner, name })),
  )
}

/** Counts a loss. Returns false if there are too many to list. */
function added(losses: Map<string, Loss>, unread: Unread & { readonly reason: string }): boolean {
  const { reason, name } = unread
  const path = nameOf(unread.path.join('.').slice(0, 2 * MAX_PATH), 'the file')
  const id = `${path}\n${reason}`
  const known = losses.get(id)
  if (known === undefined && losses.size >= MAX_LISTED) return false
  const section = sectionOf(unread.path[0] ?? '')
  const loss = known ?? { path, reason, section, names: new Set<string>(), keys: new Set<string>(), count: 0 }
  losses.set(id, loss)
  loss.count += 1
  if (loss.names.size < MAX_NAMES && name !== '') loss.names.add(nameOf(name, ''))
  addKeys(loss.keys, unread, unread.path.length, MAX_DEPTH)
  return true
}

function addKeys(keys: Set<string>, unread: Unread, start: number, depth: number): void {
  if (depth === 0 || keys.size >= MAX_KEYS) return
  for (const inner of keysIn(unread).slice(0, MAX_KEYS)) {
    if (keys.size < MAX_KEYS)
      keys.add(
        nameOf(
          inner.path
            .slice(start)
            .join('.')
            .slice(0, 2 * MAX_PATH),
          '',
        ),
      )
    addKeys(keys, inner, start, depth - 1)
  }
}

function reasonOf(unread: Unread, known: KnownKeys): string | typeof NO_LOSS {
  for (let start = 0; start < unread.path.length; start++) {
    const rest = unread.path.slice(start)
    const names = rest.length > 1 ? [rest.join('.'), [...rest.slice(0, -1), '*'].join('.')] : rest
    const name = names.find((each) => Object.hasOwn(known, each))
    const found = name === undefined ? undefined : known[name]
    if (found !== undefined) return typeof found === 'function' ? found(unread.value, unread.owner) : found
  }
  return `This key is not imported: ${kindOf(unread.value)}.`
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  const kinds: Readonly<Record<string, string>> = { string: 'a text', boolean: 'a boolean', object: 'an object' }
  return ownValue(kinds, typeof value) ?? 'a number'
}

function textOf({ reason, names, keys, count }: Loss): string {
  const rest = count - names.size
  const more = rest > 0 ? ` and ${rest} more` : ''
  const where = names.size > 0 ? ` In ${[...names].join(', ')}${more}.` : count > 1 ? ` ${count} times.` : ''
  return `${reason}${keys.size > 0 ? ` Its keys: ${[...keys].join(', ')}${keys.size < MAX_KEYS ? '' : ' …'}.` : ''}${where}`
}

/** Returns keys that lose nothing. @param path the path that they are below, if they mean something elsewhere. */
export const noLossOf = (names: readonly string[], path = ''): KnownKeys =>
  Object.fromEntries(names.map((name) => [path === '' ? name : `${path}.${name}`, NO_LOSS]))

/** Splits a text into its words. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Returns a rule for a key that means nothing at these values. */
export const unless =
  (reason: string, ...plain: readonly unknown[]): ((value: unknown) => string | typeof NO_LOSS) =>
  (value) =>
    plain.includes(value) ? NO_LOSS : reason
