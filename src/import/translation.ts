import { createHash } from 'node:crypto'
import type { ObjectFields } from '../configuration/format.ts'
import type { Section } from '../configuration/sections.ts'
import type { IncidentImpact, IncidentStatus, MaintenanceStatus } from '../generated/prisma/enums.ts'
import { Fields } from './fields.ts'

/** Objects of a configuration file by section and key. */
export type Objects = Record<Section, Map<string, ObjectFields>>

/** A part of a source that is not, or not completely, translated. */
export interface Note {
  /** SKIPPED: the object is not imported. PARTLY: it is imported without a part, or with a changed meaning. */
  readonly outcome: 'SKIPPED' | 'PARTLY'
  readonly section: Section | RecordSection | 'settings'
  readonly name: string
  readonly reason: string
}

/** The sections of records. */
export type RecordSection = 'incidents' | 'maintenance' | 'history' | 'subscribers'

/** The daily counts of a service at a source. */
export interface History {
  /** The key of the service. */
  readonly key: string
  /** `DayCounts` as JSON, because a string passes between threads and into a sealed form faster than many numbers. */
  readonly days: string
}

/** The checks of consecutive UTC days: successful, failed and during maintenance. */
export interface DayCounts {
  /** The first day, such as `2026-11-20`. */
  readonly since: string
  readonly up: readonly number[]
  readonly down: readonly number[]
  readonly maintenance: readonly number[]
}

/** The status that an incident update sets on a service, given by key. */
export interface KeyedStatus {
  readonly key: string
  readonly status: 'OPERATIONAL' | 'DEGRADED_PERFORMANCE' | 'PARTIAL_OUTAGE' | 'MAJOR_OUTAGE'
}

/** An update of an incident of a source. Times are ISO 8601. */
export interface SourceUpdate {
  readonly at: string
  readonly status: IncidentStatus
  /** Markdown. */
  readonly message: string
  readonly services: readonly KeyedStatus[]
}

/** An incident of a source. */
export interface SourceIncident {
  /** The id at the source. */
  readonly id: string
  readonly title: string
  readonly impact: IncidentImpact
  readonly startedAt: string
  /** Null: open. */
  readonly resolvedAt: string | null
  readonly updates: readonly SourceUpdate[]
  readonly postmortem: { readonly message: string; readonly publishedAt: string } | null
}

/** A maintenance of a source, past or planned. */
interface SourceMaintenance {
  readonly id: string
  readonly title: string
  readonly status: MaintenanceStatus
  readonly startsAt: string
  readonly endsAt: string
  /** The keys of the affected services. */
  readonly services: readonly string[]
  readonly updates: readonly { readonly at: string; readonly status: MaintenanceStatus; readonly message: string }[]
}

/** A repeating maintenance of a source. */
interface SourceSeries {
  readonly id: string
  readonly title: string
  readonly message: string
  readonly startsAt: string
  readonly durationMinutes: number
  /** RFC 5545. */
  readonly rule: string
  /** Null: the organization's. */
  readonly timeZone: string | null
  readonly services: readonly string[]
}

/** A confirmed subscriber of a source. */
export interface SourceSubscriber {
  readonly address: string
  /** The keys of the subscribed services; empty: all. */
  readonly services: readonly string[]
}

/** The records of a source, as read. */
export interface DraftRecords {
  readonly histories: History[]
  readonly incidents: SourceIncident[]
  readonly maintenances: SourceMaintenance[]
  readonly series: SourceSeries[]
  readonly subscribers: SourceSubscriber[]
}

/** A record as JSON, for the same reason as `History.days`. */
export interface RecordText {
  readonly name: string
  readonly json: string
}

/** The serialized records of a source. */
export interface Records {
  readonly histories: readonly History[]
  readonly incidents: readonly RecordText[]
  readonly maintenances: readonly RecordText[]
  readonly series: readonly RecordText[]
  readonly subscribers: readonly SourceSubscriber[]
}

/** A translated file, with keys that do not contain the installation. */
export interface Drafted {
  readonly objects: Objects
  readonly records: DraftRecords
  readonly notes: readonly Note[]
  /** The keys of monitors that are paused at the source. */
  readonly pausedMonitors: readonly string[]
  /** Whether `${NAME}` in texts refers to the environment, as in the source. */
  readonly hasVariables: boolean
}

/** A complete translation of a source's file. */
export interface Translation extends Omit<Drafted, 'records'> {
  readonly records: Records
}

/** A file that is not in the expected format. */
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
  readonly records: DraftRecords = { histories: [], incidents: [], maintenances: [], series: [], subscribers: [] }
  readonly pausedMonitors: string[] = []

  /** Adds a note that an object is not imported. @param source its fields, which the note covers. */
  skip(section: Note['section'], name: string, reason: string, source?: Fields): void {
    source?.settle()
    this.notes.push({ outcome: 'SKIPPED', section, name, reason })
  }

  /** Marks a monitor to start paused, as at the source. */
  pause(key: string, name: string): void {
    this.pausedMonitors.push(key)
    this.partly('monitors', name, 'It is paused there, and will be paused here.')
  }

  /** Adds a note that an object is imported without a part. */
  partly(section: Note['section'], name: string, reason: string): void {
    this.notes.push({ outcome: 'PARTLY', section, name, reason })
  }
}

/** The maximum number of open brackets: more than any real source has, and still fast to parse. */
const MAX_OPEN = 10_000

/** Returns whether brackets are nested so deeply that parsing takes seconds and a gigabyte. Also counts brackets within strings. */
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

/** Parses JSON. @throws Unreadable. */
export function readJson(text: string): unknown {
  if (isNestedDeeply(text)) throw new Unreadable('This JSON is nested too deeply.')
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw new Unreadable('This isn’t JSON.')
  }
}

/** Parses a JSON object. @throws Unreadable. */
export function readJsonObject(text: string): Fields {
  const value = readJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return new Fields(value)
  throw new Unreadable('This isn’t a JSON object.')
}

/** Returns a text on one line. */
export function lineOf(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\s]+/gu, ' ').trim()
}

/** The maximum length of names here. */
const MAX_NAME = 100
/** The end of a name that was cut. */
const CUT = /… \([0-9a-f]{8}\)$/

/**
 * Returns a name on one line, with at most 100 characters. The end of a longer one is replaced with a hash, so that names
 * which only differ there stay different, and are the same in the next import. `finished` notes each cut name.
 */
export function nameOf(text: string, otherwise: string): string {
  const line = lineOf(text)
  if (line.length <= MAX_NAME) return line || otherwise
  const end = `… (${hashOf(line)})`
  return `${line
    .slice(0, MAX_NAME - end.length)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}${end}`
}

/** Returns whether `nameOf` cut a name. */
export const isCutName = (name: unknown): boolean => typeof name === 'string' && CUT.test(name)

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)

/** Returns a key for an id of a source: readable, and unique per id. The id must be complete, not cut like a name. */
export function keyOf(prefix: string, id: string): string {
  if (/^[a-z0-9]{1,32}$/.test(id)) return `${prefix}-${id}`
  const plain = id.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const short = plain.slice(0, 32).replace(/^-|-$/g, '')
  const hash = hashOf(id)
  return [prefix, ...(short === '' ? [] : [short]), hash].join('-')
}

/** Rounds a number and clamps it to a range. */
export function within(least: number, most: number, value: number): number {
  return Math.round(Math.min(most, Math.max(least, value)))
}

/** Returns an object without its absent fields. */
export function present(fields: Readonly<Record<string, unknown>>): ObjectFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''))
}
