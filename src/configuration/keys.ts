import type { Existing } from './current.ts'
import type { Section } from './sections.ts'

/** What is known of a managed object by its key. */
export interface ManagedKey {
  readonly section: string
  readonly key: string
  readonly objectId: string
}

/** The keys of objects, both ways. */
export class Keys {
  readonly #ids = new Map<string, string>()
  readonly #keys = new Map<string, string>()

  /** Gives an object a key. */
  set(section: Section, key: string, id: string): void {
    this.#ids.set(`${section}.${key}`, id)
    this.#keys.set(id, key)
  }

  /** Returns the id of the object with a key; absent: none has it. */
  idOf(section: Section, key: string): string | undefined {
    return this.#ids.get(`${section}.${key}`)
  }

  /** Returns the key of an object; an id that is unknown stands for itself. */
  keyOf(id: string): string {
    return this.#keys.get(id) ?? id
  }
}

/**
 * Returns the keys of all objects: that by which a file manages it, or else one made of its name (of a page its slug), with a
 * number if another object has it. An export writes these keys, and a file takes over what has them.
 */
export function assignKeys(existing: readonly Existing[], managed: readonly ManagedKey[]): Keys {
  const keys = new Keys()
  const known = new Set(existing.map(({ id }) => id))
  const taken = new Set<string>()
  for (const { section, key, objectId } of managed) {
    taken.add(`${section}.${key}`)
    if (known.delete(objectId)) keys.set(section as Section, key, objectId)
  }
  for (const { section, id, name, members } of existing) {
    if (!known.has(id)) continue
    const base = slugOf(section === 'pages' ? String(members['slug']) : name) || section.slice(0, -1)
    let key = base
    for (let number = 2; taken.has(`${section}.${key}`); number++) key = `${base}-${number}`
    taken.add(`${section}.${key}`)
    keys.set(section, key, id)
  }
  return keys
}

/** Returns a text as a key; empty if it has no letters of this alphabet. */
function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '')
}
