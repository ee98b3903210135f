import { createHash } from 'node:crypto'
import type { Members } from '../configuration/format.ts'
import type { Section } from '../configuration/sections.ts'

/** Objects by key, as a configuration file has them. */
export type Objects = Record<Section, Map<string, Members>>

/** Something of a source that a translation lacks. */
export interface Note {
  /** SKIPPED: the whole object. PARTLY: it comes without this, or with another meaning. */
  readonly outcome: 'SKIPPED' | 'PARTLY'
  /** What it is: what has no section never comes along. */
  readonly section: Section | 'incidents' | 'maintenance' | 'history'
  readonly name: string
  readonly reason: string
}

/** What a source counted of a service by day. */
export interface History {
  /** Of the service. */
  readonly key: string
  /** `DayCounts` as JSON: a text goes from thread to thread, and into a sealed form, without its many numbers being looked at. */
  readonly days: string
}

/** The checks of consecutive days of UTC: which succeeded, which failed, and which maintenance excused. */
export interface DayCounts {
  /** The first day, such as `2026-11-20`. */
  readonly since: string
  readonly up: readonly number[]
  readonly down: readonly number[]
  readonly maintenance: readonly number[]
}

/** What happened at a source, beside the objects of a configuration. */
export interface Records {
  readonly histories: readonly History[]
}

/** What becomes of a source's file. */
export interface Translation {
  readonly objects: Objects
  readonly records: Records
  readonly notes: readonly Note[]
  /** Whether `${NAME}` in its texts is a place for a value of the environment, as it was in the source. */
  readonly hasVariables: boolean
}

/** A file that cannot be read as what it should be. */
export class Unreadable extends Error {}

/** Collects a translation. */
export class Draft {
  readonly objects: Objects = {
    groups: new Map(),
    services: new Map(),
    monitors: new Map(),
    pages: new Map(),
    channels: new Map(),
    templates: new Map(),
    objectives: new Map(),
  }
  readonly notes: Note[] = []
  readonly records = { histories: [] as History[] }

  /** Notes that an object is left out. */
  skip(section: Section, name: string, reason: string): void {
    this.notes.push({ outcome: 'SKIPPED', section, name, reason })
  }

  /** Notes that something of a kind that does not come along is left out. */
  leave(section: Note['section'], name: string, reason: string): void {
    this.notes.push({ outcome: 'SKIPPED', section, name, reason })
  }

  /** Notes that an object comes without something. */
  partly(section: Section, name: string, reason: string): void {
    this.notes.push({ outcome: 'PARTLY', section, name, reason })
  }
}

/** An object of a source, with members of any type: files are of many versions. */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>

  /** Anything but an object has no members. */
  constructor(value: unknown) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.#value = isObject ? (value as Record<string, unknown>) : {}
  }

  /** Returns a member of its own; null counts as absent. */
  get(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined
  }

  /** Returns a text, or a number as text; empty when it is absent. */
  text(name: string): string {
    const value = this.get(name)
    return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
  }

  /** Returns a number, also one written as text. */
  number(name: string): number | undefined {
    const value = this.text(name)
    return value !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined
  }

  /** Returns whether a member is true, as databases and forms write it. */
  isTrue(name: string): boolean {
    const value = this.get(name)
    return value === true || value === 1 || value === '1' || value === 'true'
  }

  /** Returns an object's members. */
  fields(name: string): Fields {
    return new Fields(this.get(name))
  }

  /** Returns the items of a list. */
  list(name: string): readonly unknown[] {
    const value = this.get(name)
    return Array.isArray(value) ? value : []
  }

  /** Returns all members. */
  entries(): [name: string, value: unknown][] {
    return Object.entries(this.#value)
  }
}

/** More open brackets than any source has, and few enough to read. */
const MAX_OPEN = 10_000

/** Returns whether brackets are open so many times that reading them takes seconds and a gigabyte. Brackets within texts count too. */
function isNestedDeeply(text: string): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > MAX_OPEN) return true
  }
  return false
}

/** Reads JSON. @throws Unreadable. */
export function readJson(text: string): unknown {
  if (isNestedDeeply(text)) throw new Unreadable('This JSON is nested too deeply.')
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw new Unreadable('This is no JSON.')
  }
}

/** Reads JSON that is an object. @throws Unreadable. */
export function readJsonObject(text: string): Fields {
  const value = readJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Fields(value)
  throw new Unreadable('This is no JSON object.')
}

/** Returns a name of one line and at most 100 characters. */
export function nameOf(text: string, otherwise: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\s]+/gu, ' ').trim()
  return Array.from(line).slice(0, 100).join('').slice(0, 100).trim() || otherwise
}

/** Returns the key for an id of a source: readable, and different for different ids. */
export function keyOf(prefix: string, id: string): string {
  if (/^[a-z0-9]{1,32}$/.test(id)) return `${prefix}-${id}`
  const plain = id.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const short = plain.slice(0, 32).replace(/^-+|-+$/g, '')
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return [prefix, ...(short === '' ? [] : [short]), hash].join('-')
}

/** Returns a number within bounds, as an integer. */
export function within(least: number, most: number, value: number): number {
  return Math.round(Math.min(most, Math.max(least, value)))
}

/** Returns an object without its absent members. */
export function present(members: Readonly<Record<string, unknown>>): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ''))
}
