import { ownValue } from '../core/own-value.ts'
import type { Fields, Unread } from './fields.ts'
import { sectionOf } from './list-sections.ts'
import { type Draft, nameOf } from './translation.ts'

/** A key that holds no setting and no record, such as the time of the last change. It is not listed as lost. */
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
/** The maximum number of names to show for a key. */
const MAX_NAMES = 3
const MAX_PATH = 100

interface Loss {
  readonly path: string
  readonly section: ReturnType<typeof sectionOf>
  readonly reason: string
  readonly names: Set<string>
  count: number
}

/**
 * Adds a note on each key of a source that no importer read: its path, the kind of its value and the objects that have it. Never
 * shows a value, which may be a secret.
 * @param roots all that the source contains.
 * @param list the list that the roots are from, if each is an item of it.
 */
export function noteLosses(draft: Draft, roots: readonly Fields[], known: KnownKeys = {}, list = ''): void {
  const { losses, unlisted } = lossesIn(roots, known, list)
  for (const loss of losses) draft.partly(loss.section, loss.path, loss.reason + usersOf(loss))
  if (unlisted > 0) draft.partly('settings', `${unlisted} more keys`, 'These keys are not imported.')
}

function lossesIn(roots: readonly Fields[], known: KnownKeys, list: string) {
  const losses = new Map<string, Loss>()
  let unlisted = 0
  const add = (unread: Unread, reason: string) => {
    const path = nameOf(unread.path.join('.').slice(0, 2 * MAX_PATH), 'the file')
    const key = `${path}\n${reason}`
    const section = sectionOf(list || (unread.path[0] ?? ''))
    const loss = losses.get(key) ?? { path, reason, section, names: new Set<string>(), count: 0 }
    if (losses.has(key) || losses.size < MAX_LISTED) {
      losses.set(key, loss)
      count(loss, unread)
    } else unlisted += 1
  }
  for (const root of roots) {
    for (const unread of root.unread()) {
      const reason = reasonOf(unread, known)
      if (reason !== NO_LOSS) add(unread, reason)
    }
  }
  return { losses: [...losses.values()], unlisted }
}

function count(loss: Loss, { name }: Unread): void {
  loss.count += 1
  if (loss.names.size < MAX_NAMES && name !== '') loss.names.add(nameOf(name, ''))
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

function usersOf({ names, count }: Loss): string {
  const rest = count - names.size
  if (names.size === 0) return count === 1 ? '' : ` ${count} times.`
  return ` In ${[...names].join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
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
