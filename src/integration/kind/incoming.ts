import { isJsonObject } from '../../core/json-object.ts'
import { ownValue } from '../../core/own-value.ts'
import { parseUrl } from '../../core/url.ts'
import { identityOf } from './identity.ts'

/** The severity of an alert, as its sender gives it. */
export type Severity = 'CRITICAL' | 'ERROR' | 'WARNING' | 'INFO'

/** The part of an alert on which rules and impact depend. Some senders group several alerts under one key. */
export interface AlertMember {
  /** Null if the sender gives none. */
  readonly severity: Severity | null
  readonly labels: Readonly<Record<string, string>>
}

/** An alert, normalized from the format of its sender. */
export interface IncomingAlert {
  /** Identifies the alert at its sender, both when it fires and when it is resolved (`identityOf`). */
  readonly key: string
  readonly state: 'FIRING' | 'RESOLVED'
  readonly title: string
  /** Empty if the sender gives none. */
  readonly text: string
  /** The firing members of a group, or all members if it is resolved; a single alert is its only member. */
  readonly members: readonly AlertMember[]
  /** The resolved members of a firing group. */
  readonly resolved: readonly AlertMember[]
  /** Whether members of a large group were left out, by the sender or by us. */
  readonly isTruncated: boolean
  /** When the alert began; null if unknown. */
  readonly at: Date | null
  /** An http or https URL with details, or null. */
  readonly link: string | null
}

/** The content of a body. */
export type Reading =
  | { readonly kind: 'ALERTS'; readonly alerts: readonly IncomingAlert[] }
  /** A valid body without an alert. */
  | { readonly kind: 'NOTHING'; readonly reason: string }
  /** A body that is not in the format of its sender. */
  | { readonly kind: 'UNREADABLE'; readonly reason: string }

/** How many alerts of a body, and members of a group, are read; further ones are left out. */
const MAX_ALERTS = 100
export const MAX_MEMBERS = 1000
const MAX_LABELS = 50
const MAX_NAME = 100
const MAX_VALUE = 300
const MAX_TITLE = 200
const MAX_TEXT = 2000

/** Names and values, each on one line, bounded in length and number. */
type Labels = AlertMember['labels']

/** A member as read from a body, with unchecked values. */
interface RawMember {
  readonly severity?: unknown
  readonly labels?: Readonly<Record<string, unknown>>
  /** Labels shared by all members of the group, which override the member's own; already parsed by `labelsOf`. */
  readonly common?: Labels
}

/** An alert as read from a body, with unchecked values, which `alertsOf` checks and bounds. A single alert has its own labels. */
export interface RawAlert extends RawMember {
  readonly key: unknown
  readonly state: IncomingAlert['state']
  readonly title: unknown
  readonly text?: unknown
  readonly at?: unknown
  readonly link?: unknown
  /** The members of a group. */
  readonly members?: readonly RawMember[]
  readonly resolved?: readonly RawMember[]
  readonly isTruncated?: boolean
}

/** Returns a reading with these alerts. An alert without a title uses its key as title; alerts with neither are left out. */
export function alertsOf(raw: readonly RawAlert[]): Reading {
  const alerts = raw.slice(0, MAX_ALERTS).flatMap((each) => bounded(each) ?? [])
  return alerts.length === 0 ? unreadable('The body contains no alert.') : { kind: 'ALERTS', alerts }
}

/** Returns the reading of a valid message without alerts. */
export const nothing = (reason: string): Reading => ({ kind: 'NOTHING', reason })

/** Returns the reading of a test, which its sender sends to show that we are reached. It never opens or ends an incident. */
export const test = (sender: string): Reading => nothing(`This is a test from ${sender}, which changes nothing.`)

/** Returns the reading of a refused message. */
export const unreadable = (reason: string): Reading => ({ kind: 'UNREADABLE', reason })

function bounded({ key, state, title, text, at, link, ...group }: RawAlert): IncomingAlert | null {
  const { members = [group], resolved = [], isTruncated = false } = group
  const name = line(title, MAX_TITLE) || line(key, MAX_TITLE)
  const known = identityOf(key) || identityOf(title)
  if (known === '') return null
  return {
    key: known,
    state,
    title: name,
    text: prose(text),
    members: members.slice(0, MAX_MEMBERS).map(memberOf),
    resolved: resolved.slice(0, MAX_MEMBERS).map(memberOf),
    isTruncated: isTruncated || members.length > MAX_MEMBERS,
    at: timeOf(at),
    link: linkOf(link),
  }
}

function memberOf({ severity, labels = {}, common = {} }: RawMember): AlertMember {
  const all = Object.entries({ ...labelsOf(labels), ...common })
  return { severity: severityOf(severity), labels: Object.fromEntries(all.slice(0, MAX_LABELS)) }
}

/** Returns the first labels of an object, bounded; leaves out labels without a name or a value. */
export function labelsOf(labels: Fields): Labels {
  return Object.fromEntries(
    Object.entries(labels)
      .slice(0, MAX_LABELS)
      .map(([label, value]) => [line(label, MAX_NAME), line(value, MAX_VALUE)] as const)
      .filter(([label, value]) => label !== '' && value !== ''),
  )
}

/**
 * Returns a value as a single line of text, without control, direction and zero-width characters; empty unless the value is a
 * string, number or boolean.
 */
export function line(value: unknown, max: number): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return ''
  return cut(
    String(value)
      .slice(0, max * 4)
      .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
      .trim(),
    max,
  )
}

function prose(value: unknown): string {
  if (typeof value !== 'string') return ''
  const plain = value.slice(0, MAX_TEXT * 4).replace(/[^\P{Cc}\n]|[\p{Cf}\p{Cs}]/gu, '')
  return cut(plain.replace(/\n{3,}/g, '\n\n').trim(), MAX_TEXT)
}

const cut = (text: string, max: number) => ([...text].length <= max ? text : `${[...text].slice(0, max - 1).join('')}…`)

const severities: Readonly<Record<string, Severity>> = {
  critical: 'CRITICAL',
  fatal: 'CRITICAL',
  page: 'CRITICAL',
  emergency: 'CRITICAL',
  p1: 'CRITICAL',
  high: 'ERROR',
  error: 'ERROR',
  major: 'ERROR',
  p2: 'ERROR',
  warning: 'WARNING',
  warn: 'WARNING',
  minor: 'WARNING',
  low: 'WARNING',
  p3: 'WARNING',
  info: 'INFO',
  information: 'INFO',
  informational: 'INFO',
  none: 'INFO',
  p4: 'INFO',
  p5: 'INFO',
}

function severityOf(value: unknown): Severity | null {
  return typeof value === 'string' ? (ownValue(severities, value.trim().toLowerCase()) ?? null) : null
}

function timeOf(value: unknown): Date | null {
  const at = typeof value === 'string' || typeof value === 'number' ? new Date(value) : null
  const isPlausible = at !== null && at.getUTCFullYear() >= 2000 && at.getUTCFullYear() < 2200
  return isPlausible ? at : null
}

function linkOf(value: unknown): string | null {
  const text = line(value, 1000)
  return /^https?:\/\/[^\s<>"]+$/i.test(text) && parseUrl(text) !== null ? text : null
}

/** A JSON object of a body. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns the value if it is an object, otherwise an empty object. */
export function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {}
}

/** Returns the first items if the value is a list, otherwise an empty list. */
export const itemsOf = (value: unknown, max = MAX_ALERTS): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, max) : []

/** Merges objects; later ones override earlier ones. */
export const merged = (...all: readonly unknown[]): Fields => Object.assign({}, ...all.map(fieldsOf))
