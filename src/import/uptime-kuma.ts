import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { MAX_GROUP_MEMBERS, MAX_GROUPS } from '../monitoring/group/limits.ts'
import { isPagerDuty, isTelegram } from './channel-servers.ts'
import { Fields } from './fields.ts'
import { noteLosses } from './losses.ts'
import { Draft, type Drafted, keyOf, nameOf, present, readJsonObject, Unreadable, within } from './translation.ts'

import { uptimeKumaKeys } from './uptime-kuma-keys.ts'
import { conditionsOf, invertedOf, serverOptions } from './uptime-kuma-servers.ts'

/** The prefix of keys. */
export const PREFIX = 'uptime-kuma'

/** Translates a backup of Uptime Kuma 1 (Settings, Backup). @throws Unreadable. */
export function translateUptimeKuma(text: string): Drafted {
  const backup = readJsonObject(text)
  if (!Array.isArray(backup.get('monitorList')))
    throw new Unreadable('This isn’t a backup of Uptime Kuma 1: it has no monitorList.')
  const { draft, configs } = draftUptimeKuma({
    monitors: backup.list('monitorList').map((each) => new Fields(each)),
    notifications: backup.list('notificationList').map((each) => new Fields(each)),
    proxies: backup.list('proxyList').map((each) => new Fields(each)),
  })
  noteLosses(draft, [backup], uptimeKumaKeys)
  noteLosses(draft, configs, uptimeKumaKeys, ['notificationList', 'config'])
  return { ...draft, hasVariables: false }
}

/** Drafts the monitors and notifications of a backup. Returns the settings of notifications too, which are JSON in a text. */
export function draftUptimeKuma({
  monitors,
  notifications,
  proxies,
}: {
  readonly monitors: readonly Fields[]
  readonly notifications: readonly Fields[]
  readonly proxies: readonly Fields[]
}): { readonly draft: Draft; readonly configs: readonly Fields[] } {
  const draft = new Draft()
  const groups = monitors.filter((each) => each.text('type') === 'group')
  for (const group of groups) {
    const own = group.text('name')
    const name = nameOf(group.text('pathName') || own, `Group ${group.text('id')}`)
    const description = group.text('description').slice(0, 2000)
    draft.objects.groups.set(keyOf(PREFIX, group.text('id')), present({ name, description }))
  }
  for (const monitor of monitors) if (monitor.text('type') !== 'group') addMonitor(draft, monitor, proxies)
  for (const [index, group] of groups.entries()) {
    if (index < MAX_GROUPS) addGroupMonitor(draft, group, monitors)
    else draft.partly('groups', nameOf(group.text('name'), 'Group'), `Only ${MAX_GROUPS} groups get a monitor.`)
  }
  const configs = notifications.flatMap((notification) => addChannel(draft, notification, monitors) ?? [])
  return { draft, configs }
}

function addMonitor(draft: Draft, monitor: Fields, proxies: readonly Fields[]): void {
  const id = monitor.text('id')
  const name = nameOf(monitor.text('name'), `Monitor ${id}`)
  const reason = refusalOf(monitor)
  const options = reason === null ? optionsOf(draft, name, monitor, proxies) : null
  if (options === null) {
    draft.skip('monitors', name, reason ?? `Allclear has no monitors of kind ${monitor.text('type')}.`, monitor)
    return
  }
  const key = keyOf(PREFIX, id)
  const parent = keyOf(PREFIX, monitor.text('parent'))
  const group = draft.objects.groups.has(parent) ? parent : undefined
  draft.objects.services.set(key, present({ name, group, description: monitor.text('description').slice(0, 2000) }))
  draft.objects.monitors.set(key, { name, service: key, ...settingsOf(monitor), ...options })
  if (monitor.get('active') !== undefined && !monitor.isTrue('active')) draft.pause(key, name)
}

/** Adds a group monitor that is up while all monitors of a group and its subgroups are. */
function addGroupMonitor(draft: Draft, group: Fields, monitors: readonly Fields[]): void {
  const key = keyOf(PREFIX, group.text('id'))
  const name = draft.objects.groups.get(key)?.['name']
  const members = childrenOf(group, monitors).filter((each) => draft.objects.monitors.has(each))
  if (members.length === 0) return
  if (members.length > MAX_GROUP_MEMBERS)
    draft.partly('monitors', String(name), `It includes only its first ${MAX_GROUP_MEMBERS} monitors.`)
  draft.objects.monitors.set(key, present({ name, group: { monitors: members.slice(0, MAX_GROUP_MEMBERS) } }))
  if (group.get('active') !== undefined && !group.isTrue('active')) draft.pause(key, String(name))
}

/** Returns the keys of all monitors in a group and its subgroups, except groups. */
function childrenOf(group: Fields, monitors: readonly Fields[]): string[] {
  const keys: string[] = []
  const seen = new Set<string>()
  const queue = [group.text('id')]
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    if (id === '' || seen.has(id)) continue
    seen.add(id)
    for (const monitor of monitors.filter((each) => each.text('parent') === id)) {
      if (monitor.text('type') === 'group') queue.push(monitor.text('id'))
      else keys.push(keyOf(PREFIX, monitor.text('id')))
    }
  }
  return keys
}

function refusalOf(monitor: Fields): string | null {
  if (monitor.text('id') === '') return 'It has no id.'
  if (monitor.isTrue('upsideDown') && monitor.text('type') === 'push')
    return 'It is inverted (“upside down”), which heartbeats do not support.'
  const method = monitor.text('authMethod')
  if (!['', 'null', 'basic', 'oauth2-cc', 'mtls'].includes(method)) return `Signing in by ${method} is not supported.`
  return null
}

function settingsOf(monitor: Fields): ObjectFields {
  const interval = within(1, 86_400, monitor.number('interval') ?? 60)
  if (monitor.text('type') === 'push') return { intervalSeconds: interval }
  const seconds = monitor.number('timeout') || interval * 0.8
  return {
    intervalSeconds: interval,
    timeoutMs: within(500, Math.min(30_000, interval * 1000), seconds * 1000),
    failureThreshold: within(1, 10, (monitor.number('maxretries') ?? 0) + 1),
  }
}

/** Returns the options of a monitor, under the field of its kind. Null if the kind is not supported. */
function optionsOf(draft: Draft, name: string, monitor: Fields, proxies: readonly Fields[]): ObjectFields | null {
  const host = monitor.text('hostname')
  switch (monitor.text('type')) {
    case 'http':
      return { http: httpOptions(draft, name, monitor, proxies) }
    case 'keyword': {
      const keyword = present({ text: monitor.text('keyword'), absent: monitor.isTrue('invertKeyword') || undefined })
      return { http: { ...httpOptions(draft, name, monitor, proxies), keyword } }
    }
    case 'json-query':
      return { http: { ...httpOptions(draft, name, monitor, proxies), ...jsonOptions(draft, name, monitor) } }
    case 'port':
      return { tcp: present({ host, port: monitor.number('port'), inverted: invertedOf(monitor) }) }
    case 'ping':
      return { ping: { ...pingOptions(monitor), host } }
    case 'dns': {
      const port = monitor.number('port') ?? 53
      const [server = ''] = monitor.text('dns_resolve_server').split(',')
      const address = server.trim()
      const resolver =
        address === '' || port === 53 ? address : `${address.includes(':') ? `[${address}]` : address}:${port}`
      return {
        dns: present({
          ...recordsOf(draft, name, monitor),
          name: host,
          recordType: monitor.text('dns_resolve_type'),
          resolver,
          inverted: invertedOf(monitor),
        }),
      }
    }
    case 'push':
      draft.partly('monitors', name, 'It gets a new address. Change the job to report there.')
      return { heartbeat: {} }
    default:
      return serverOptions(draft, name, monitor)
  }
}

/** Returns the expected record of a DNS monitor of version 2: that of a single condition on an equal record. */
function recordsOf(draft: Draft, name: string, monitor: Fields): ObjectFields {
  const conditions = conditionsOf(monitor)
  const [condition, ...others] = conditions
  if (condition === undefined) return {}
  const expected = condition.text('value')
  const isEqual = condition.text('variable') === 'record' && condition.text('operator') === 'equals'
  if (others.length === 0 && isEqual && expected !== '') return { expected: [expected], match: 'CONTAINS' }
  for (const each of conditions) each.settle()
  draft.partly('monitors', name, 'It is probed without its conditions.')
  return {}
}

function pingOptions(monitor: Fields): ObjectFields {
  const size = monitor.number('packetSize')
  const count = monitor.number('ping_count')
  return present({
    count: count === undefined ? undefined : within(1, 5, count),
    packetSize: size === undefined || size === 56 ? undefined : within(16, 8972, size),
    ipVersion: ownValue({ ipv4: 4, ipv6: 6 }, monitor.text('ipFamily')),
    inverted: invertedOf(monitor),
  })
}

function httpOptions(draft: Draft, name: string, monitor: Fields, proxies: readonly Fields[]): ObjectFields {
  const method = monitor.text('method').toUpperCase() || 'GET'
  const body = /^(?:GET|HEAD|OPTIONS)$/.test(method) ? '' : monitor.text('body')
  const headers = headersOf(draft, name, monitor)
  const has = (wanted: string) => headers.some((each) => each.name.toLowerCase() === wanted)
  const user = monitor.text('basic_auth_user')
  if (monitor.text('authMethod') === 'basic' && !has('authorization')) {
    const credentials = Buffer.from(`${user}:${monitor.text('basic_auth_pass')}`).toString('base64')
    headers.push({ name: 'Authorization', value: `Basic ${credentials}` })
  }
  const type = ownValue(contentTypes, monitor.text('httpBodyEncoding') || 'json')
  if (body !== '' && type !== undefined && !has('content-type')) headers.push({ name: 'Content-Type', value: type })
  const expectedStatus = monitor.list('accepted_statuscodes').filter((each) => typeof each === 'string')
  return present({
    url: monitor.text('url'),
    method: method === 'GET' ? undefined : method,
    headers: headers.length > 0 ? headers : undefined,
    body,
    expectedStatus: expectedStatus.length > 0 ? expectedStatus : undefined,
    maxRedirects:
      monitor.get('maxredirects') === undefined ? undefined : within(0, 10, monitor.number('maxredirects') ?? 5),
    verifyCertificate: monitor.isTrue('ignoreTls') ? false : undefined,
    ipVersion: ownValue({ ipv4: 4, ipv6: 6 }, monitor.text('ipFamily')),
    inverted: invertedOf(monitor),
    proxy: proxyOf(draft, name, monitor, proxies),
    ...signInOf(draft, name, monitor),
  })
}

const proxyProtocols: Readonly<Record<string, string | undefined>> = {
  http: 'http',
  https: 'https',
  socks: 'socks5',
  socks5: 'socks5',
  socks5h: 'socks5',
}

/** Returns the proxy of a monitor. Undefined if it has no active proxy, or an unsupported one. */
function proxyOf(draft: Draft, name: string, monitor: Fields, proxies: readonly Fields[]): ObjectFields | undefined {
  const id = monitor.text('proxyId')
  if (id === '') return undefined
  const proxy = proxies.find((each) => each.text('id') === id)
  if (proxy && !proxy.isTrue('active')) return undefined
  const protocol = ownValue(proxyProtocols, proxy?.text('protocol').toLowerCase() ?? '')
  if (proxy === undefined || protocol === undefined) {
    draft.partly('monitors', name, 'It is probed directly, without its proxy.')
    return undefined
  }
  const host = proxy.text('host')
  const isSignedIn = proxy.isTrue('auth') && proxy.text('username') !== ''
  return present({
    url: `${protocol}://${host.includes(':') ? `[${host}]` : host}:${proxy.text('port')}`,
    ...(isSignedIn && { username: proxy.text('username'), password: proxy.text('password') }),
  })
}

/** Returns the client certificate or OAuth client of a monitor. */
function signInOf(draft: Draft, name: string, monitor: Fields): ObjectFields {
  const method = monitor.text('authMethod')
  if (method === 'mtls') {
    if (monitor.text('tlsCa') !== '') draft.partly('monitors', name, 'Its own certificate authority is not imported.')
    return { clientCertificate: { certificate: monitor.text('tlsCert'), key: monitor.text('tlsKey') } }
  }
  if (method !== 'oauth2-cc') return {}
  const isPost = monitor.text('oauth_auth_method') === 'client_secret_post'
  return {
    oauth: present({
      tokenUrl: monitor.text('oauth_token_url'),
      clientId: monitor.text('oauth_client_id'),
      clientSecret: monitor.text('oauth_client_secret'),
      scope: monitor.text('oauth_scopes'),
      audience: monitor.text('oauth_audience'),
      authentication: isPost ? 'POST' : undefined,
    }),
  }
}

const contentTypes: Readonly<Record<string, string | undefined>> = {
  json: 'application/json',
  xml: 'text/xml; charset=utf-8',
  form: 'application/x-www-form-urlencoded',
}

function headersOf(draft: Draft, name: string, monitor: Fields): { name: string; value: string }[] {
  const text = monitor.text('headers')
  if (text === '') return []
  try {
    return readJsonObject(text)
      .entries()
      .map(([header, value]) => ({ name: header, value: String(value) }))
  } catch {
    draft.partly('monitors', name, 'Its headers are not a JSON object and are not imported.')
    return []
  }
}

/** Returns the JSON assertion of a monitor. Kuma’s paths are JSONata, of which only plain field paths are supported. */
function jsonOptions(draft: Draft, name: string, monitor: Fields): ObjectFields {
  const path = monitor.text('jsonPath').replace(/^\$\.?/, '')
  const operator = monitor.text('jsonPathOperator') || '=='
  const compared = comparisonOf(operator, monitor.text('expectedValue'))
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*$/.test(path) || compared === null) {
    draft.partly(
      'monitors',
      name,
      `It is probed without its JSON query ${path} ${operator} ${monitor.text('expectedValue')}.`,
    )
    return {}
  }
  return { json: { path: `$.${path}`, ...compared } }
}

/** Converts a comparison to the fields of an assertion. Null if it is not supported. */
function comparisonOf(operator: string, expected: string): ObjectFields | null {
  if (operator === '==') return { equals: jsonValue(expected) }
  if (operator === '!=') return { notEquals: jsonValue(expected) }
  if (operator === 'contains') return { matches: expected.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') }
  const name = comparisons.get(operator)
  const limit = jsonValue(expected)
  return name === undefined || typeof limit !== 'number' ? null : { [name]: limit }
}

const comparisons = new Map([
  ['<', 'lessThan'],
  ['<=', 'atMost'],
  ['>', 'greaterThan'],
  ['>=', 'atLeast'],
])

/** Interprets a text as a boolean, number or string. */
function jsonValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) ? Number(text) : text
}

/** Adds a channel. Returns its settings, or null if it is not imported. */
function addChannel(draft: Draft, notification: Fields, monitors: readonly Fields[]): Fields | null {
  const id = notification.text('id')
  const name = nameOf(notification.text('name'), `Notification ${id}`)
  const used = monitors
    .filter((each) => each.fields('notificationIDList').isTrue(id))
    .map((each) => keyOf(PREFIX, each.text('id')))
    .filter((key) => draft.objects.monitors.has(key))
  // A channel without monitors would get the alerts of all monitors.
  if (used.length === 0) {
    draft.skip('channels', name, 'None of the imported monitors uses it.', notification)
    return null
  }
  const config = configOf(notification)
  const type = config.text('type')
  const address = ownValue(addresses, type)?.(config)
  const refusal =
    address === undefined ? `Allclear has no channels of kind ${type || 'unknown'}.` : refusalOfChannel(type, config)
  if (address === undefined || refusal !== null) {
    draft.skip('channels', name, refusal ?? '', notification)
    return null
  }
  if (type === 'webhook') draft.partly('channels', name, 'Its receiver gets JSON in another format, with a signature.')
  draft.objects.channels.set(keyOf(PREFIX, id), { name, monitors: used, when: ['DOWN', 'UP'], ...address })
  return config
}

/** Returns why a channel must not be imported: its messages, and so its secret, would go to another server than there. */
function refusalOfChannel(type: string, config: Fields): string | null {
  if (type === 'telegram' && !isTelegram(config.text('telegramServerUrl')))
    return 'It sends to a server of its own, but Allclear only to api.telegram.org.'
  if (type === 'PagerDuty' && !isPagerDuty(config.text('pagerdutyIntegrationUrl')))
    return 'It sends to another server than events.pagerduty.com, which is not supported.'
  return null
}

function configOf(notification: Fields): Fields {
  try {
    return readJsonObject(notification.text('config'))
  } catch {
    return notification.fields('config')
  }
}

const server = (url: string) => url.replace(/(?<!\/)\/+$/, '')

/** Returns the address of a channel from the settings of its notification type. */
const addresses: Readonly<Record<string, (config: Fields) => ObjectFields>> = {
  smtp: (config) => ({ mail: { address: config.text('smtpTo') } }),
  webhook: (config) => ({ webhook: { url: config.text('webhookURL') } }),
  slack: (config) => ({ slack: { url: config.text('slackwebhookURL') } }),
  discord: (config) => ({ discord: { url: config.text('discordWebhookUrl') } }),
  teams: (config) => ({ teams: { url: config.text('webhookUrl') } }),
  telegram: (config) => ({
    telegram: { botToken: config.text('telegramBotToken'), chatId: config.text('telegramChatID') },
  }),
  ntfy: (config) => ({
    ntfy: present({
      server: server(config.text('ntfyserverurl')),
      topic: config.text('ntfytopic'),
      token: config.text('ntfyaccesstoken'),
    }),
  }),
  gotify: (config) => ({
    gotify: { server: server(config.text('gotifyserverurl')), token: config.text('gotifyapplicationToken') },
  }),
  pushover: (config) => ({
    pushover: present({
      token: config.text('pushoverapptoken'),
      user: config.text('pushoveruserkey'),
      device: config.text('pushoverdevice'),
    }),
  }),
  PagerDuty: (config) => ({ pagerduty: { routingKey: config.text('pagerdutyIntegrationKey') } }),
  Opsgenie: (config) => ({
    opsgenie: { apiKey: config.text('opsgenieApiKey'), region: config.text('opsgenieRegion') === 'eu' ? 'EU' : 'US' },
  }),
  mattermost: (config) => ({ mattermost: { url: config.text('mattermostWebhookUrl') } }),
  matrix: (config) => ({
    matrix: {
      server: server(config.text('homeserverUrl')),
      roomId: config.text('internalRoomId'),
      accessToken: config.text('accessToken'),
    },
  }),
}
