import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { parseUrl } from '../core/url.ts'
import { isTelegram } from './channel-servers.ts'
import { Fields } from './fields.ts'
import { conditionsOf } from './gatus-conditions.ts'
import { type KnownKeys, NO_LOSS, noteLosses } from './losses.ts'
import { oauthOf } from './oauth-client.ts'
import { Draft, type Drafted, keyOf, lineOf, nameOf, present, Unreadable, within } from './translation.ts'
import { readYamlObject } from './yaml-object.ts'

const PREFIX = 'gatus'

const SERVER = 'This is a setting of the server of Gatus.'
const OWN_MAIL = 'Allclear sends email through its own mail server.'

const known: KnownKeys = {
  // The note on the new address says it.
  'external-endpoints.token': NO_LOSS,
  storage: 'This is where Gatus stores its results. History is not imported.',
  ...{ web: SERVER, metrics: SERVER, security: SERVER, debug: SERVER, concurrency: SERVER, tunneling: SERVER },
  ...{ remote: SERVER, 'disable-monitoring-lock': SERVER, 'skip-invalid-config-update': SERVER },
  connectivity: 'Allclear does not test its own connection with an address.',
  ui: 'The look of pages is not imported.',
  maintenance: 'Its window is not imported. Plan a repeating maintenance here.',
  'maintenance-windows': 'Its windows are not imported. Plan a repeating maintenance here.',
  announcements: 'Announcements are not imported. Publish them as incidents here.',
  overrides: 'Its overrides for groups are not imported.',
  'alerts.description': 'The text of an alert is not imported.',
  'default-alert.description': 'The text of an alert is not imported.',
  'minimum-reminder-interval': 'Reminders of an alert are not imported.',
  ...{ 'email.from': OWN_MAIL, 'email.host': OWN_MAIL, 'email.port': OWN_MAIL },
  ...{ 'email.username': OWN_MAIL, 'email.password': OWN_MAIL, 'email.client': OWN_MAIL },
}

/** A monitor that an alert is for, and whether it also sends its end. */
interface Alerted {
  readonly key: string
  readonly sendsEnd: boolean
}

/** Translates a configuration file of Gatus. Keeps its `${NAME}` placeholders. @throws Unreadable. */
export function translateGatus(text: string): Drafted {
  const file = readYamlObject(text)
  const endpoints = file.list('endpoints').map((each) => new Fields(each))
  const external = file.list('external-endpoints').map((each) => new Fields(each))
  const suites = file.list('suites').map((each) => new Fields(each))
  if (endpoints.length + external.length + suites.length === 0)
    throw new Unreadable('This isn’t a configuration of Gatus: it has no endpoints.')
  const draft = new Draft()
  const alerting = file.fields('alerting')
  const alerted = new Map<string, Alerted[]>()
  for (const endpoint of endpoints) addMonitor(draft, endpoint, { alerting, alerted, read: optionsOf })
  for (const endpoint of external) addMonitor(draft, endpoint, { alerting, alerted, read: heartbeatOf })
  for (const suite of suites)
    draft.skip('monitors', nameOf(suite.text('name'), 'Suite'), 'Allclear has no monitors of several requests.', suite)
  for (const [type, monitors] of alerted) addChannels(draft, type, alerting.fields(type), monitors)
  for (const [type, provider] of alerting.entries())
    if (!alerted.has(type))
      draft.skip('channels', nameOf(type, 'Alerts'), 'No imported endpoint uses it.', new Fields(provider))
  noteLosses(draft, [file], known)
  return { ...draft, hasVariables: true }
}

/** Returns the fields that define the probe of a monitor, or why it cannot be imported. */
type Read = (draft: Draft, name: string, endpoint: Fields, alerts: readonly Alert[]) => ObjectFields | string

interface Context {
  readonly alerting: Fields
  /** The monitors by type of their alerts. */
  readonly alerted: Map<string, Alerted[]>
  readonly read: Read
}

function addMonitor(draft: Draft, endpoint: Fields, { alerting, alerted, read }: Context): void {
  const name = nameOf(endpoint.text('name'), 'Endpoint')
  const group = nameOf(endpoint.text('group'), '')
  const [wholeName, wholeGroup] = [lineOf(endpoint.text('name')) || name, lineOf(endpoint.text('group'))]
  const key = keyOf(PREFIX, `${wholeGroup}_${wholeName}`.toLowerCase())
  const isOff = endpoint.isFalse('enabled')
  endpoint.isTrue('enabled')
  if (draft.objects.monitors.has(key)) {
    draft.skip('monitors', name, 'Another endpoint has this group and name.', endpoint)
    return
  }
  const alerts = alertsOf(endpoint, alerting)
  const checked = read(draft, name, endpoint, alerts)
  if (typeof checked === 'string') {
    draft.skip('monitors', name, checked, endpoint)
    return
  }
  const groupKey = group === '' ? undefined : keyOf(PREFIX, wholeGroup.toLowerCase())
  if (groupKey !== undefined) draft.objects.groups.set(groupKey, { name: group })
  draft.objects.services.set(key, present({ name, group: groupKey }))
  draft.objects.monitors.set(key, { name, service: key, ...checked })
  if (isOff) draft.pause(key, name)
  addDomain(draft, endpoint, { key, name })
  for (const { type, sendsEnd } of alerts) {
    const monitors = alerted.get(type) ?? []
    if (!monitors.some((each) => each.key === key)) alerted.set(type, [...monitors, { key, sendsEnd }])
  }
}

/** An alert of an endpoint that is not disabled. */
interface Alert {
  readonly type: string
  readonly failures: number
  readonly successes: number
  readonly sendsEnd: boolean
}

/** Returns the alerts of an endpoint, with the defaults of their provider (`default-alert`), then those of Gatus. */
function alertsOf(endpoint: Fields, alerting: Fields): Alert[] {
  return endpoint.list('alerts').flatMap((each) => {
    const alert = new Fields(each)
    const type = alert.text('type')
    const otherwise = alerting.fields(type).fields('default-alert')
    const first = (name: string) => (alert.has(name) ? alert : otherwise)
    if (first('enabled').isFalse('enabled')) {
      alert.settle()
      return []
    }
    for (const source of [alert, otherwise]) for (const name of ['enabled', 'send-on-resolved']) source.isTrue(name)
    return {
      type,
      failures: alert.number('failure-threshold') ?? otherwise.number('failure-threshold') ?? 3,
      successes: alert.number('success-threshold') ?? otherwise.number('success-threshold') ?? 2,
      sendsEnd: first('send-on-resolved').isTrue('send-on-resolved'),
    }
  })
}

function addDomain(
  draft: Draft,
  endpoint: Fields,
  { key, name }: { readonly key: string; readonly name: string },
): void {
  const domain = domainOf(endpoint)
  if (domain !== null)
    draft.objects.monitors.set(`${key}-domain`, { name: nameOf(`${name}, domain`, name), service: key, domain })
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

function optionsOf(draft: Draft, name: string, endpoint: Fields, alerts: readonly Alert[]): ObjectFields | string {
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
  const interval = within(1, 86_400, endpoint.parsed('interval', seconds) ?? 60)
  const timeout = (client.parsed('timeout', seconds) ?? 10) * 1000
  const own = kind.key === 'http' ? httpOptions(endpoint, client) : ownOptions(kind, client)
  return {
    intervalSeconds: interval,
    timeoutMs: within(500, Math.min(30_000, interval * 1000), timeout),
    ...thresholdsOf(alerts),
    [kind.key]: present({ ...kind.options, ...own, ...known }),
  }
}

function ownOptions({ key, options }: Kind, client: Fields): ObjectFields {
  const hasTls = key === 'grpc' || key === 'websocket' || options['tls'] === true || options['startTls'] !== undefined
  return hasTls && client.isTrue('insecure') ? { verifyCertificate: false } : {}
}

function heartbeatOf(draft: Draft, name: string, endpoint: Fields): ObjectFields | string {
  const interval = endpoint.fields('heartbeat').parsed('interval', seconds)
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
    oauth: oauthOf(client.fields('oauth2'), '-'),
  }
}

/** Returns the lowest thresholds of the alerts, which become those of the monitor. */
function thresholdsOf(alerts: readonly Alert[]): ObjectFields {
  if (alerts.length === 0) return {}
  return {
    failureThreshold: within(1, 10, Math.min(...alerts.map(({ failures }) => failures))),
    recoveryThreshold: within(1, 10, Math.min(...alerts.map(({ successes }) => successes))),
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

/** Adds a channel for a type of alert, and another one for the monitors whose alerts do not send their end. */
function addChannels(draft: Draft, type: string, provider: Fields, alerted: readonly Alerted[]): void {
  const name = nameOf(type, 'Alerts')
  const address = ownValue(addresses, type)?.(provider)
  const refusal =
    address === undefined
      ? 'Channels of this kind are not supported.'
      : provider.isEmpty()
        ? 'The file has no settings for it.'
        : hasOtherServer(type, provider)
          ? 'It sends to a server of its own, but Allclear only to api.telegram.org.'
          : null
  if (refusal !== null || address === undefined) {
    draft.skip('channels', name, refusal ?? '', provider)
    return
  }
  const add = (key: string, own: string, when: readonly string[], sendsEnd: boolean) => {
    const monitors = alerted.filter((each) => each.sendsEnd === sendsEnd).map((each) => each.key)
    if (monitors.length > 0) draft.objects.channels.set(key, { name: own, monitors, when, ...address })
  }
  const isMixed = new Set(alerted.map(({ sendsEnd }) => sendsEnd)).size > 1
  add(keyOf(PREFIX, type), name, ['DOWN', 'UP'], true)
  const silent = isMixed ? `${type} down` : type
  add(keyOf(PREFIX, silent), isMixed ? nameOf(`${name}, only outages`, name) : name, ['DOWN'], false)
}

/** Returns whether the messages go to a server other than Telegram’s, which must not learn the token from us. */
const hasOtherServer = (type: string, provider: Fields): boolean =>
  type === 'telegram' && !isTelegram(provider.text('api-url'))

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
