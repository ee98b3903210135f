import { certificateDaysWords } from '../probe/certificate-expiry.ts'
import { builder } from './builder.ts'
import { DnsMatch, DnsRecordType, GroupRequirement, HttpMethod, OAuthAuthentication, StartTls } from './option-enums.ts'

const degradedAboveMs = {
  required: false,
  description: 'A slower response makes the monitor DEGRADED. Default: no limit.',
} as const

const downAboveMs = {
  required: false,
  description: 'A slower response makes the monitor DOWN. Default: no limit.',
} as const

const inverted = {
  required: false,
  description: 'True: it is UP when the probe fails, and DOWN when it succeeds. Default: false.',
} as const

const keptUnless = (changes: string) => `Null keeps the current one. If ${changes} changes, send it again.`
const keptByUrl = keptUnless('the scheme, host or port of the URL')

const HttpHeaderInput = builder.inputType('HttpHeaderInput', {
  description: 'A request header.',
  fields: (t) => ({
    name: t.string({ description: 'The header’s name.' }),
    value: t.string({
      required: false,
      description: `A secret, which is not sent to other hosts after a redirect. ${keptByUrl}`,
    }),
  }),
})

const HttpKeywordInput = builder.inputType('HttpKeywordInput', {
  description: 'A text that the response must contain.',
  fields: (t) => ({
    text: t.string({ description: 'The text to look for, or a regular expression.' }),
    absent: t.boolean({ required: false, description: 'True: the response must not contain it.' }),
    isRegex: t.boolean({
      required: false,
      description: 'True: the text is a regular expression in the syntax of RE2, at most 200 characters.',
    }),
  }),
})

const HttpJsonInput = builder.inputType('HttpJsonInput', {
  description: 'An assertion about a JSON response.',
  fields: (t) => ({
    path: t.string({ description: 'A JSONPath to a single value, such as $.checks[0].status.' }),
    equals: t.field({ type: 'JsonValue', required: false, description: 'The expected value. Default: any.' }),
    notEquals: t.field({ type: 'JsonValue', required: false, description: 'A value that it must not have.' }),
    lessThan: t.float({ required: false, description: 'A limit that the value must stay below.' }),
    atMost: t.float({ required: false, description: 'The largest allowed value.' }),
    greaterThan: t.float({ required: false, description: 'A limit that the value must exceed.' }),
    atLeast: t.float({ required: false, description: 'The smallest allowed value.' }),
    matches: t.string({ required: false, description: 'A regular expression (RE2) that must match the value.' }),
    length: t.boolean({
      required: false,
      description: 'True: compares the length of the value: characters, items or members.',
    }),
    absent: t.boolean({ required: false, description: 'True: the path must not exist.' }),
  }),
})

const HttpExpectedHeaderInput = builder.inputType('HttpExpectedHeaderInput', {
  description: 'A header that the response must have.',
  fields: (t) => ({
    name: t.string({ description: 'The header’s name.' }),
    equals: t.string({ required: false, description: 'The expected value. Default: any.' }),
    matches: t.string({ required: false, description: 'A regular expression (RE2) that must match the value.' }),
    absent: t.boolean({ required: false, description: 'True: the response must not have the header.' }),
  }),
})

const HttpClientCertificateInput = builder.inputType('HttpClientCertificateInput', {
  description: 'A TLS client certificate.',
  fields: (t) => ({
    certificate: t.string({ description: 'The certificate in PEM, followed by those of its authorities if needed.' }),
    key: t.string({
      required: false,
      description: `A secret: its private key in PEM, without a passphrase. ${keptByUrl}`,
    }),
  }),
})

const HttpOAuthInput = builder.inputType('HttpOAuthInput', {
  description: 'OAuth 2.0 client credentials. The monitor gets access tokens with them.',
  fields: (t) => ({
    tokenUrl: t.string({ description: 'The token URL: https:// without a port, or on the host of the URL.' }),
    clientId: t.string({ description: 'The client’s id.' }),
    clientSecret: t.string({
      required: false,
      description: `A secret. ${keptUnless('the scheme, host or port of either URL')}`,
    }),
    scope: t.string({ required: false, description: 'The scopes to request, separated by spaces.' }),
    audience: t.string({ required: false, description: 'The audience to request.' }),
    authentication: t.field({
      type: OAuthAuthentication,
      required: false,
      description: 'How the client authenticates. Default: BASIC.',
    }),
  }),
})

const HttpProxyInput = builder.inputType('HttpProxyInput', {
  description: 'A proxy for requests.',
  fields: (t) => ({
    url: t.string({ description: 'An http://, https:// or socks5:// URL without credentials.' }),
    username: t.string({ required: false, description: 'The user name for the proxy.' }),
    password: t.string({
      required: false,
      description: `A secret. ${keptUnless('the scheme, host or port of the proxy or of the URL')}`,
    }),
  }),
})

const HttpOptionsInput = builder.inputType('HttpOptionsInput', {
  description: 'The request of an HTTP monitor, and the expected response.',
  fields: (t) => ({
    url: t.string({ description: 'An http:// or https:// URL.' }),
    method: t.field({ type: HttpMethod, required: false, description: 'The request method. Default: GET.' }),
    headers: t.field({ type: [HttpHeaderInput], required: false, description: 'The request headers, at most 20.' }),
    body: t.string({
      required: false,
      description: `A secret. A redirect that would send it to another host is not followed. ${keptByUrl}`,
    }),
    expectedStatus: t.field({
      type: ['StatusRange'],
      required: false,
      description: 'The expected status after redirects. Default: 2xx.',
    }),
    maxRedirects: t.int({ required: false, description: '0 to 10; 0 does not follow redirects. Default: 5.' }),
    keyword: t.field({
      type: HttpKeywordInput,
      required: false,
      description: 'A text that the response must contain.',
    }),
    json: t.field({ type: HttpJsonInput, required: false, description: 'What a JSON response must contain.' }),
    maxBodyBytes: t.int({
      required: false,
      description: 'The number of bytes of a response to search for the keyword and the JSON value. Default: 1 MiB.',
    }),
    verifyCertificate: t.boolean({
      required: false,
      description: 'Whether the certificate must be trusted. Default: true.',
    }),
    certificateDays: t.int({
      required: false,
      description: certificateDaysWords.description,
    }),
    degradedAboveMs: t.int(degradedAboveMs),
    downAboveMs: t.int(downAboveMs),
    inverted: t.boolean(inverted),
    ipVersion: t.int({ required: false, description: 'The IP version, 4 or 6. Default: whichever connects.' }),
    expectedHeaders: t.field({
      type: [HttpExpectedHeaderInput],
      required: false,
      description: 'Assertions about response headers, at most 10.',
    }),
    clientCertificate: t.field({
      type: HttpClientCertificateInput,
      required: false,
      description: 'The client certificate.',
    }),
    oauth: t.field({ type: HttpOAuthInput, required: false, description: 'The OAuth client.' }),
    proxy: t.field({ type: HttpProxyInput, required: false, description: 'The proxy for requests.' }),
  }),
})

const TcpOptionsInput = builder.inputType('TcpOptionsInput', {
  description: 'The target of a TCP monitor, and the expected response.',
  fields: (t) => ({
    host: t.string({ description: 'The host name or address.' }),
    port: t.int({ description: 'The port.' }),
    tls: t.boolean({ required: false, description: 'Whether to use TLS. Default: false.' }),
    startTls: t.field({
      type: StartTls,
      required: false,
      description: 'The protocol that upgrades the connection to TLS, instead of `tls`. Default: none.',
    }),
    certificateDays: t.int({
      required: false,
      description: certificateDaysWords.description,
    }),
    verifyCertificate: t.boolean({
      required: false,
      description: 'Whether the certificate must be trusted. Default: true.',
    }),
    send: t.string({
      required: false,
      description: `A secret text to send after connecting, with the escapes \\r, \\n, \\t, \\0 and \\\\. ${keptUnless('host, port or tls')}`,
    }),
    expect: t.string({
      required: false,
      description: 'A text that the first 16 KiB received must contain, with the same escapes.',
    }),
    degradedAboveMs: t.int(degradedAboveMs),
    downAboveMs: t.int(downAboveMs),
    inverted: t.boolean(inverted),
  }),
})

const DnsOptionsInput = builder.inputType('DnsOptionsInput', {
  description: 'The query of a DNS monitor, and the expected records.',
  fields: (t) => ({
    name: t.string({ description: 'The name to query, or an address for its reverse name.' }),
    recordType: t.field({
      type: DnsRecordType,
      required: false,
      description: 'The record type to query. Default: A.',
    }),
    expected: t.stringList({ required: false, description: 'The expected records, as in a zone file. Default: any.' }),
    match: t.field({ type: DnsMatch, required: false, description: 'How the records are compared. Default: EXACT.' }),
    resolver: t.string({
      required: false,
      description:
        'ip, ip:port or [ip]:port; tls://host or tls://host:port for DNS over TLS, https://host/path for DNS over HTTPS. Default: our own resolvers.',
    }),
    certificateDays: t.int({
      required: false,
      description: `For DNS over TLS and HTTPS. ${certificateDaysWords.description}`,
    }),
    degradedAboveMs: t.int(degradedAboveMs),
    downAboveMs: t.int(downAboveMs),
    inverted: t.boolean(inverted),
  }),
})

const GroupOptionsInput = builder.inputType('GroupOptionsInput', {
  description: 'The members of a group, and how many of them must be up.',
  fields: (t) => ({
    monitorIds: t.idList({ description: '1 to 100 monitors, groups included.' }),
    require: t.field({
      type: GroupRequirement,
      required: false,
      description: 'How many must be up. Default: ALL.',
    }),
    count: t.int({ required: false, description: 'How many monitors must be up, for AT_LEAST only.' }),
  }),
})

const PingOptionsInput = builder.inputType('PingOptionsInput', {
  description: 'The target and the packets of a ping monitor.',
  fields: (t) => ({
    host: t.string({ description: 'The host name or address.' }),
    count: t.int({ required: false, description: 'The number of packets to send, 1 to 5. Default: 3.' }),
    packetSize: t.int({
      required: false,
      description: 'The bytes of data per packet, 16 to 8972. Default: 56.',
    }),
    ipVersion: t.int({
      required: false,
      description: 'The IP version, 4 or 6. Default: whichever has a route.',
    }),
    degradedAboveMs: t.int(degradedAboveMs),
    downAboveMs: t.int(downAboveMs),
    inverted: t.boolean(inverted),
  }),
})

const HeartbeatOptionsInput = builder.inputType('HeartbeatOptionsInput', {
  description: 'How a job reports.',
  fields: (t) => ({
    graceSeconds: t.int({
      required: false,
      description: 'How late the job may report after its interval or its scheduled time, up to 86400. Default: 300.',
    }),
    schedule: t.string({
      required: false,
      description:
        'When the job runs: a cron expression of five fields, such as 30 2 * * 1-5, or @daily. Replaces the interval. Default: at the interval.',
    }),
    timeZone: t.string({ required: false, description: 'The IANA time zone of the schedule. Default: UTC.' }),
    maxRunSeconds: t.int({
      required: false,
      description:
        'The time limit of the job after /start, up to 604800 seconds. If it is exceeded, the monitor is DOWN. A running job does not count as late by its schedule. Default: no limit.',
    }),
  }),
})

const BlacklistOptionsInput = builder.inputType('BlacklistOptionsInput', {
  description: 'The target of a blacklist monitor.',
  fields: (t) => ({
    target: t.string({ description: 'An IP address or a domain.' }),
    acknowledged: t.stringList({ required: false, description: 'Ids of blacklists whose listings are ignored.' }),
  }),
})

/** The input type of each kind's options. */
export const kindInputs = {
  http: HttpOptionsInput,
  tcp: TcpOptionsInput,
  dns: DnsOptionsInput,
  ping: PingOptionsInput,
  heartbeat: HeartbeatOptionsInput,
  blacklist: BlacklistOptionsInput,
  group: GroupOptionsInput,
} as const
