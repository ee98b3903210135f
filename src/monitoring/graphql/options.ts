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
  fields: (t) => ({ name: t.exposeString('name') }),
})

const HttpKeyword = builder.objectRef<NonNullable<Http['keyword']>>('HttpKeyword').implement({
  description: 'A text that has to be in an answer.',
  fields: (t) => ({
    text: t.exposeString('text'),
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
  fields: (t) => ({
    url: t.exposeString('url'),
    method: t.expose('method', { type: HttpMethod }),
    headers: t.expose('headers', { type: [HttpHeader] }),
    hasBody: t.exposeBoolean('hasBody', { description: 'Whether a body is sent. It is secret, and never given back.' }),
    expectedStatus: t.expose('expectedStatus', { type: ['StatusRange'] }),
    maxRedirects: t.exposeInt('maxRedirects'),
    keyword: t.field({ type: HttpKeyword, nullable: true, resolve: ({ keyword }) => keyword }),
    json: t.field({ type: HttpJson, nullable: true, resolve: ({ json }) => json }),
    maxBodyBytes: t.exposeInt('maxBodyBytes'),
    verifyCertificate: t.exposeBoolean('verifyCertificate'),
    certificateDays: t.exposeInt('certificateDays'),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
    ipVersion: t.exposeInt('ipVersion', { nullable: true, description: '4 or 6; null: whichever connects.' }),
  }),
})

const TcpOptions = builder.objectRef<ShownOptions['TCP']>('TcpOptions').implement({
  fields: (t) => ({
    host: t.exposeString('host'),
    port: t.exposeInt('port'),
    tls: t.exposeBoolean('tls'),
    verifyCertificate: t.exposeBoolean('verifyCertificate'),
    hasSend: t.exposeBoolean('hasSend', { description: 'Whether a text is sent. It is secret, and never given back.' }),
    expect: t.exposeString('expect', { nullable: true }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
  }),
})

const DnsOptions = builder.objectRef<ShownOptions['DNS']>('DnsOptions').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    recordType: t.expose('recordType', { type: DnsRecordType }),
    expected: t.exposeStringList('expected', { description: 'Empty: any records will do.' }),
    match: t.expose('match', { type: DnsMatch }),
    resolver: t.exposeString('resolver', { nullable: true, description: 'Null: our own resolvers.' }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
  }),
})

const PingOptions = builder.objectRef<ShownOptions['PING']>('PingOptions').implement({
  fields: (t) => ({
    host: t.exposeString('host'),
    count: t.exposeInt('count', { description: 'How many packets are sent.' }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
  }),
})

const BlacklistOptions = builder.objectRef<ShownOptions['BLACKLIST']>('BlacklistOptions').implement({
  fields: (t) => ({
    target: t.exposeString('target'),
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
  tcp: t.field({ type: TcpOptions, nullable: true, resolve: (monitor) => optionsOf(monitor, 'TCP') }),
  dns: t.field({ type: DnsOptions, nullable: true, resolve: (monitor) => optionsOf(monitor, 'DNS') }),
  ping: t.field({ type: PingOptions, nullable: true, resolve: (monitor) => optionsOf(monitor, 'PING') }),
  blacklist: t.field({
    type: BlacklistOptions,
    nullable: true,
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
