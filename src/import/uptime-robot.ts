import type { Members } from '../configuration/format.ts'
import {
  Draft,
  Fields,
  keyOf,
  nameOf,
  present,
  readJsonObject,
  type Translation,
  Unreadable,
  within,
} from './translation.ts'

const PREFIX = 'uptimerobot'

/** Translates what UptimeRobot answers to `getMonitors` (API v2) or `/v3/monitors`. @throws Unreadable. */
export function translateUptimeRobot(text: string): Translation {
  const answer = readJsonObject(text)
  const isV3 = Array.isArray(answer.get('data'))
  if (!isV3 && !Array.isArray(answer.get('monitors')))
    throw new Unreadable('This is no list of monitors of UptimeRobot: it has no monitors.')
  const draft = new Draft()
  for (const monitor of answer.list(isV3 ? 'data' : 'monitors')) addMonitor(draft, plain(new Fields(monitor), isV3))
  return { ...draft, hasVariables: false }
}

/** A monitor in the words of one version. */
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
  const options = id === '' || monitor.isPaused ? null : optionsOf(draft, monitor)
  if (options === null) {
    const kind = `Allclear has no monitors of kind ${fields.text('type')}.`
    draft.skip(
      'monitors',
      name,
      id === '' ? 'It has no id.' : monitor.isPaused ? 'It is paused. Resume it first.' : kind,
    )
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
}

function optionsOf(draft: Draft, monitor: Monitor): Members | null {
  const { fields, name, type } = monitor
  const host = fields
    .text('url')
    .replace(/^\w+:\/\//, '')
    .replace(/[/?#].*$/, '')
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
      draft.partly('monitors', name, 'It gets a new address: have the job report there.')
      return { heartbeat: {} }
    default:
      return null
  }
}

/** The ports of version 2’s kinds of port monitors. */
const ports = [undefined, 80, 443, 21, 25, 110, 143]

const portOf = (fields: Fields) => fields.number('port') ?? ports[fields.number('sub_type') ?? 0]

function httpOptions(draft: Draft, monitor: Monitor): Members {
  const { fields, name, method, user, password } = monitor
  const headers = monitor.headers.entries().map(([header, value]) => ({ name: header, value: String(value) }))
  if (user !== '' && !headers.some((each) => each.name.toLowerCase() === 'authorization')) {
    if (password === '') draft.partly('monitors', name, 'It comes without its sign-in: the password is not there.')
    else {
      const credentials = Buffer.from(`${user}:${password}`).toString('base64')
      headers.push({ name: 'Authorization', value: `Basic ${credentials}` })
    }
  }
  if (fields.text('post_value') !== '' || fields.text('postValueData') !== '')
    draft.partly('monitors', name, 'It comes without the body that it sends.')
  const isRead = method === '' || method === 'GET'
  return present({
    url: fields.text('url'),
    method: isRead ? undefined : method,
    headers: headers.length > 0 ? headers : undefined,
    expectedStatus: monitor.statuses.length > 0 ? monitor.statuses : undefined,
  })
}
