import type { ObjectFields } from '../configuration/format.ts'
import { noteUnfetched } from './fetch-notes.ts'
import { Fields } from './fields.ts'
import { type KnownKeys, noLossOf, noteLosses, unless, words } from './losses.ts'
import {
  Draft,
  type Drafted,
  keyOf,
  nameOf,
  present,
  readJson,
  readJsonObject,
  Unreadable,
  within,
} from './translation.ts'
import { addPagesAndWindows } from './uptime-robot-pages.ts'

const PREFIX = 'uptimerobot'

const LOOK = 'The look of pages is not imported.'

/** The keys of a window of version 3. */
const WINDOW = [
  'name',
  'interval',
  'date',
  'time',
  'duration',
  'days',
  'status',
  'autoAddMonitors',
  'userId',
  'created',
]

const known: KnownKeys = {
  // Ids, times, results, and what belongs to another type of monitor or window.
  ...noLossOf(
    words(`
      id stat pagination nextLink create_datetime createDateTime logs response_times average_response_time
      all_time_uptime_ratio custom_uptime_ratio custom_uptime_ranges status currentStateDuration lastIncidentId
      lastIncident userId user_id lastDayUptimes http_method httpMethodType sub_type port keyword_type
      keyword_value keywordType keywordValue post_type post_content_type postValueType timeout url
      http_username http_password httpUsername httpPassword standard_url monitor_url psps.url urlKey start_time
      mwindows.value date time days monitors.alert_contacts.type monitors.alert_contacts.value
      assignedAlertContacts.alertContactId psps.monitors
    `),
  ),
  ...noLossOf(['offset', 'limit', 'total'], 'pagination'),
  ...noLossOf(['type', 'datetime', 'duration', 'reason', 'code', 'detail'], 'logs'),
  ...noLossOf(['code', 'detail'], 'reason'),
  ...noLossOf(['datetime', 'value'], 'response_times'),
  ...noLossOf(['user'], 'mwindows'),
  checkSSLErrors: unless('Its certificate must be trusted here.', true),
  gracePeriod: unless('The grace of its heartbeat is not imported.', 0),
  // Windows and contacts, which monitors repeat.
  ...noLossOf(['user', 'type', 'friendly_name', 'start_time', 'duration', 'value', 'status'], 'monitors.mwindows'),
  ...noLossOf(WINDOW, 'data.maintenanceWindows'),
  ...noLossOf(['user', 'monitorIds', 'autoAddMonitors', 'created', 'userId'], 'maintenance_windows'),
  ...{ keyword_case_type: unless('The case of its keyword counts here.', 0, '0', '') },
  ...{ keywordCaseType: unless('The case of its keyword counts here.', 0, '0', 'CaseSensitive') },
  ...{ http_auth_type: unless('It signs in by basic authentication here.', 0, 1, '0', '1', '') },
  ...{ authType: unless('It signs in by basic authentication here.', 'NONE', 'HTTP_BASIC', 'BASIC') },
  threshold: unless('The delay of its alerts is not imported.', 0, '0'),
  recurrence: unless('Repeated alerts are not imported.', 0, '0'),
  ssl: 'The state of its certificate is not imported. Monitors here watch it anyway.',
  tags: 'Tags are not imported.',
  ...{ sort: LOOK, logo: LOOK, icon: LOOK, customSettings: LOOK },
}

/**
 * Translates the answer of UptimeRobot to `getMonitors` (API v2) or `/v3/monitors`, with optional `mwindows`, `psps` and
 * `alert_contacts`. @throws Unreadable.
 */
export function translateUptimeRobot(text: string): Drafted {
  const answer = readJsonObject(text)
  const isV3 = Array.isArray(answer.get('data'))
  if (!isV3 && !Array.isArray(answer.get('monitors')))
    throw new Unreadable('This isn’t a list of monitors of UptimeRobot: it has no monitors.')
  const draft = new Draft()
  const monitors = answer.list(isV3 ? 'data' : 'monitors').map((each) => new Fields(each))
  for (const monitor of monitors) addMonitor(draft, plain(monitor, isV3))
  addPagesAndWindows(draft, answer, monitors)
  noteUnfetched(draft, answer)
  noteLosses(draft, [answer], known)
  return { ...draft, hasVariables: false }
}

/** A monitor of either version. */
interface Monitor {
  readonly fields: Fields
  readonly name: string
  readonly type: 'http' | 'keyword' | 'ping' | 'port' | 'heartbeat' | 'dns' | null
  readonly isPaused: boolean
  readonly method: string
  readonly user: string
  readonly password: string
  readonly headers: Fields
  readonly keyword: string
  readonly isKeywordAbsent: boolean
  readonly statuses: readonly string[]
}

const types = [null, 'http', 'keyword', 'ping', 'port', 'heartbeat'] as const
const typeNames = {
  HTTP: 'http',
  KEYWORD: 'keyword',
  PING: 'ping',
  PORT: 'port',
  HEARTBEAT: 'heartbeat',
  DNS: 'dns',
} as const
const methods = ['GET', 'HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function plain(fields: Fields, isV3: boolean): Monitor {
  const id = `Monitor ${fields.text('id')}`
  if (!isV3) {
    return {
      ...{ fields, name: nameOf(fields.text('friendly_name'), id), type: types[fields.number('type') ?? 0] ?? null },
      ...{ isPaused: fields.text('status') === '0', method: methods[fields.number('http_method') ?? 0] ?? 'GET' },
      ...{ user: fields.text('http_username'), password: fields.text('http_password') },
      ...{ headers: fields.fields('custom_http_headers'), statuses: [] },
      ...{ keyword: fields.text('keyword_value'), isKeywordAbsent: fields.text('keyword_type') !== '2' },
    }
  }
  const type = fields.text('type').toUpperCase()
  return {
    ...{ fields, name: nameOf(fields.text('friendlyName'), id) },
    type: Object.hasOwn(typeNames, type) ? typeNames[type as keyof typeof typeNames] : null,
    ...{
      isPaused: fields.text('status').toUpperCase() === 'PAUSED',
      method: fields.text('httpMethodType').toUpperCase(),
    },
    ...{ user: fields.text('httpUsername'), password: fields.text('httpPassword') },
    ...{ headers: fields.fields('customHttpHeaders'), keyword: fields.text('keywordValue') },
    isKeywordAbsent: fields.text('keywordType') !== 'ALERT_NOT_EXISTS',
    statuses: fields.list('successHttpResponseCodes').filter((each) => typeof each === 'string'),
  }
}

function addMonitor(draft: Draft, monitor: Monitor): void {
  const { fields, name } = monitor
  const id = fields.text('id')
  const options = id === '' ? null : optionsOf(draft, monitor)
  if (options === null) {
    const kind = `Allclear has no monitors of kind ${fields.text('type')}.`
    draft.skip('monitors', name, id === '' ? 'It has no id.' : kind, fields)
    return
  }
  const key = keyOf(PREFIX, id)
  const interval = within(1, 86_400, fields.number('interval') ?? 300)
  const timeout = { timeoutMs: within(500, Math.min(30_000, interval * 1000), (fields.number('timeout') ?? 30) * 1000) }
  draft.objects.services.set(key, { name })
  draft.objects.monitors.set(key, {
    ...{ name, service: key, intervalSeconds: interval },
    ...(monitor.type === 'heartbeat' ? {} : timeout),
    ...options,
  })
  if (monitor.isPaused) draft.pause(key, name)
}

function optionsOf(draft: Draft, monitor: Monitor): ObjectFields | null {
  const { fields, name, type } = monitor
  const host = fields
    .text('url')
    .replace(/^\w+:\/\//, '')
    .replace(/[/?#].*/s, '')
  switch (type) {
    case 'http':
      return { http: httpOptions(draft, monitor) }
    case 'keyword':
      return {
        http: {
          ...httpOptions(draft, monitor),
          keyword: present({ text: monitor.keyword, absent: monitor.isKeywordAbsent || undefined }),
        },
      }
    case 'ping':
      return { ping: { host } }
    case 'port':
      return { tcp: present({ host, port: portOf(fields) }) }
    case 'heartbeat':
      draft.partly('monitors', name, 'It gets a new address. Change the job to report there.')
      return { heartbeat: {} }
    default:
      return null
  }
}

/** The ports of the port monitor subtypes in version 2. */
const ports = [undefined, 80, 443, 21, 25, 110, 143]

const portOf = (fields: Fields) => fields.number('port') ?? ports[fields.number('sub_type') ?? 0]

function httpOptions(draft: Draft, monitor: Monitor): ObjectFields {
  const { fields, name, method, user, password } = monitor
  const headers = monitor.headers.entries().map(([header, value]) => ({ name: header, value: String(value) }))
  if (user !== '' && !headers.some((each) => each.name.toLowerCase() === 'authorization')) {
    if (password === '') draft.partly('monitors', name, 'Its sign-in is not imported, because the password is missing.')
    else {
      const credentials = Buffer.from(`${user}:${password}`).toString('base64')
      headers.push({ name: 'Authorization', value: `Basic ${credentials}` })
    }
  }
  const isRead = method === '' || method === 'GET'
  const body = /^(?:|GET|HEAD|OPTIONS)$/.test(method) ? null : bodyOf(fields)
  if (body !== null && !headers.some((each) => each.name.toLowerCase() === 'content-type'))
    headers.push({ name: 'Content-Type', value: body.type })
  return present({
    url: fields.text('url'),
    method: isRead ? undefined : method,
    headers: headers.length > 0 ? headers : undefined,
    body: body?.text,
    expectedStatus: monitor.statuses.length > 0 ? monitor.statuses : undefined,
    maxRedirects: fields.isFalse('followRedirections') ? 0 : undefined,
  })
}

/** Returns the request body of a monitor: raw, or fields sent as a form (`post_type` 1). Null if there is none. */
function bodyOf(fields: Fields): { readonly text: string; readonly type: string } | null {
  for (const name of ['post_value', 'postValueData']) fields.settleField(name)
  const value = fields.get('post_value') ?? fields.get('postValueData')
  const entries = new Fields(typeof value === 'string' ? parsed(value) : value).entries()
  const isForm = fields.text('post_type') === '1' || fields.text('postValueType').toUpperCase() === 'KEY_VALUE'
  if (isForm && entries.length > 0) {
    const pairs = entries.map(([name, entry]) => [name, String(entry)])
    return { text: new URLSearchParams(pairs).toString(), type: 'application/x-www-form-urlencoded' }
  }
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  if (text === '' || text === '[]' || text === '{}') return null
  const isPlain = fields.text('post_content_type') === '0'
  return { text, type: isPlain ? 'text/html' : 'application/json' }
}

function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return null
  }
}
