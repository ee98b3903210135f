import { randomBytes } from 'node:crypto'

/** The type of each id prefix. Ids are opaque to callers and the same in the database and the API. */
export const idPrefixes = {
  Organization: 'org',
  StatusPage: 'pag',
  ApiKey: 'key',
  ServiceGroup: 'grp',
  Service: 'svc',
  Incident: 'inc',
  IncidentUpdate: 'upd',
  Maintenance: 'mnt',
  MaintenanceUpdate: 'mup',
  MaintenanceSeries: 'mse',
  Monitor: 'mon',
  Subscriber: 'sub',
  Delivery: 'dlv',
  AlertChannel: 'alc',
  Alert: 'alr',
  Objective: 'obj',
  UptimeCorrection: 'cor',
} as const

/** The id prefixes of types that are not nodes of the GraphQL API. */
const otherPrefixes = {
  User: 'usr',
  Session: 'ses',
  Invitation: 'inv',
  PushBrowser: 'psh',
  PageToken: 'ptk',
  AlertDelivery: 'ald',
  Integration: 'itg',
  IncomingBody: 'ibd',
  Template: 'tpl',
  IncidentNote: 'nte',
  IncidentFile: 'fil',
} as const

const prefixes = { ...idPrefixes, ...otherPrefixes }
/** The types of `idPrefixes` by prefix. */
const types = new Map(Object.entries(idPrefixes).map(([type, prefix]) => [prefix as string, type as IdType]))

export type IdType = keyof typeof idPrefixes
type OtherIdType = keyof typeof otherPrefixes

const alphabet = '0123456789abcdefghijklmnopqrstuv'

/** Returns random text of `length` characters from 0-9 and a-v, five bits each, safe for URLs and secrets. */
export function randomText(length: number): string {
  let text = ''
  for (const byte of randomBytes(length)) text += alphabet[byte & 31]
  return text
}

/** Creates an id, such as `org_3f0c…`: the prefix of its type and 120 random bits. */
export function newId(type: IdType | OtherIdType): string {
  return `${prefixes[type]}_${randomText(24)}`
}

/** Returns the type of an id by its prefix; null for any other text. */
export function typeOfId(id: string): IdType | null {
  const [, prefix = ''] = /^([a-z]+)_[0-9a-v]{24}$/.exec(id) ?? []
  return types.get(prefix) ?? null
}

/** Returns whether a text has the form of an id of a type. */
export function isIdOf(type: OtherIdType, text: string): boolean {
  return new RegExp(`^${otherPrefixes[type]}_[0-9a-v]{24}$`).test(text)
}

/** Returns an id that is safe to query: an empty text, which no row has, in place of an invalid id. */
export function validIdOrEmpty(id: string): string {
  return typeOfId(id) === null ? '' : id
}
