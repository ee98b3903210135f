import { ownValue } from '../core/own-value.ts'
import { MINUTE } from '../core/time.ts'
import type { IncidentImpact } from '../generated/prisma/enums.ts'
import type { Fields } from './fields.ts'
import { type KeyedStatus, nameOf, type SourceUpdate } from './translation.ts'

/** The maximum lengths of the title and messages of an incident, in characters. */
const MAX_TITLE = 200
const MAX_MESSAGE = 10_000

/** Returns a valid title on one line. */
export function titleOf(text: string, otherwise: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return Array.from(line).slice(0, MAX_TITLE).join('').slice(0, MAX_TITLE).trim() || nameOf(otherwise, 'Incident')
}

/** Returns a valid Markdown message: without control characters, and cut if it is too long. */
export function messageOf(text: string): string {
  const plain = text
    .slice(0, 4 * MAX_MESSAGE)
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu, '')
    .trim()
  return plain.length <= MAX_MESSAGE ? plain : `${plain.slice(0, MAX_MESSAGE - 1).trimEnd()}…`
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  '#39': "'",
}

/** The Markdown of HTML tags. Other tags are dropped. */
const tags: Readonly<Record<string, string>> = {
  br: '\n',
  '/p': '\n\n',
  '/div': '\n',
  '/h1': '\n\n',
  '/h2': '\n\n',
  '/h3': '\n\n',
  li: '\n- ',
  '/ul': '\n\n',
  '/ol': '\n\n',
  strong: '**',
  '/strong': '**',
  b: '**',
  '/b': '**',
  em: '_',
  '/em': '_',
  i: '_',
  '/i': '_',
  code: '`',
  '/code': '`',
}

/** Converts a message that may contain HTML to Markdown. */
export function htmlMessageOf(text: string): string {
  const cut = text.slice(0, 4 * MAX_MESSAGE)
  if (!/<[a-z/!][^<>]*>/i.test(cut)) return messageOf(unescaped(cut))
  const links: string[] = []
  // Each piece is a tag or a text.
  const pieces = cut.split(/(<[a-z/!][^<>]*>)/i).map((piece) => {
    const name = /^<(\/?[a-z0-9]+)/i.exec(piece)?.[1]?.toLowerCase()
    if (name === undefined) return piece.startsWith('<!') ? '' : unescaped(piece)
    if (name === 'a') return linkBegun(piece, links)
    return name === '/a' ? linkEnded(links) : (ownValue(tags, name) ?? '')
  })
  return messageOf(pieces.join('').replace(/\n{3,}/g, '\n\n'))
}

function linkBegun(tag: string, links: string[]): string {
  const address = /\shref\s*=\s*["']?(https?:[^"'\s<>]*)/i.exec(tag)?.[1] ?? ''
  links.push(address)
  return address === '' ? '' : '['
}

function linkEnded(links: string[]): string {
  const address = links.pop() ?? ''
  return address === '' ? '' : `](${unescaped(address)})`
}

const unescaped = (text: string) =>
  text.replace(/&(#39|[a-z]{2,4});/g, (whole, name: string) => ownValue(entities, name) ?? whole)

/** Converts a time of a source to ISO 8601. Null if it is absent or invalid. Times without a zone are UTC. */
export function timeOf(value: unknown): string | null {
  const text = typeof value === 'number' ? secondsOrMilliseconds(value) : typeof value === 'string' ? value.trim() : ''
  if (text === '' || text.length > 40) return null
  const plain = /^\d{4}-\d\d-\d\d \d\d:\d\d/.test(text) ? text.replace(' ', 'T') : text
  const zoned = /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(plain) ? `${plain}Z` : plain
  const at = new Date(zoned)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

const secondsOrMilliseconds = (value: number) => {
  const at = new Date(value < 1e11 ? value * 1000 : value)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

/** Returns the first valid time among fields. */
export const firstTime = (fields: Fields, ...names: readonly string[]): string | null =>
  names.map((name) => timeOf(fields.get(name))).find((at) => at !== null) ?? null

/** Returns the time a number of minutes later. */
export const minutesAfter = (at: string, minutes: number): string =>
  new Date(Date.parse(at) + minutes * MINUTE).toISOString()

const impactStatuses = {
  NONE: 'OPERATIONAL',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const satisfies Record<IncidentImpact, KeyedStatus['status']>

/** Returns the default status of services that an incident with an impact affects. */
export const statusOf = (impact: IncidentImpact): KeyedStatus['status'] => impactStatuses[impact]

/** Returns the default impact of an incident, based on the worst status that it sets on a service. */
export function impactOf(updates: readonly SourceUpdate[]): IncidentImpact {
  const given = new Set(updates.flatMap(({ services }) => services.map(({ status }) => status)))
  const worst = (['CRITICAL', 'MAJOR', 'MINOR'] as const).find((impact) => given.has(impactStatuses[impact]))
  return worst ?? 'NONE'
}

/** Adds the affected services to the first update if no update has any, so that the timeline shows them. */
export function affecting(updates: readonly SourceUpdate[], services: readonly KeyedStatus[]): SourceUpdate[] {
  const [first, ...rest] = updates.toSorted((one, other) => (one.at < other.at ? -1 : 1))
  if (first === undefined) return []
  if (updates.some((update) => update.services.length > 0)) return [first, ...rest]
  return [{ ...first, services }, ...rest]
}

/** How much of a text its slug can come from: longer than any name, and than the slug. */
const MAX_READ = 200

/** Converts a text to the slug of a page: lowercase letters, digits and hyphens. */
export function slugOf(text: string): string {
  const plain = text
    .slice(0, MAX_READ)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '')
  return plain.length < 3 ? `${plain}-status`.replace(/^-/, '') : plain
}
