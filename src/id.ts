import { randomBytes } from 'node:crypto'

/** What an id's prefix says it is the id of; ids are opaque to callers and the same in the database and outside. */
export const idPrefixes = {
  Organization: 'org',
  ApiKey: 'key',
  ServiceGroup: 'grp',
  Service: 'svc',
  Incident: 'inc',
  IncidentUpdate: 'upd',
  Maintenance: 'mnt',
  MaintenanceUpdate: 'mup',
  Monitor: 'mon',
  Subscriber: 'sub',
  Delivery: 'dlv',
} as const

export type Identified = keyof typeof idPrefixes

const alphabet = '0123456789abcdefghijklmnopqrstuv'

/** Random text of `length` characters from 0-9 and a-v, five bits each, fit for URLs and secrets. */
export function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte & 31]).join('')
}

/** A new id, such as `org_3f0c…`: the prefix of its type and 120 random bits. */
export function newId(type: Identified): string {
  return `${idPrefixes[type]}_${randomText(24)}`
}

/** The type an id belongs to by its prefix, or null for a text that is no id of ours: nothing can be found by it. */
export function typeOfId(id: string): Identified | null {
  const [, prefix] = /^([a-z]+)_[0-9a-v]{24}$/.exec(id) ?? []
  const entry = Object.entries(idPrefixes).find(([, known]) => known === prefix)
  return entry ? (entry[0] as Identified) : null
}
