import { isJsonObject } from '../core/json-object.ts'

/** The keys that were read of each object of a source. */
const readKeys = new WeakMap<object, Set<string>>()
/** The objects that need no further reading: used as a whole, or covered by a note. */
const settled = new WeakSet<object>()

/** A key of a source that no importer read. */
export interface Unread {
  /** The path of the key, without the indexes of lists. */
  readonly path: readonly string[]
  readonly value: unknown
  /** The object that has the key, or the key itself if it is a whole object. */
  readonly owner: Readonly<Record<string, unknown>>
  /** The name of the nearest object that has one; empty if none has. */
  readonly name: string
}

/** YAML 1.1 and Go, in which other tools are written, have more spellings than YAML 1.2. Databases and forms have numbers. */
const truths: ReadonlySet<unknown> = new Set([true, 1, '1', 'true', 'yes', 'on'])
const untruths: ReadonlySet<unknown> = new Set([false, 0, '0', 'false', 'no', 'off'])

/** Reads the fields of an untrusted object, whose types vary between versions, and remembers which of them were read. */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>
  readonly #read: Set<string>

  /** @param value a value that is not an object counts as empty. */
  constructor(value: unknown) {
    this.#value = isJsonObject(value) ? value : {}
    this.#read = readKeys.get(this.#value) ?? new Set()
    readKeys.set(this.#value, this.#read)
  }

  /** Returns an own field; undefined if it is absent or null. */
  get(name: string): unknown {
    this.#read.add(name)
    return this.#peek(name)
  }

  /** Returns whether a field is there, which does not count as reading it. */
  has(name: string): boolean {
    return this.#peek(name) !== undefined
  }

  /** Returns a text, or a number as text; empty if it is absent or something else, which then stays unread. */
  text(name: string): string {
    const value = this.#peek(name)
    if (typeof value !== 'string' && typeof value !== 'number') return ''
    this.#read.add(name)
    return typeof value === 'string' ? value.trim() : String(value)
  }

  /** Returns a number, which may be written as text. */
  number(name: string): number | undefined {
    const value = this.#peek(name)
    const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
    if (text === '' || !Number.isFinite(Number(text))) return undefined
    this.#read.add(name)
    return Number(text)
  }

  /** Returns a text as something else. Undefined if it is absent or has no such meaning, and then stays unread. */
  parsed<T>(name: string, parse: (text: string) => T | undefined): T | undefined {
    const value = this.#peek(name)
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    const found = parse(String(value).trim())
    if (found !== undefined) this.#read.add(name)
    return found
  }

  /** Returns whether a field is true, also in the notations of YAML 1.1, databases and forms. */
  isTrue(name: string): boolean {
    return this.#boolean(name) === true
  }

  /** Returns whether a field is there and false, in the same notations. */
  isFalse(name: string): boolean {
    return this.#boolean(name) === false
  }

  /** Returns a field that is an object; empty if it is not. */
  fields(name: string): Fields {
    const value = this.#peek(name)
    if (isJsonObject(value)) this.#read.add(name)
    return new Fields(value)
  }

  /** Returns the items of a list; empty if it is not a list. */
  list(name: string): readonly unknown[] {
    const value = this.#peek(name)
    if (!Array.isArray(value)) return []
    this.#read.add(name)
    return value
  }

  /** Returns whether there are no fields. */
  isEmpty(): boolean {
    return Object.keys(this.#value).length === 0
  }

  /** Returns all fields. */
  entries(): [name: string, value: unknown][] {
    for (const name of Object.keys(this.#value)) this.#read.add(name)
    return Object.entries(this.#value)
  }

  /** Counts a field, and what is in it, as read. */
  settleField(name: string): void {
    this.#read.add(name)
    const value = this.#peek(name)
    const all: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const each of all) if (typeof each === 'object' && each !== null) settled.add(each)
  }

  /** Counts this object, and what is in it, as read. */
  settle(): void {
    settled.add(this.#value)
  }

  /** Returns the keys that nobody has read yet, except those without a value. An object that nobody opened counts as one. */
  unread(): Generator<Unread> {
    return unreadIn(this.#value, [], '')
  }

  #peek(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined
  }

  #boolean(name: string): boolean | undefined {
    const value = this.#peek(name)
    const plain = typeof value === 'string' ? value.trim().toLowerCase() : value
    if (!truths.has(plain) && !untruths.has(plain)) return undefined
    this.#read.add(name)
    return truths.has(plain)
  }
}

function* unreadIn(
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  above: string,
): Generator<Unread> {
  if (settled.has(value)) return
  const read = readKeys.get(value)
  const name = nameIn(value) || above
  if (read === undefined) {
    yield { path, value, owner: value, name }
    return
  }
  for (const [key, field] of Object.entries(value)) {
    if (isEmpty(field) || (typeof field === 'object' && field !== null && settled.has(field))) continue
    const own = [...path, key]
    if (!read.has(key)) yield { path: own, value: field, owner: value, name }
    else if (isJsonObject(field)) yield* unreadIn(field, own, name)
    else if (Array.isArray(field)) yield* unreadInList(field, own, value, name)
  }
}

function* unreadInList(
  list: readonly unknown[],
  path: readonly string[],
  owner: Readonly<Record<string, unknown>>,
  above: string,
): Generator<Unread> {
  for (const item of list) {
    if (isJsonObject(item)) yield* unreadIn(item, path, above)
    // Importers read lists of objects or of plain values.
    else if (Array.isArray(item) && !isEmpty(item) && !settled.has(item))
      yield { path, value: item, owner, name: above }
  }
}

/** Returns whether a value says nothing. */
export const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

const NAMES = [
  'name',
  'title',
  'friendly_name',
  'friendlyName',
  'pronounceable_name',
  'public_name',
  'company_name',
  'job_name',
]

function nameIn(value: Readonly<Record<string, unknown>>): string {
  const named = NAMES.map((name) => (Object.hasOwn(value, name) ? value[name] : undefined))
  return named.find((each): each is string => typeof each === 'string' && each.trim() !== '') ?? ''
}
