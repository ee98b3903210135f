import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { parseUrl } from '../core/url.ts'
import { Fields } from './fields.ts'
import { type Draft, present, readJsonObject } from './translation.ts'

/** Returns whether a monitor is inverted (“upside down” in Uptime Kuma). */
export const invertedOf = (monitor: Fields): true | undefined => (monitor.isTrue('upsideDown') ? true : undefined)

/** Returns the conditions of a monitor of version 2. A group of conditions counts as one. */
export const conditionsOf = (monitor: Fields): Fields[] => monitor.list('conditions').map((each) => new Fields(each))

/** Returns the options of a server monitor, from its connection string or host. Null if the kind is not supported. */
export function serverOptions(draft: Draft, name: string, monitor: Fields): ObjectFields | null {
  const type = monitor.text('type')
  if (type === 'mqtt') return { mqtt: mqtt(draft, name, monitor) }
  if (type === 'mongodb') return mongodb(draft, name, monitor)
  if (type === 'grpc-keyword') return grpc(draft, name, monitor)
  const text = monitor.text(type === 'websocket-upgrade' ? 'url' : 'databaseConnectionString')
  const read = ownValue(readers, type)
  const url = parseUrl(text)
  if (read === undefined || url === null) return null
  return read(url, monitor)
}

function mqtt(draft: Draft, name: string, monitor: Fields): ObjectFields {
  const conditions = conditionsOf(monitor)
  const [condition] = conditions
  const isText = condition?.text('variable') === 'message' && /^(?:contains|equals)$/.test(condition.text('operator'))
  const text = conditions.length === 1 && isText ? condition?.text('value') : undefined
  if (text !== undefined && condition?.text('operator') === 'equals')
    draft.partly('monitors', name, 'A message that contains the expected text counts as up, even if it is longer.')
  if (text === undefined) for (const each of conditions) each.settle()
  const hasQuery = monitor.text('mqttCheckType') === 'json-query' || (conditions.length > 0 && text === undefined)
  if (hasQuery)
    draft.partly(
      'monitors',
      name,
      'Any message on its topic counts as up, because its query or conditions are not imported.',
    )
  return present({
    host: monitor.text('hostname').replace(/^\w+:\/\//, ''),
    port: monitor.number('port'),
    username: monitor.text('mqttUsername'),
    password: monitor.text('mqttPassword'),
    topic: monitor.text('mqttTopic'),
    expect: hasQuery ? '' : (text ?? monitor.text('mqttSuccessMessage')),
    inverted: invertedOf(monitor),
  })
}

/** Returns the options of a MongoDB monitor. Kuma can also compare the result of the command, which is not supported here. */
function mongodb(draft: Draft, name: string, monitor: Fields): ObjectFields | null {
  // Reject addresses of clusters and SRV records.
  const url = parseUrl(monitor.text('databaseConnectionString'))
  if (url === null || url.protocol !== 'mongodb:') return null
  if (monitor.text('jsonPath') !== '' && monitor.text('expectedValue') !== '')
    draft.partly('monitors', name, 'It is up if its command succeeds, regardless of the result.')
  const { searchParams, username, password } = url
  const database = url.pathname.slice(1)
  const command = monitor.text('databaseQuery')
  return {
    mongodb: present({
      ...addressOf(url, monitor),
      tls: ['tls', 'ssl'].some((each) => searchParams.get(each) === 'true') ? true : undefined,
      ...(username !== '' &&
        password !== '' && {
          user: decoded(username),
          password: decoded(password),
          authDatabase: searchParams.get('authSource') || database || undefined,
        }),
      database: database || undefined,
      command: /^\{\s*"ping"\s*:\s*1\s*\}$/.test(command) ? undefined : command,
    }),
  }
}

/** Returns the options of a gRPC monitor. Kuma can call any method; monitors here call the health check. */
function grpc(draft: Draft, name: string, monitor: Fields): ObjectFields | null {
  const isHealth = monitor.text('grpcServiceName') === 'Health' && /^check$/i.test(monitor.text('grpcMethod'))
  const url = parseUrl(`grpc://${monitor.text('grpcUrl').replace(/^\w+:\/\//, '')}`)
  if (!isHealth || url === null) return null
  if (!/SERVING/.test(monitor.text('keyword')) || monitor.isTrue('invertKeyword'))
    draft.partly('monitors', name, 'It is up while the service is SERVING, because its keyword is not imported.')
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

const addressOf = ({ hostname, port }: URL, monitor: Fields): ObjectFields => ({
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

/** Returns TLS options. Kuma's `ssl` is the name of a profile, or options as JSON. */
const mysqlTls = (ssl: string): ObjectFields => ({
  tls: ssl === '' || ssl === 'false' ? undefined : true,
  verifyCertificate: /"rejectUnauthorized"\s*:\s*false/.test(ssl) ? false : undefined,
})

const readers: Readonly<Record<string, (url: URL, monitor: Fields) => ObjectFields>> = {
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
      ...mysqlTls(url.searchParams.get('ssl') ?? ''),
      user: decoded(url.username),
      // Kuma stores a password that is not in the address in a field of another kind.
      password: decoded(url.password) || monitor.text('radiusPassword'),
      database: url.pathname.slice(1),
      query: monitor.text('databaseQuery') || 'SELECT 1',
    }),
  }),
  'websocket-upgrade': (url, monitor) => ({
    websocket: present({
      ...addressOf(url, monitor),
      ...(url.protocol === 'ws:' && { port: Number(url.port) || 80, tls: false }),
      subprotocol: monitor.text('wsSubprotocol'),
      path: url.pathname === '/' && url.search === '' ? '' : `${url.pathname}${url.search}`,
    }),
  }),
}
