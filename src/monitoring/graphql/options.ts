import { brandWithType } from '@pothos/core'
import { hasScope } from '../../core/access.ts'
import type { Monitor as MonitorRow } from '../../generated/prisma/client.ts'
import type { MonitorKind } from '../../generated/prisma/enums.ts'
import { costs, text } from '../../graphql/document/cost.ts'
import { HEARTBEAT_PATH } from '../heartbeat/heartbeat.ts'
import { heartbeatToken } from '../monitor/monitor.ts'
import type { RedactedOptions } from '../monitor/options.ts'
import { redactOptions } from '../monitor/options.ts'
import { builder } from './builder.ts'
import { describedTypes } from './described-kinds.ts'
import { GroupOptions } from './group.ts'
import { DnsMatch, DnsRecordType, HttpMethod, OAuthAuthentication, StartTls } from './option-enums.ts'

const degradedAbove = {
  nullable: true,
  description: 'A slower response, in milliseconds, makes the monitor DEGRADED; null: no limit.',
} as const

const downAbove = {
  nullable: true,
  description: 'A slower response, in milliseconds, makes the monitor DOWN; null: no limit.',
} as const

const inverted = { description: 'Whether it is UP when the probe fails, and DOWN when it succeeds.' } as const

type Http = RedactedOptions['HTTP']

const HttpHeader = builder.objectRef<Http['headers'][number]>('HttpHeader').implement({
  description: 'A request header. Its value is a secret and never returned.',
  fields: (t) => ({ name: t.exposeString('name', { description: 'The header’s name.' }) }),
})

const HttpKeyword = builder.objectRef<NonNullable<Http['keyword']>>('HttpKeyword').implement({
  description: 'A text that the response must contain.',
  fields: (t) => ({
    text: t.exposeString('text', { extensions: text(500), description: 'The text to look for.' }),
    absent: t.exposeBoolean('absent', { description: 'Whether the response must not contain it.' }),
    isRegex: t.exposeBoolean('isRegex', { description: 'Whether the text is a regular expression.' }),
  }),
})

const HttpJson = builder.objectRef<NonNullable<Http['json']>>('HttpJson').implement({
  description: 'What a JSON response must contain.',
  fields: (t) => ({
    path: t.exposeString('path', { extensions: text(200), description: 'A JSONPath to a single value.' }),
    equals: t.field({
      type: 'JsonValue',
      extensions: text(1000),
      nullable: true,
      description: 'The expected value; null: any.',
      resolve: ({ equals }) => equals,
    }),
    notEquals: t.field({
      type: 'JsonValue',
      extensions: text(1000),
      nullable: true,
      description: 'A value that it must not have; null: none.',
      resolve: ({ notEquals }) => notEquals,
    }),
    lessThan: t.exposeFloat('lessThan', {
      nullable: true,
      description: 'A limit that the value must stay below; null: no limit.',
    }),
    atMost: t.exposeFloat('atMost', { nullable: true, description: 'The largest value; null: no limit.' }),
    greaterThan: t.exposeFloat('greaterThan', {
      nullable: true,
      description: 'A limit that the value must exceed; null: no limit.',
    }),
    atLeast: t.exposeFloat('atLeast', { nullable: true, description: 'The smallest value; null: no limit.' }),
    matches: t.exposeString('matches', {
      extensions: text(200),
      nullable: true,
      description: 'A regular expression that must match the value; null: none.',
    }),
    length: t.exposeBoolean('length', { description: 'Whether the length of the value is compared.' }),
    absent: t.exposeBoolean('absent', { description: 'Whether the path must not exist.' }),
  }),
})

const HttpExpectedHeader = builder.objectRef<Http['expectedHeaders'][number]>('HttpExpectedHeader').implement({
  description: 'A header that the response must have.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The header’s name.' }),
    equals: t.exposeString('equals', {
      extensions: text(1000),
      nullable: true,
      description: 'The expected value; null: any.',
    }),
    matches: t.exposeString('matches', {
      extensions: text(200),
      nullable: true,
      description: 'A regular expression that must match the value; null: none.',
    }),
    absent: t.exposeBoolean('absent', { description: 'Whether the response must not have the header.' }),
  }),
})

const HttpClientCertificate = builder
  .objectRef<NonNullable<Http['clientCertificate']>>('HttpClientCertificate')
  .implement({
    description: 'A TLS client certificate. Its key is a secret and never returned.',
    fields: (t) => ({
      certificate: t.exposeString('certificate', { extensions: text(16_384), description: 'The certificate in PEM.' }),
    }),
  })

const HttpOAuth = builder.objectRef<NonNullable<Http['oauth']>>('HttpOAuth').implement({
  description: 'OAuth 2.0 client credentials. The secret and the tokens are never returned.',
  fields: (t) => ({
    tokenUrl: t.exposeString('tokenUrl', { extensions: text(2048), description: 'The token URL.' }),
    clientId: t.exposeString('clientId', { description: 'The client’s id.' }),
    scope: t.exposeString('scope', { nullable: true, description: 'The requested scopes; null: none.' }),
    audience: t.exposeString('audience', { nullable: true, description: 'The requested audience; null: none.' }),
    authentication: t.expose('authentication', {
      type: OAuthAuthentication,
      description: 'How the client authenticates at the token URL.',
    }),
  }),
})

const HttpProxy = builder.objectRef<NonNullable<Http['proxy']>>('HttpProxy').implement({
  description: 'A proxy for requests. Its password is a secret and never returned.',
  fields: (t) => ({
    url: t.exposeString('url', { extensions: text(2048), description: 'The URL of the proxy.' }),
    username: t.exposeString('username', { nullable: true, description: 'The user name; null: none.' }),
  }),
})

const HttpOptions = builder.objectRef<Http>('HttpOptions').implement({
  description: 'The request of an HTTP monitor, and the expected response.',
  fields: (t) => ({
    url: t.exposeString('url', { extensions: text(2048), description: 'The requested URL.' }),
    method: t.expose('method', { type: HttpMethod, description: 'The request method.' }),
    headers: t.expose('headers', {
      type: [HttpHeader],
      extensions: costs({ items: 20 }),
      description: 'The headers it sends.',
    }),
    hasBody: t.exposeBoolean('hasBody', { description: 'Whether a body is sent. It is a secret and never returned.' }),
    expectedStatus: t.expose('expectedStatus', {
      type: ['StatusRange'],
      description: 'The status codes that count as success.',
    }),
    maxRedirects: t.exposeInt('maxRedirects', { description: 'The maximum number of redirects to follow.' }),
    keyword: t.field({
      type: HttpKeyword,
      nullable: true,
      description: 'A text the response must contain; null: none.',
      resolve: ({ keyword }) => keyword,
    }),
    json: t.field({
      type: HttpJson,
      nullable: true,
      description: 'What a JSON response must contain; null: anything.',
      resolve: ({ json }) => json,
    }),
    maxBodyBytes: t.exposeInt('maxBodyBytes', { description: 'The number of bytes of a response to search.' }),
    verifyCertificate: t.exposeBoolean('verifyCertificate', {
      description: 'Whether the certificate must be trusted.',
    }),
    certificateDays: t.exposeInt('certificateDays', {
      nullable: true,
      description:
        'The monitor is degraded this many days before a certificate expires; 0: never; null: 14, or a third of the validity if that is less.',
    }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
    downAboveMs: t.exposeInt('downAboveMs', downAbove),
    inverted: t.exposeBoolean('inverted', inverted),
    ipVersion: t.exposeInt('ipVersion', {
      nullable: true,
      description: 'The IP version, 4 or 6; null: whichever connects.',
    }),
    expectedHeaders: t.expose('expectedHeaders', {
      type: [HttpExpectedHeader],
      extensions: costs({ items: 10 }),
      description: 'Assertions about response headers.',
    }),
    clientCertificate: t.field({
      type: HttpClientCertificate,
      nullable: true,
      description: 'The client certificate; null: none.',
      resolve: ({ clientCertificate }) => clientCertificate,
    }),
    oauth: t.field({
      type: HttpOAuth,
      nullable: true,
      description: 'The OAuth client; null: none.',
      resolve: ({ oauth }) => oauth,
    }),
    proxy: t.field({
      type: HttpProxy,
      nullable: true,
      description: 'The proxy for requests; null: none.',
      resolve: ({ proxy }) => proxy,
    }),
  }),
})

const TcpOptions = builder.objectRef<RedactedOptions['TCP']>('TcpOptions').implement({
  description: 'The target of a TCP monitor, and the expected response.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The host name or address.' }),
    port: t.exposeInt('port', { description: 'The port.' }),
    tls: t.exposeBoolean('tls', { description: 'Whether it uses TLS.' }),
    startTls: t.expose('startTls', {
      type: StartTls,
      nullable: true,
      description: 'The protocol that upgrades the connection to TLS; null: none.',
    }),
    certificateDays: t.exposeInt('certificateDays', {
      nullable: true,
      description:
        'The monitor is degraded this many days before a certificate expires; 0: never; null: 14, or a third of the validity if that is less.',
    }),
    verifyCertificate: t.exposeBoolean('verifyCertificate', {
      description: 'Whether the certificate must be trusted.',
    }),
    hasSend: t.exposeBoolean('hasSend', { description: 'Whether a text is sent. It is a secret and never returned.' }),
    expect: t.exposeString('expect', {
      extensions: text(1000),
      nullable: true,
      description: 'The expected text; null: none.',
    }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
    downAboveMs: t.exposeInt('downAboveMs', downAbove),
    inverted: t.exposeBoolean('inverted', inverted),
  }),
})

const DnsOptions = builder.objectRef<RedactedOptions['DNS']>('DnsOptions').implement({
  description: 'The query of a DNS monitor, and the expected records.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name to resolve.' }),
    recordType: t.expose('recordType', { type: DnsRecordType, description: 'The record type to query.' }),
    expected: t.exposeStringList('expected', {
      extensions: text(20_000),
      description: 'The expected records; empty: any.',
    }),
    match: t.expose('match', {
      type: DnsMatch,
      description: 'How the response is compared with the expected records.',
    }),
    resolver: t.exposeString('resolver', {
      nullable: true,
      description: 'The resolver to query; null: our own resolvers.',
    }),
    certificateDays: t.exposeInt('certificateDays', {
      nullable: true,
      description:
        'The monitor is degraded this many days before the certificate of its resolver expires; 0: never; null: 14, or a third of the validity if that is less.',
    }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
    downAboveMs: t.exposeInt('downAboveMs', downAbove),
    inverted: t.exposeBoolean('inverted', inverted),
  }),
})

const PingOptions = builder.objectRef<RedactedOptions['PING']>('PingOptions').implement({
  description: 'The target and the packets of a ping monitor.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'The host name or address.' }),
    count: t.exposeInt('count', { description: 'The number of packets to send.' }),
    packetSize: t.exposeInt('packetSize', { description: 'The bytes of data per packet.' }),
    ipVersion: t.exposeInt('ipVersion', {
      nullable: true,
      description: 'The IP version, 4 or 6; null: whichever has a route.',
    }),
    degradedAboveMs: t.exposeInt('degradedAboveMs', degradedAbove),
    downAboveMs: t.exposeInt('downAboveMs', downAbove),
    inverted: t.exposeBoolean('inverted', inverted),
  }),
})

const BlacklistOptions = builder.objectRef<RedactedOptions['BLACKLIST']>('BlacklistOptions').implement({
  description: 'The target of a blacklist monitor.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'The IP address or domain.' }),
    acknowledged: t.exposeStringList('acknowledged', { description: 'Ids of blacklists whose listings are ignored.' }),
  }),
})

const HeartbeatOptions = builder.objectRef<MonitorRow>('HeartbeatOptions').implement({
  description: 'How a job reports.',
  fields: (t) => ({
    graceSeconds: t.int({
      description: 'How late the job may report after its interval or its scheduled time, in seconds.',
      resolve: (monitor) => optionsOf(monitor, 'HEARTBEAT')?.graceSeconds ?? 0,
    }),
    schedule: t.string({
      nullable: true,
      description: 'When the job runs, as a cron expression, instead of the interval; null: at the interval.',
      resolve: (monitor) => optionsOf(monitor, 'HEARTBEAT')?.schedule ?? null,
    }),
    timeZone: t.string({
      nullable: true,
      description: 'The time zone of the schedule; null: UTC.',
      resolve: (monitor) => optionsOf(monitor, 'HEARTBEAT')?.timeZone ?? null,
    }),
    maxRunSeconds: t.int({
      nullable: true,
      description: 'The time limit of the job after its start, in seconds; null: no limit.',
      resolve: (monitor) => optionsOf(monitor, 'HEARTBEAT')?.maxRunSeconds ?? null,
    }),
    url: t.string({
      nullable: true,
      description:
        'The URL that the job calls when it succeeds; append /start, /fail or its exit code to report more. A secret: null unless your key has scope WRITE.',
      resolve: (monitor, _args, { actor, seal, site }) => {
        const token = heartbeatToken(seal, monitor)
        const isShown = hasScope(actor, monitor.organizationId, 'WRITE')
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
  GROUP: GroupOptions,
  ...describedTypes,
} as const satisfies Record<MonitorKind, unknown>

const MonitorOptions = builder.unionType('MonitorOptions', {
  description: 'The options of a monitor, by its kind.',
  types: Object.values(typeOfKind),
})

builder.prismaObjectField('Monitor', 'options', (t) =>
  t.field({
    type: MonitorOptions,
    description: 'Its target and settings. Secrets are never returned.',
    resolve: (monitor) => {
      const shown = redactOptions(monitor)
      const isWhole = shown.kind === 'HEARTBEAT' || shown.kind === 'GROUP'
      const options = isWhole ? { ...monitor } : { ...shown.options }
      brandWithType(options, typeOfKind[shown.kind])
      return options
    },
  }),
)

/** Returns a monitor's options if it is of this kind; null: it is of another kind. */
function optionsOf<K extends keyof RedactedOptions>(
  monitor: Parameters<typeof redactOptions>[0],
  kind: K,
): RedactedOptions[K] | null {
  const shown = redactOptions(monitor)
  // TypeScript cannot see that the kind decides the type of the options.
  return shown.kind === kind ? (shown.options as RedactedOptions[K]) : null
}
