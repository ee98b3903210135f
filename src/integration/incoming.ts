import { parseUrl } from '../core/url.ts'
/** How bad an alert is, as its sender says; null: it does not say. */
export type Severity = 'CRITICAL' | 'ERROR' | 'WARNING' | 'INFO'

/** An alert as all kinds of senders are read. */
export interface IncomingAlert {
  /** Tells the alerts of one sender apart: what fires and what is resolved under one key is the same. */
  readonly key: string
  readonly state: 'FIRING' | 'RESOLVED'
  readonly title: string
  /** Empty: it says no more. */
  readonly text: string
  readonly severity: Severity | null
  readonly labels: Readonly<Record<string, string>>
  /** When it began; null: it does not say. */
  readonly at: Date | null
  /** Where to read more, with http or https; null: nowhere. */
  readonly link: string | null
}

/** What a body says. */
export type Reading =
  | { readonly kind: 'ALERTS'; readonly alerts: readonly IncomingAlert[] }
  /** It is understood, and says nothing of alerts. */
  | { readonly kind: 'NOTHING'; readonly reason: string }
  /** It is not what its sender sends. */
  | { readonly kind: 'UNREADABLE'; readonly reason: string }

/** What one body may hold: more is left out. */
const MAX_ALERTS = 100
const MAX_LABELS = 50
const MAX_NAME = 100
const MAX_VALUE = 300
const MAX_TITLE = 200
const MAX_TEXT = 2000
const MAX_KEY = 512

/** What a kind gives of an alert: any values, which are bounded here. */
export interface RawAlert {
  readonly key: unknown
  readonly state: IncomingAlert['state']
  readonly title: unknown
  readonly text?: unknown
  readonly severity?: unknown
  readonly labels?: Readonly<Record<string, unknown>>
  readonly at?: unknown
  readonly link?: unknown
}

/** Returns the reading of alerts. One without a title is named by its key; one without both is left out. */
export function alertsOf(raw: readonly RawAlert[]): Reading {
  const alerts = raw.slice(0, MAX_ALERTS).flatMap((each) => bounded(each) ?? [])
  return alerts.length === 0 ? unreadable('It names no alert.') : { kind: 'ALERTS', alerts }
}

export const nothing = (reason: string): Reading => ({ kind: 'NOTHING', reason })
export const unreadable = (reason: string): Reading => ({ kind: 'UNREADABLE', reason })

function bounded({ key, state, title, text, severity, labels = {}, at, link }: RawAlert): IncomingAlert | null {
  const name = line(title, MAX_TITLE) || line(key, MAX_TITLE)
  const known = line(key, MAX_KEY) || name
  if (known === '') return null
  return {
    key: known,
    state,
    title: name,
    text: prose(text),
    severity: severityOf(severity),
    labels: Object.fromEntries(
      Object.entries(labels)
        .slice(0, MAX_LABELS)
        .map(([label, value]) => [line(label, MAX_NAME), line(value, MAX_VALUE)] as const)
        .filter(([label, value]) => label !== '' && value !== ''),
    ),
    at: timeOf(at),
    link: linkOf(link),
  }
}

/** Returns a text in one line, without what turns or hides text; empty for what is no text and no number. */
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
  return typeof value === 'string' ? (severities[value.trim().toLowerCase()] ?? null) : null
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

/** An object of a body. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns an object; an empty one for any other value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** Returns the items of a list; none for any other value. */
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, MAX_ALERTS) : [])

/** Returns the members of several objects; of equal names the last. */
export const merged = (...all: readonly unknown[]): Fields => Object.assign({}, ...all.map(fieldsOf))
