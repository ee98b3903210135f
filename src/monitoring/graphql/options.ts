import { builder } from '../../graphql/builder.ts'
import type { ShownOptions } from '../options.ts'
import { shownOptions } from '../options.ts'
import { DnsMatch, DnsRecordType, HttpMethod } from './option-words.ts'

const degradedAbove = {
  nullable: true,
  description: 'An answer that takes longer, in milliseconds, makes it degraded; null: none does.',
} as const

type Http = ShownOptions['HTTP']

const HttpHeader = builder.objectRef<Http['headers'][number]>('HttpHeader').implement({
  description: 'A header that is sent. Its value is secret, and never given back.',
  fields: (t) => ({ name: t.exposeString('name', { description: 'The header’s name.' }) }),
})

const HttpKeyword = builder.objectRef<NonNullable<Http['keyword']>>('HttpKeyword').implement({
  description: 'A text that has to be in an answer.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The text to look for.' }),
    absent: t.exposeBoolean('absent', { description: 'Whether it must not be in it.' }),
  }),
})

const HttpJson = builder.objectRef<NonNullable<Http['json']>>('HttpJson').implement({
  description: 'What has to be in an answer that is JSON.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'A JSONPath that leads to one value.' }),
    equals: t.field({
      type: 'JsonValue',
      nullable: true,
      description: 'What the value has to be; null: anything.',
      resolve: ({ equals }) => equals,
    }),
    absent: t.exposeBoolean('absent', { description: 'Whether there must be no such value.' }),
  }),
})

const HttpOptions = builder.objectRef<Http>('HttpOptions').implement({
  description: 'What an HTTP monitor requests and expects.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The address it requests.' }),
    method: t.expose('method', { type: HttpMethod, description: 'The request method.' }),
    headers: t.expose('headers', { type: [HttpHeader], description: 'The headers it sends.' }),
    hasBody: t.exposeBoolean('hasBody', { description: 'Whether a body is sent. It is secret, and never given back.' }),
    expectedStatus: t.expose('expectedStatus', {
      type: ['StatusRange'],
      description: 'The status codes that count as success.',
    }),
    maxRedirects: t.exposeInt('maxRedirects', { description: 'How many redirects it follows.' }),
    keyword: t.field({
      type: HttpKeyword,
      nullable: true,
      description: 'A text the answer must contain; null: none.',
      resolve: ({ keyword }) => keyword,
    }),
    json: t.field({
      type: HttpJson,
      nullable: true,
      description: 'What a JSON answer must contain; null: anything.',
      resolve: ({ json }) => json,
    }),
    maxBodyBytes: t.exposeInt('maxBodyBytes', { description: 'How much of an answer is searched, in bytes.' }),
    verifyCertificate: t.exposeBoolean('verifyCertificate', {
      description: 'Whether the certificate must be trusted.',
    }),
    certificateDays: t.exposeInt('certificateDays', {
      description: 'The monitor is degraded this many days before the certificate expires; 0: never.',
    }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
    ipVersion: t.exposeInt('ipVersion', { nullable: true, description: '4 or 6; null: whichever connects.' }),
  }),
})

const TcpOptions = builder.objectRef<ShownOptions['TCP']>('TcpOptions').implement({
  description: 'What a TCP monitor connects to and expects.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The host name or address.' }),
    port: t.exposeInt('port', { description: 'The port.' }),
    tls: t.exposeBoolean('tls', { description: 'Whether it speaks TLS.' }),
    verifyCertificate: t.exposeBoolean('verifyCertificate', {
      description: 'Whether the certificate must be trusted.',
    }),
    hasSend: t.exposeBoolean('hasSend', { description: 'Whether a text is sent. It is secret, and never given back.' }),
    expect: t.exposeString('expect', { nullable: true, description: 'What must arrive; null: nothing.' }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
  }),
})

const DnsOptions = builder.objectRef<ShownOptions['DNS']>('DnsOptions').implement({
  description: 'What a DNS monitor asks for and expects.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name to resolve.' }),
    recordType: t.expose('recordType', { type: DnsRecordType, description: 'The record type to ask for.' }),
    expected: t.exposeStringList('expected', { description: 'Empty: any records will do.' }),
    match: t.expose('match', { type: DnsMatch, description: 'How the answer is compared with the expected records.' }),
    resolver: t.exposeString('resolver', { nullable: true, description: 'Null: our own resolvers.' }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
  }),
})

const PingOptions = builder.objectRef<ShownOptions['PING']>('PingOptions').implement({
  description: 'What a ping monitor sends, and where.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The host name or address.' }),
    count: t.exposeInt('count', { description: 'How many packets are sent.' }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
  }),
})

const BlacklistOptions = builder.objectRef<ShownOptions['BLACKLIST']>('BlacklistOptions').implement({
  description: 'What a blacklist monitor watches.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'The IP address or domain.' }),
    acknowledged: t.exposeStringList('acknowledged', { description: 'Ids of lists whose listings do not count.' }),
  }),
})

builder.prismaObjectFields('Monitor', (t) => ({
  http: t.field({
    type: HttpOptions,
    nullable: true,
    description: 'What is watched, and how; null for other kinds, and so for each of them.',
    resolve: (monitor) => optionsOf(monitor, 'HTTP'),
  }),
  tcp: t.field({
    type: TcpOptions,
    nullable: true,
    description: 'The options of a TCP monitor; null for other kinds.',
    resolve: (monitor) => optionsOf(monitor, 'TCP'),
  }),
  dns: t.field({
    type: DnsOptions,
    nullable: true,
    description: 'The options of a DNS monitor; null for other kinds.',
    resolve: (monitor) => optionsOf(monitor, 'DNS'),
  }),
  ping: t.field({
    type: PingOptions,
    nullable: true,
    description: 'The options of a ping monitor; null for other kinds.',
    resolve: (monitor) => optionsOf(monitor, 'PING'),
  }),
  blacklist: t.field({
    type: BlacklistOptions,
    nullable: true,
    description: 'The options of a blacklist monitor; null for other kinds.',
    resolve: (monitor) => optionsOf(monitor, 'BLACKLIST'),
  }),
}))

/** A monitor's options when it is of a kind, else null. */
export function optionsOf<K extends keyof ShownOptions>(
  monitor: Parameters<typeof shownOptions>[0],
  kind: K,
): ShownOptions[K] | null {
  const shown = shownOptions(monitor)
  // The kind says which options these are.
  return shown.kind === kind ? (shown.options as ShownOptions[K]) : null
}
