import { ownValue } from '../../core/own-value.ts'
import { MAX_SERVICES } from '../../status/ownership.ts'
import { type CsvRow, withoutApostrophe } from './csv.ts'

/** A subscriber of a list: an email address, or why it cannot be subscribed. */
export interface ListedSubscriber {
  /** The first line of its record, from 1. */
  readonly line: number
  /** As written; null if there is no email address to subscribe. */
  readonly email: string | null
  /** Why it cannot be subscribed; empty if it can, provided that the address is valid. */
  readonly problem: string
  /** The names of the services that it follows; empty for all. */
  readonly services: readonly string[]
}

/** The content of a column. `service`: whether the service with the column's name is followed. */
type Column = 'email' | 'type' | 'phone' | 'webhook' | 'quarantined' | 'confirmed' | 'services' | 'service' | 'other'

/** The column names of Statuspage, Instatus, Better Stack, Cachet and common spreadsheets. */
const headers: readonly (readonly [Column, RegExp])[] = [
  ['email', /^(?:e-?mail|subscriber|contact)(?:[ _-]?address)?$|^address$/],
  ['type', /^(?:subscri(?:ber|ption)[ _-]?)?(?:type|mode|kind|channel)$/],
  ['phone', /^(?:phone|sms)(?:[ _-]?(?:number|country))?$|^country(?:[ _-]?code)?$/],
  ['webhook', /^(?:webhook|endpoint|url)(?:[ _-]?url)?$/],
  ['quarantined', /^quarantined(?:[ _-]?at)?$/],
  ['confirmed', /^(?:confirmed|verified|email[ _-]?verified)(?:[ _-]?at)?$/],
  ['services', /^(?:components?|services?)(?:[ _-]?(?:ids?|names?|subscriptions?))?$/],
  [
    'other',
    /^(?:id|name|created[ _-]?at|skip[ _-]?confirmation(?:[ _-]?notification)?|state|status|page[ _-]?id|date|language)$/,
  ],
]

/** The reasons why other types of subscribers are not imported. */
const otherTypes: Readonly<Record<string, string>> = {
  sms: 'SMS is not supported.',
  phone: 'SMS is not supported.',
  webhook: 'Webhooks are not imported: the receiver must subscribe again to get its signing secret.',
  slack: 'Slack is not imported: connect the workspace again.',
  teams: 'Teams is not imported: connect the channel again.',
  integration_partner: 'Integrations are not imported.',
}

const looksLikeEmail = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text.trim())
const isYes = (text: string) => /^(?:yes|true|1|x|y|subscribed)$/i.test(text.trim())
const isNo = (text: string) => /^(?:no|false|0|n)$/i.test(text.trim())

/**
 * Reads the records of a list of subscribers in order, with or without a header, such as the list that Statuspage
 * imports (`email`, address, yes or no). A line with an email address is not a header. A column with an unknown name
 * stands for the service with that name if it holds yes or no.
 */
export class SubscriberList {
  #columns: readonly Column[] | null = null
  #names: readonly string[] = []

  /** Reads the next record; null for a header or a blank line. */
  read({ line, fields }: CsvRow): ListedSubscriber | null {
    if (fields.every((field) => field.trim() === '')) return null
    if (this.#columns === null) {
      const header = headerOf(fields)
      if (header !== null) {
        this.#columns = header
        this.#names = fields.map((field) => field.trim())
        return null
      }
      this.#columns = columnsOf(fields)
    }
    return this.#subscriber(line, fields, this.#columns ?? ['email'])
  }

  #subscriber(line: number, fields: readonly string[], columns: readonly Column[]): ListedSubscriber {
    const of = (wanted: Column) => withoutApostrophe((fields[columns.indexOf(wanted)] ?? '').trim())
    const type = of('type').toLowerCase()
    const listed = { line, email: null, services: [] as string[] }
    const other = ownValue(otherTypes, type)
    if (other !== undefined) return { ...listed, problem: other }
    const email = of('email')
    if (email === '' && of('phone') !== '') return { ...listed, problem: otherTypes['sms'] ?? '' }
    if (email === '' && of('webhook') !== '') return { ...listed, problem: otherTypes['webhook'] ?? '' }
    const quarantined = of('quarantined')
    if (quarantined !== '' && !isNo(quarantined))
      return { ...listed, problem: 'It is quarantined there: its messages could not be delivered.' }
    if (columns.includes('confirmed') && (of('confirmed') === '' || isNo(of('confirmed'))))
      return { ...listed, problem: 'It has not confirmed its subscription there.' }
    return { line, email, problem: '', services: this.#servicesIn(fields, columns) }
  }

  #servicesIn(fields: readonly string[], columns: readonly Column[]): string[] {
    const lists = fields.filter((_, index) => columns[index] === 'services')
    const named = lists
      .flatMap((list) => list.split(/[;,|]/).map((name) => withoutApostrophe(name.trim())))
      .filter((name) => name !== '')
    const marked = this.#names.filter((_, index) => columns[index] === 'service' && isYes(fields[index] ?? ''))
    return [...new Set([...named.filter((name) => !/^all$/i.test(name)), ...marked])].slice(0, MAX_SERVICES)
  }
}

/** Returns the columns that a header names; null if the line is not a header. */
function headerOf(fields: readonly string[]): readonly Column[] | null {
  if (fields.some(looksLikeEmail)) return null
  const found = fields.map((field) => {
    const name = field.trim().toLowerCase()
    return headers.find(([, pattern]) => pattern.test(name))?.[0]
  })
  // `sms,5551234,us` also contains a column name, but a header always names an address.
  if (!found.includes('email')) return null
  return found.map((column): Column => column ?? 'service')
}

/** Derives the columns of a list without a header from a record; null if that is impossible. */
function columnsOf(fields: readonly string[]): readonly Column[] | null {
  const type = fields[0]?.trim().toLowerCase() ?? ''
  if (fields.length > 1 && (type === 'email' || Object.hasOwn(otherTypes, type)))
    return fields.map((_, index): Column => (['type', 'email'] as const)[index] ?? 'other')
  const found = fields.findIndex(looksLikeEmail)
  return found === -1 ? null : fields.map((_, index): Column => (index === found ? 'email' : 'other'))
}
