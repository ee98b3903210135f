import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { parseUrl } from '../core/url.ts'
import { conditionsOf } from './gatus-conditions.ts'
import { Draft, type Drafted, Fields, keyOf, nameOf, present, Unreadable, within } from './translation.ts'
import { readYamlObject } from './yaml-object.ts'

const PREFIX = 'gatus'

/** Translates a configuration file of Gatus. Keeps its `${NAME}` placeholders. @throws Unreadable. */
export function translateGatus(text: string): Drafted {
  const file = readYamlObject(text)
  const endpoints = file.list('endpoints').map((each) => new Fields(each))
  const external = file.list('external-endpoints').map((each) => new Fields(each))
  if (endpoints.length + external.length === 0)
    throw new Unreadable('This isn’t a configuration of Gatus: it has no endpoints.')
  const draft = new Draft()
  const alerted = new Map<string, string[]>()
  for (const endpoint of endpoints) addMonitor(draft, endpoint, alerted, optionsOf)
  for (const endpoint of external) addMonitor(draft, endpoint, alerted, heartbeatOf)
  for (const [type, monitors] of alerted) addChannel(draft, type, file.fields('alerting').fields(type), monitors)
  return { ...draft, hasVariables: true }
}

/** Returns the fields that define the probe of a monitor, or why it cannot be imported. */
type Read = (draft: Draft, name: string, endpoint: Fields) => ObjectFields | string

function addMonitor(draft: Draft, endpoint: Fields, alerted: Map<string, string[]>, read: Read): void {
  const name = nameOf(endpoint.text('name'), 'Endpoint')
  const group = nameOf(endpoint.text('group'), '')
  const key = keyOf(PREFIX, `${group}_${name}`.toLowerCase())
  const isOff = endpoint.get('enabled') === false
  if (draft.objects.monitors.has(key)) {
    draft.skip('monitors', name, 'Another endpoint has this group and name.')
    return
  }
  const checked = read(draft, name, endpoint)
  if (typeof checked === 'string') {
    draft.skip('monitors', name, checked)
    return
  }
  for (const part of ['maintenance-windows', 'ssh', 'client'] as const) {
    if (endpoint.get(part) !== undefined && !isClientKnown(endpoint, part))
      draft.partly('monitors', name, `Its ${part} is not imported.`)
  }
  const groupKey = group === '' ? undefined : keyOf(PREFIX, group.toLowerCase())
  if (groupKey !== undefined) draft.objects.groups.set(groupKey, { name: group })
  draft.objects.services.set(key, present({ name, group: groupKey }))
  draft.objects.monitors.set(key, { name, service: key, ...checked })
  if (isOff) draft.pause(key, name)
  addDomain(draft, endpoint, { key, name })
  for (const alert of endpoint.list('alerts')) {
    const fields = new Fields(alert)
    if (fields.get('enabled') === false) continue
    const type = fields.text('type')
    const keys = alerted.get(type) ?? []
    if (!keys.includes(key)) alerted.set(type, [...keys, key])
  }
}

function addDomain(
  draft: Draft,
  endpoint: Fields,
  { key, name }: { readonly key: string; readonly name: string },
): void {
  const domain = domainOf(endpoint)
  if (domain !== null) draft.objects.monitors.set(`${key}-domain`, { name: `${name}, domain`, service: key, domain })
}

const DOMAIN_CONDITION = /^\[DOMAIN_EXPIRATION\] >=? (\d{1,5})h$/

/** Returns the fields of a monitor of the domain’s registration. Null if no condition is about the domain. */
function domainOf(endpoint: Fields): ObjectFields | null {
  const [hours] = endpoint.list('conditions').flatMap((each) => DOMAIN_CONDITION.exec(String(each).trim())?.[1] ?? [])
  const host = parseUrl(endpoint.text('url'))?.hostname ?? ''
  return hours === undefined || host === ''
    ? null
    : { domain: host, warnDays: within(0, 365, Math.ceil(Number(hours) / 24)) }
}

/** The supported options of the client. */
const clientOptions = ['insecure', 'ignore-redirect', 'timeout', 'oauth2']

function isClientKnown(endpoint: Fields, part: string): boolean {
  return (
    part === 'client' &&
    endpoint
      .fields('client')
      .entries()
      .every(([name]) => clientOptions.includes(name))
  )
}

function optionsOf(draft: Draft, name: string, endpoint: Fields): ObjectFields | string {
  const client = endpoint.fields('client')
  const url = endpoint.text('url')
  const kind = kindOf(endpoint, url)
  if (kind === null) return unknownKind(url)
  const { known, dropped } = conditionsOf(
    kind.key,
    endpoint
      .list('conditions')
      .filter((each) => domainOf(endpoint) === null || !DOMAIN_CONDITION.test(String(each).trim())),
  )
  for (const condition of dropped) draft.partly('monitors', name, `It is probed without the condition ${condition}.`)
  const interval = within(1, 86_400, seconds(endpoint.text('interval')) ?? 60)
  const timeout = (seconds(client.text('timeout')) ?? 10) * 1000
  const own = kind.key === 'http' ? httpOptions(endpoint, client) : ownOptions(kind, client)
  return {
    intervalSeconds: interval,
    timeoutMs: within(500, Math.min(30_000, interval * 1000), timeout),
    ...thresholdsOf(endpoint),
    [kind.key]: present({ ...kind.options, ...own, ...known }),
  }
}

function ownOptions({ key }: Kind, client: Fields): ObjectFields {
  return key === 'grpc' && client.isTrue('insecure') ? { verifyCertificate: false } : {}
}

function heartbeatOf(draft: Draft, name: string, endpoint: Fields): ObjectFields | string {
  const interval = seconds(endpoint.fields('heartbeat').text('interval'))
  if (interval === undefined || interval === 0) return 'It has no heartbeat interval.'
  draft.partly('monitors', name, 'It gets a new address. Change the job to report there.')
  return { intervalSeconds: within(1, 31 * 86_400, interval), heartbeat: {} }
}

interface Kind {
  readonly key: 'http' | 'tcp' | 'ping' | 'dns' | 'ssh' | 'websocket' | 'grpc' | 'udp'
  readonly options: ObjectFields
}

function kindOf(endpoint: Fields, url: string): Kind | null {
  const dns = endpoint.fields('dns')
  if (dns.text('query-name') !== '') {
    const name = dns.text('query-name').replace(/\.$/, '')
    return {
      key: 'dns',
      options: { name, recordType: dns.text('query-type') || 'A', resolver: url.replace(/^\w+:\/\//, '') },
    }
  }
  const [, scheme = '', host = '', port = ''] = /^(\w+):\/\/([^/:[\]]+|\[[^\]]+\])(?::(\d+))?/.exec(url) ?? []
  const bare = host.replace(/^\[|\]$/g, '')
  // A placeholder may stand for a whole address.
  if (/^https?$/.test(scheme) || /^https?:\/\//.test(url) || url.startsWith('${'))
    return { key: 'http', options: { url } }
  if (scheme === 'icmp') return { key: 'ping', options: { host: bare } }
  if (scheme === 'tcp') return { key: 'tcp', options: { host: bare, port: Number(port) } }
  if (scheme === 'tls') return { key: 'tcp', options: { host: bare, port: Number(port), tls: true } }
  if (scheme === 'udp') return datagramOf(endpoint, bare, Number(port))
  return serverOf(endpoint, scheme, bare, Number(port), url)
}

function unknownKind(url: string): string {
  const scheme = url.includes('://') ? url.slice(0, url.indexOf('://')) : 'this address'
  return scheme === 'udp' ? 'It sends no data, so no reply is expected.' : `Allclear has no monitors for ${scheme}.`
}

/** Without a body, Gatus sends no data and considers that connected, which is not supported here. */
function datagramOf(endpoint: Fields, host: string, port: number): Kind | null {
  const send = endpoint.text('body').replaceAll('\\', '\\\\')
  return send === '' ? null : { key: 'udp', options: { host, port, send } }
}

/** Gatus speaks SMTP on every port. */
const startTlsPorts = new Map([25, 465, 587, 2525].map((port) => [port, 'SMTP']))

function serverOf(endpoint: Fields, scheme: string, host: string, port: number, url: string): Kind | null {
  const protocol = startTlsPorts.get(port)
  if (scheme === 'starttls' && protocol !== undefined)
    return { key: 'tcp', options: { host, port, startTls: protocol } }
  if (scheme === 'ssh') return { key: 'ssh', options: { host, port: port || 22 } }
  if (scheme === 'grpc' || scheme === 'grpcs')
    return { key: 'grpc', options: present({ host, port: port || undefined, tls: scheme === 'grpcs' || undefined }) }
  if (scheme !== 'ws' && scheme !== 'wss') return null
  const path = url.replace(/^\w+:\/\/[^/]*/, '').replace(/#.*/s, '')
  const own = scheme === 'ws' ? { port: port || 80, tls: false } : { port: port || 443 }
  return { key: 'websocket', options: { host, ...own, path: path === '/' ? '' : path, send: endpoint.text('body') } }
}

function httpOptions(endpoint: Fields, client: Fields): ObjectFields {
  const isGraphql = endpoint.isTrue('graphql')
  const method = endpoint.text('method').toUpperCase() || 'GET'
  const body = /^(?:GET|HEAD|OPTIONS)$/.test(method) ? '' : endpoint.text('body')
  const headers = endpoint
    .fields('headers')
    .entries()
    .map(([name, value]) => ({ name, value: String(value) }))
  if (isGraphql && !headers.some(({ name }) => name.toLowerCase() === 'content-type')) {
    headers.push({ name: 'Content-Type', value: 'application/json' })
  }
  return {
    method: method === 'GET' ? undefined : method,
    headers: headers.length > 0 ? headers : undefined,
    body: isGraphql && body !== '' ? JSON.stringify({ query: body }) : body,
    maxRedirects: client.isTrue('ignore-redirect') ? 0 : undefined,
    verifyCertificate: client.isTrue('insecure') ? false : undefined,
    oauth: oauthOf(client.fields('oauth2')),
  }
}

function oauthOf(client: Fields): ObjectFields | undefined {
  if (client.text('token-url') === '') return undefined
  return present({
    tokenUrl: client.text('token-url'),
    clientId: client.text('client-id'),
    clientSecret: client.text('client-secret'),
    scope: client.list('scopes').map(String).join(' '),
  })
}

/** Returns the lowest thresholds of the alerts, which become those of the monitor. */
function thresholdsOf(endpoint: Fields): ObjectFields {
  const alerts = endpoint.list('alerts').map((each) => new Fields(each))
  if (alerts.length === 0) return {}
  const least = (name: string, otherwise: number) => Math.min(...alerts.map((each) => each.number(name) ?? otherwise))
  return {
    failureThreshold: within(1, 10, least('failure-threshold', 3)),
    recoveryThreshold: within(1, 10, least('success-threshold', 2)),
  }
}

/** Converts a duration such as 1m30s to seconds. */
function seconds(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|h|m|s))+$/.test(text)) return undefined
  const units: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 }
  return [...text.matchAll(/(?<![\d.])([\d.]+)(ms|h|m|s)/g)].reduce(
    (sum, [, count, unit = 's']) => sum + Number(count) * (ownValue(units, unit) ?? 1),
    0,
  )
}

function addChannel(draft: Draft, type: string, provider: Fields, monitors: readonly string[]): void {
  const name = nameOf(type, 'Alerts')
  const address = ownValue(addresses, type)?.(provider)
  if (address === undefined) {
    draft.skip('channels', name, 'Channels of this kind are not supported.')
    return
  }
  if (provider.entries().length === 0) {
    draft.skip('channels', name, 'The file has no settings for it.')
    return
  }
  if (provider.list('overrides').length > 0) draft.partly('channels', name, 'Its overrides are not imported.')
  draft.objects.channels.set(keyOf(PREFIX, type), { name, monitors, when: ['DOWN', 'UP'], ...address })
}

/** Returns the address of a channel from the settings of its alert type. */
const addresses: Readonly<Record<string, (provider: Fields) => ObjectFields>> = {
  slack: (provider) => ({ slack: { url: provider.text('webhook-url') } }),
  discord: (provider) => ({ discord: { url: provider.text('webhook-url') } }),
  teams: (provider) => ({ teams: { url: provider.text('webhook-url') } }),
  'teams-workflows': (provider) => ({ teams: { url: provider.text('webhook-url') } }),
  mattermost: (provider) => ({ mattermost: { url: provider.text('webhook-url') } }),
  telegram: (provider) => ({ telegram: { botToken: provider.text('token'), chatId: provider.text('id') } }),
  ntfy: (provider) => ({
    ntfy: present({ server: provider.text('url'), topic: provider.text('topic'), token: provider.text('token') }),
  }),
  gotify: (provider) => ({ gotify: { server: provider.text('server-url'), token: provider.text('token') } }),
  pushover: (provider) => ({
    pushover: { token: provider.text('application-token'), user: provider.text('user-key') },
  }),
  pagerduty: (provider) => ({ pagerduty: { routingKey: provider.text('integration-key') } }),
  opsgenie: (provider) => ({ opsgenie: { apiKey: provider.text('api-key') } }),
  email: (provider) => ({ mail: { address: provider.text('to') } }),
}
