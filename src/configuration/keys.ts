import type { Existing } from './current.ts'
import type { Section } from './sections.ts'

/** The key of a managed object. */
export interface ManagedKey {
  readonly section: string
  readonly key: string
  readonly objectId: string
}

/** Maps keys to ids of objects, and back. */
export class Keys {
  readonly #ids = new Map<string, string>()
  readonly #keys = new Map<string, string>()

  /** Gives an object a key. */
  set(section: Section, key: string, id: string): void {
    this.#ids.set(`${section}.${key}`, id)
    this.#keys.set(id, key)
  }

  /** Returns the id of the object with a key, or undefined if the key is unused. */
  idOf(section: Section, key: string): string | undefined {
    return this.#ids.get(`${section}.${key}`)
  }

  /** Returns the key of an object, or the id itself if it has no key. */
  keyOf(id: string): string {
    return this.#keys.get(id) ?? id
  }
}

/**
 * Assigns keys to all objects. A managed object keeps its key. Others get one derived from the name (pages: the slug), numbered if
 * it is taken. Exports write these keys, and a file takes over the objects that have them.
 */
export function assignKeys(existing: readonly Existing[], managed: readonly ManagedKey[]): Keys {
  const keys = new Keys()
  const known = new Set(existing.map(({ id }) => id))
  const taken = new Set<string>()
  for (const { section, key, objectId } of managed) {
    taken.add(`${section}.${key}`)
    if (known.delete(objectId)) keys.set(section as Section, key, objectId)
  }
  for (const { section, id, name, fields } of existing) {
    if (!known.has(id)) continue
    const base = slugOf(section === 'pages' ? String(fields['slug']) : name) || section.slice(0, -1)
    let key = base
    for (let number = 2; taken.has(`${section}.${key}`); number++) key = `${base}-${number}`
    taken.add(`${section}.${key}`)
    keys.set(section, key, id)
  }
  return keys
}

/** How much of a text its key can come from: longer than any name, and than the key. */
const MAX_READ = 200

/** Converts a text to a key. Empty if the text has no Latin letters or digits. */
function slugOf(text: string): string {
  const plain = text.slice(0, MAX_READ).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-|-$/g, '')
}
