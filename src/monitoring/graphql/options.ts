import { brandWithType } from '@pothos/core'
import { includesScope } from '../../account/access.ts'
import type { Monitor as MonitorRow } from '../../generated/prisma/client.ts'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { heartbeatToken } from '../monitor.ts'
import type { ShownOptions } from '../options.ts'
import { shownOptions } from '../options.ts'
import { HEARTBEAT_PATH } from '../rest.ts'
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

const HeartbeatOptions = builder.objectRef<MonitorRow>('HeartbeatOptions').implement({
  description: 'How a job reports.',
  fields: (t) => ({
    graceSeconds: t.int({
      description: 'How much later than its interval the job may report, in seconds.',
      resolve: (monitor) => optionsOf(monitor, 'HEARTBEAT')?.graceSeconds ?? 0,
    }),
    url: t.string({
      nullable: true,
      description:
        'What the job calls when it has succeeded; with /start, /fail or its exit code at the end it says more. A secret: null unless your key has scope WRITE.',
      resolve: (monitor, _args, { actor, seal, site }) => {
        const token = heartbeatToken(seal, monitor)
        const isShown = actor.kind !== 'apiKey' || includesScope(actor.scope, 'WRITE')
        return isShown && token !== null ? `${site.baseUrl}${HEARTBEAT_PATH}/${token}` : null
      },
    }),
  }),
})

const typeOfKind = {
  HTTP: HttpOptions,
  TCP: TcpOptions,
  DNS: DnsOptions,
  PING: PingOptions,
  HEARTBEAT: HeartbeatOptions,
  BLACKLIST: BlacklistOptions,
} as const satisfies Record<MonitorKind, unknown>

const MonitorOptions = builder.unionType('MonitorOptions', {
  description: 'What a monitor watches, and how: the type that belongs to its kind.',
  types: Object.values(typeOfKind),
})

const ofKind = (kind: string) => ({
  nullable: true as const,
  deprecationReason: 'Use `options`.',
  description: `The options of ${kind} monitor; null for other kinds.`,
})

builder.prismaObjectFields('Monitor', (t) => ({
  options: t.field({
    type: MonitorOptions,
    description: 'What it watches, and how. Secrets are never given back.',
    resolve: (monitor) => {
      const shown = shownOptions(monitor)
      const options = shown.kind === 'HEARTBEAT' ? { ...monitor } : { ...shown.options }
      brandWithType(options, typeOfKind[shown.kind])
      return options
    },
  }),
  http: t.field({ type: HttpOptions, ...ofKind('an HTTP'), resolve: (monitor) => optionsOf(monitor, 'HTTP') }),
  tcp: t.field({ type: TcpOptions, ...ofKind('a TCP'), resolve: (monitor) => optionsOf(monitor, 'TCP') }),
  dns: t.field({ type: DnsOptions, ...ofKind('a DNS'), resolve: (monitor) => optionsOf(monitor, 'DNS') }),
  ping: t.field({ type: PingOptions, ...ofKind('a ping'), resolve: (monitor) => optionsOf(monitor, 'PING') }),
  heartbeat: t.field({
    type: HeartbeatOptions,
    ...ofKind('a heartbeat'),
    resolve: (monitor) => (monitor.kind === 'HEARTBEAT' ? monitor : null),
  }),
  blacklist: t.field({
    type: BlacklistOptions,
    ...ofKind('a blacklist'),
    resolve: (monitor) => optionsOf(monitor, 'BLACKLIST'),
  }),
}))

/** A monitor's options when it is of a kind, else null. */
function optionsOf<K extends keyof ShownOptions>(
  monitor: Parameters<typeof shownOptions>[0],
  kind: K,
): ShownOptions[K] | null {
  const shown = shownOptions(monitor)
  // The kind says which options these are.
  return shown.kind === kind ? (shown.options as ShownOptions[K]) : null
}
