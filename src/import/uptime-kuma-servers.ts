import type { Members } from '../configuration/format.ts'
import { parseUrl } from '../core/url.ts'
import { type Draft, type Fields, present, readJsonObject } from './translation.ts'

/** Returns whether a monitor of Uptime Kuma is upside down. */
export const invertedOf = (monitor: Fields): true | undefined => (monitor.isTrue('upsideDown') ? true : undefined)

/** Returns the options of a server that Uptime Kuma knows by a connection string or a host; null: there is no such kind. */
export function serverOptions(draft: Draft, name: string, monitor: Fields): Members | null {
  const type = monitor.text('type')
  if (type === 'mqtt') return { mqtt: mqtt(draft, name, monitor) }
  if (type === 'mongodb') return mongodb(draft, name, monitor)
  if (type === 'grpc-keyword') return grpc(draft, name, monitor)
  const text = monitor.text(type === 'websocket-upgrade' ? 'url' : 'databaseConnectionString')
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined
  const url = parseUrl(text)
  if (read === undefined || url === null) return null
  return read(url, monitor)
}

function mqtt(draft: Draft, name: string, monitor: Fields): Members {
  const hasQuery = monitor.text('mqttCheckType') === 'json-query'
  if (hasQuery) draft.partly('monitors', name, 'Any message of its topic makes it up, without its query.')
  return present({
    host: monitor.text('hostname').replace(/^\w+:\/\//, ''),
    port: monitor.number('port'),
    username: monitor.text('mqttUsername'),
    password: monitor.text('mqttPassword'),
    topic: monitor.text('mqttTopic'),
    expect: hasQuery ? '' : monitor.text('mqttSuccessMessage'),
    inverted: invertedOf(monitor),
  })
}

/** Kuma signs in and runs any command; here nobody signs in. */
function mongodb(draft: Draft, name: string, monitor: Fields): Members | null {
  // An address of several servers is none of one, and that of a record in the DNS names no server.
  const url = parseUrl(monitor.text('databaseConnectionString'))
  if (url === null || url.protocol !== 'mongodb:') return null
  const command = monitor.text('databaseQuery').replace(/\s/g, '')
  const isPing = command === '' || command === '{"ping":1}'
  if (url.username !== '' || !isPing)
    draft.partly('monitors', name, 'It is up while the server answers hello and ping, without signing in.')
  const tls = ['tls', 'ssl'].some((each) => url.searchParams.get(each) === 'true') ? true : undefined
  return { mongodb: present({ ...addressOf(url, monitor), tls }) }
}

/** Kuma calls any method; here only that of health checks has a monitor. */
function grpc(draft: Draft, name: string, monitor: Fields): Members | null {
  const isHealth = monitor.text('grpcServiceName') === 'Health' && /^check$/i.test(monitor.text('grpcMethod'))
  const url = parseUrl(`grpc://${monitor.text('grpcUrl').replace(/^\w+:\/\//, '')}`)
  if (!isHealth || url === null) return null
  if (!/SERVING/.test(monitor.text('keyword')) || monitor.isTrue('invertKeyword'))
    draft.partly('monitors', name, 'It is up while the service is SERVING, without its keyword.')
  const tls = monitor.isTrue('grpcEnableTls') ? true : undefined
  return { grpc: present({ ...addressOf(url, monitor), tls, service: serviceOf(monitor.text('grpcBody')) }) }
}

function serviceOf(body: string): string {
  try {
    return readJsonObject(body).text('service')
  } catch {
    return ''
  }
}

const addressOf = ({ hostname, port }: URL, monitor: Fields): Members => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? undefined : Number(port),
  inverted: invertedOf(monitor),
})

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const readers: Readonly<Record<string, (url: URL, monitor: Fields) => Members>> = {
  redis: (url, monitor) => ({
    redis: present({
      ...addressOf(url, monitor),
      tls: url.protocol === 'rediss:' ? true : undefined,
      username: decoded(url.username),
      password: decoded(url.password),
    }),
  }),
  postgres: (url, monitor) => ({
    postgresql: present({
      ...addressOf(url, monitor),
      tls: /^(?:require|verify-ca|verify-full)$/.test(url.searchParams.get('sslmode') ?? '') ? true : undefined,
      user: decoded(url.username),
      password: decoded(url.password),
      database: url.pathname.slice(1),
      query: monitor.text('databaseQuery'),
    }),
  }),
  mysql: (url, monitor) => ({
    mysql: present({
      ...addressOf(url, monitor),
      user: decoded(url.username),
      // It keeps a password that is not in the address in the field of another kind.
      password: decoded(url.password) || monitor.text('radiusPassword'),
      database: url.pathname.slice(1),
      query: monitor.text('databaseQuery') || 'SELECT 1',
    }),
  }),
  'websocket-upgrade': (url, monitor) => ({
    websocket: present({
      ...addressOf(url, monitor),
      ...(url.protocol === 'ws:' && { port: Number(url.port) || 80, tls: false }),
      path: url.pathname === '/' && url.search === '' ? '' : `${url.pathname}${url.search}`,
    }),
  }),
}
