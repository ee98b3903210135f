import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'

interface Conditions {
  /** The equivalent options. */
  readonly known: ObjectFields
  /** The conditions without an equivalent. */
  readonly dropped: readonly string[]
}

/** Returns the options for a condition. Null if there is no equivalent. */
type Reader = (left: string, operator: string, right: string) => Record<string, unknown> | null

/** Translates the conditions of an endpoint. */
export function conditionsOf(kind: string, conditions: readonly unknown[]): Conditions {
  const known: Record<string, unknown> = {}
  const dropped: string[] = []
  let statuses = allStatuses
  for (const condition of conditions) {
    const text = String(condition).trim().slice(0, 300)
    const [, left = '', operator = '', right = ''] = /^(\S+) (==|!=|<=|>=|<|>) (.+)$/.exec(text) ?? []
    const accepts = kind === 'http' && left === '[STATUS]' ? statusTest(operator, right) : null
    const added = ownValue(readers, kind)?.(left, operator, right) ?? read(left, operator, right)
    if (accepts !== null) statuses = statuses.filter(accepts)
    else if (mergesJson(known['json'], added))
      known['json'] = { ...(known['json'] as object), ...(added['json'] as object) }
    else if (added !== null && !Object.keys(added).some((name) => name in known)) Object.assign(known, added)
    else dropped.push(text)
  }
  if (kind === 'http') known['expectedStatus'] = rangesOf(statuses)
  return { known, dropped }
}

/** Returns whether a condition can be merged into the assertion on the same JSON value. */
function mergesJson(known: unknown, added: Record<string, unknown> | null): added is Record<string, unknown> {
  const [first, second] = [known, added?.['json']] as (Readonly<Record<string, unknown>> | undefined)[]
  if (first === undefined || second === undefined) return false
  const isSame = first['path'] === second['path'] && first['length'] === second['length']
  return isSame && !Object.keys(second).some((name) => name !== 'path' && name !== 'length' && name in first)
}

/** Translates the conditions of all kinds. */
const read: Reader = (left, operator, right) => {
  if (left === '[CONNECTED]' && operator === '==' && right === 'true') return {}
  if (left === '[RESPONSE_TIME]' && /^<=?$/.test(operator) && /^\d{1,5}$/.test(right)) {
    return { downAboveMs: Math.min(30_000, Math.max(1, Number(right))) }
  }
  return null
}

const readers: Readonly<Record<string, Reader | undefined>> = {
  http: (left, operator, right) =>
    certificate(left, operator, right) ?? keyword(left, operator, right) ?? json(left, operator, right),
  tcp: (left, operator, right) => certificate(left, operator, right),
  // The body of a health check is its state. A monitor here is up while it is SERVING.
  grpc: (left, operator, right) => (left === '[BODY]' && operator === '==' && right === 'SERVING' ? {} : null),
  websocket(left, operator, right) {
    const text = /^pat\(\*([^*?[\]\\]+)\*\)$/.exec(right)?.[1]
    return left === '[BODY]' && operator === '==' && text !== undefined ? { expect: text } : null
  },
  dns(left, operator, right) {
    if (left === '[DNS_RCODE]' && operator === '==' && right === 'NOERROR') return {}
    return left === '[BODY]' && operator === '==' && !right.includes('(')
      ? { expected: [right], match: 'CONTAINS' }
      : null
  },
}

const certificate: Reader = (left, operator, right) => {
  const hours = /^(\d{1,5})h$/.exec(right)?.[1]
  if (left !== '[CERTIFICATE_EXPIRATION]' || !operator.startsWith('>') || hours === undefined) return null
  return { certificateDays: Math.min(365, Math.ceil(Number(hours) / 24)) }
}

const keyword: Reader = (left, operator, right) => {
  const text = /^pat\(\*([^*?[\]\\]+)\*\)$/.exec(right)?.[1]
  if (left !== '[BODY]' || !/^[!=]=$/.test(operator)) return null
  const absent = operator === '!=' ? { absent: true } : {}
  if (text !== undefined) return { keyword: { text, ...absent } }
  const pattern = patternOf(right)
  return pattern === null ? null : { keyword: { text: `(?s)${pattern}`, isRegex: true, ...absent } }
}

/** Converts `pat(a*)` or `any(a, b)` to a regular expression. Null for other text. */
function patternOf(right: string): string | null {
  const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const glob = /^pat\(([^[\]\\]+)\)$/.exec(right)?.[1]
  if (glob !== undefined) return `^${escaped(glob).replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`
  const any = /^any\(([^()]+)\)$/.exec(right)?.[1]
  return any === undefined
    ? null
    : `^(?:${any
        .split(',')
        .map((each) => escaped(each.trim()))
        .join('|')})$`
}

const comparisons = new Map([
  ['<', 'lessThan'],
  ['<=', 'atMost'],
  ['>', 'greaterThan'],
  ['>=', 'atLeast'],
])

/** Converts a comparison to the fields of an assertion. Null if there is no equivalent. */
function comparisonOf(operator: string, right: string): Record<string, unknown> | null {
  if (/^(?:pat|any)\(/.test(right)) {
    const matches = operator === '==' ? patternOf(right) : null
    return matches === null ? null : { matches }
  }
  if (/^(?:len|has)\(/.test(right)) return null
  const value = jsonValue(right)
  if (operator === '==') return { equals: value }
  if (operator === '!=') return { notEquals: value }
  const name = comparisons.get(operator)
  return name === undefined || typeof value !== 'number' ? null : { [name]: value }
}

const PATH = '((?:\\.[A-Za-z_]\\w*|\\[\\d+\\])+)'

const json: Reader = (left, operator, right) => {
  const value = new RegExp(`^\\[BODY\\]${PATH}$`).exec(left)?.[1]
  const existing = new RegExp(`^has\\(\\[BODY\\]${PATH}\\)$`).exec(left)?.[1]
  const counted = new RegExp(`^len\\(\\[BODY\\]${PATH}\\)$`).exec(left)?.[1]
  if (existing !== undefined && operator === '==' && /^(?:true|false)$/.test(right)) {
    return { json: right === 'true' ? { path: `$${existing}` } : { path: `$${existing}`, absent: true } }
  }
  const path = value ?? counted
  const compared = path === undefined ? null : comparisonOf(operator, right)
  if (compared === null) return null
  return { json: { path: `$${path}`, ...compared, ...(counted !== undefined && { length: true }) } }
}

function jsonValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) ? Number(text) : text
}

const allStatuses = Array.from({ length: 500 }, (_, index) => 100 + index)

/** Returns a test of whether a condition accepts a status. Null if the condition is unknown. */
function statusTest(operator: string, right: string): ((status: number) => boolean) | null {
  const any = /^any\(([\d, ]+)\)$/.exec(right)?.[1]
  if (any === undefined && !/^\d{3}$/.test(right)) return null
  const values = (any ?? right).split(',').map(Number)
  const [value = 0] = values
  if (operator === '==') return (status) => values.includes(status)
  if (operator === '!=') return (status) => !values.includes(status)
  if (any !== undefined) return null
  return (status) =>
    operator.startsWith('<')
      ? status < value || (operator === '<=' && status === value)
      : status > value || (operator === '>=' && status === value)
}

/** Groups statuses into ranges, such as 200-299, within each hundred. Writes a full hundred as 2xx. */
function rangesOf(statuses: readonly number[]): string[] {
  const ranges: [number, number][] = []
  for (const status of statuses) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === status - 1 && status % 100 !== 0) last[1] = status
    else ranges.push([status, status])
  }
  return ranges.map(([from, to]) => {
    if (from === to) return String(from)
    return to - from === 99 ? `${from / 100}xx` : `${from}-${to}`
  })
}
