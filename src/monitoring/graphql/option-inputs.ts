import { builder } from '../../graphql/builder.ts'
import { DnsMatch, DnsRecordType, HttpMethod } from './option-words.ts'

const degradedAboveMs = {
  required: false,
  description: 'An answer that takes longer makes it degraded; absent: none does.',
} as const

const keptUnless = (changes: string) =>
  `Null keeps the one that the monitor has, unless ${changes} changes: then it must be given again.`
const keptByUrl = keptUnless('the scheme, host or port of the URL')

const HttpHeaderInput = builder.inputType('HttpHeaderInput', {
  description: 'A request header.',
  fields: (t) => ({
    name: t.string({ description: 'The header’s name.' }),
    value: t.string({
      required: false,
      description: `A secret; where redirects lead to others it is not sent. ${keptByUrl}`,
    }),
  }),
})

const HttpKeywordInput = builder.inputType('HttpKeywordInput', {
  description: 'A text that the answer must contain.',
  fields: (t) => ({
    text: t.string({ description: 'The text to look for.' }),
    absent: t.boolean({ required: false, description: 'True: it must not be in the answer.' }),
  }),
})

const HttpJsonInput = builder.inputType('HttpJsonInput', {
  description: 'What a JSON answer must contain.',
  fields: (t) => ({
    path: t.string({ description: 'A JSONPath that leads to one value, such as $.checks[0].status.' }),
    equals: t.field({ type: 'JsonValue', required: false, description: 'Absent: anything will do.' }),
    absent: t.boolean({ required: false, description: 'True: there must be no such value.' }),
  }),
})

const HttpOptionsInput = builder.inputType('HttpOptionsInput', {
  description: 'What an HTTP monitor requests and expects.',
  fields: (t) => ({
    url: t.string({ description: 'http:// or https://.' }),
    method: t.field({ type: HttpMethod, required: false, description: 'Absent: GET.' }),
    headers: t.field({ type: [HttpHeaderInput], required: false, description: 'At most 20.' }),
    body: t.string({
      required: false,
      description: `A secret; a redirect that would send it to others is not followed. ${keptByUrl}`,
    }),
    expectedStatus: t.field({
      type: ['StatusRange'],
      required: false,
      description: 'Of the answer after redirects. Absent: 2xx.',
    }),
    maxRedirects: t.int({ required: false, description: '0 to 10; 0: a redirect is the answer. Absent: 5.' }),
    keyword: t.field({ type: HttpKeywordInput, required: false, description: 'A text that has to be in the answer.' }),
    json: t.field({ type: HttpJsonInput, required: false, description: 'What has to be in an answer that is JSON.' }),
    maxBodyBytes: t.int({
      required: false,
      description: 'How much of an answer is looked into for the keyword and the JSON. Absent: 1 MiB.',
    }),
    verifyCertificate: t.boolean({
      required: false,
      description: 'Whether the certificate has to be trusted. Absent: true.',
    }),
    certificateDays: t.int({
      required: false,
      description: 'So many days before a trusted certificate ends, it is degraded; 0: never. Absent: 14.',
    }),
    degradedAboveMs: t.int(degradedAboveMs),
    ipVersion: t.int({ required: false, description: '4 or 6. Absent: whichever connects.' }),
  }),
})

const TcpOptionsInput = builder.inputType('TcpOptionsInput', {
  description: 'What a TCP monitor connects to and expects.',
  fields: (t) => ({
    host: t.string({ description: 'The host name or address.' }),
    port: t.int({ description: 'The port.' }),
    tls: t.boolean({ required: false, description: 'Absent: false.' }),
    verifyCertificate: t.boolean({
      required: false,
      description: 'Whether the certificate has to be trusted. Absent: true.',
    }),
    send: t.string({
      required: false,
      description: `A secret that is sent once connected, where \\r, \\n, \\t, \\0 and \\\\ stand for what they usually do. ${keptUnless('host, port or tls')}`,
    }),
    expect: t.string({ required: false, description: 'What has to come, spelled likewise, in the first 16 KiB.' }),
    degradedAboveMs: t.int(degradedAboveMs),
  }),
})

const DnsOptionsInput = builder.inputType('DnsOptionsInput', {
  description: 'What a DNS monitor asks for and expects.',
  fields: (t) => ({
    name: t.string({ description: 'What to ask for; of an address, its reverse name.' }),
    recordType: t.field({ type: DnsRecordType, required: false, description: 'Absent: A.' }),
    expected: t.stringList({ required: false, description: 'Records as a zone file has them. Absent: any will do.' }),
    match: t.field({ type: DnsMatch, required: false, description: 'Absent: EXACT.' }),
    resolver: t.string({ required: false, description: 'ip, ip:port or [ip]:port. Absent: our own resolvers.' }),
    degradedAboveMs: t.int(degradedAboveMs),
  }),
})

const PingOptionsInput = builder.inputType('PingOptionsInput', {
  description: 'What a ping monitor sends, and where.',
  fields: (t) => ({
    host: t.string({ description: 'The host name or address.' }),
    count: t.int({ required: false, description: 'How many packets are sent, 1 to 5. Absent: 3.' }),
    degradedAboveMs: t.int(degradedAboveMs),
  }),
})

const HeartbeatOptionsInput = builder.inputType('HeartbeatOptionsInput', {
  description: 'How a job reports.',
  fields: (t) => ({
    graceSeconds: t.int({
      required: false,
      description: 'How much later than its interval the job may report, up to 86400. Absent: 300.',
    }),
  }),
})

const BlacklistOptionsInput = builder.inputType('BlacklistOptionsInput', {
  description: 'What a blacklist monitor watches.',
  fields: (t) => ({
    target: t.string({ description: 'An IP address or a domain.' }),
    acknowledged: t.stringList({ required: false, description: 'Ids of lists whose listings do not count.' }),
  }),
})

/** What kinds take, as members of which an input holds one. */
export const kindInputs = {
  http: HttpOptionsInput,
  tcp: TcpOptionsInput,
  dns: DnsOptionsInput,
  ping: PingOptionsInput,
  heartbeat: HeartbeatOptionsInput,
  blacklist: BlacklistOptionsInput,
} as const
