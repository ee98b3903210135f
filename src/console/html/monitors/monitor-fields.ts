import { blacklists } from '../../../blacklist/list.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../core/time.ts'
import type { MonitorKind } from '../../../generated/prisma/enums.ts'
import type { Choice } from '../../../http/page/form.tsx'
import { MAX_GROUP_MEMBERS } from '../../../monitoring/group/limits.ts'
import type { DescribedOption } from '../../../monitoring/monitor/option-list.ts'
import { describedOptions } from '../../../monitoring/monitor/option-list.ts'
import type { DescribedKind } from '../../../monitoring/monitor/probe-kinds.ts'
import { describedKinds } from '../../../monitoring/monitor/probe-kinds.ts'
import { certificateDaysWords } from '../../../monitoring/probe/certificate-expiry.ts'
import { startTlsProtocols } from '../../../monitoring/probe/start-tls.ts'
import { queryTypes } from '../../../network/dns/message.ts'

/** A field of the monitor editor, named like the member of the API's input. */
export interface EditorField {
  readonly name: string
  readonly label: string
  /**
   * `words`: a list separated by spaces or commas. `lines`: a list with an item per line. `literal`: a JSON value.
   * `decimal`: any number. `prose`: a text of several lines. `secret`: never shown again, and kept when left empty.
   * `headers`: names with secret values.
   */
  readonly type:
    | 'text'
    | 'url'
    | 'number'
    | 'decimal'
    | 'prose'
    | 'flag'
    | 'choice'
    | 'choices'
    | 'words'
    | 'lines'
    | 'literal'
    | 'secret'
    | 'headers'
  readonly hint?: string
  readonly required?: boolean
  readonly min?: number
  readonly max?: number
  readonly maxlength?: number
  readonly choices?: readonly Choice[]
  /** The value in a new monitor. */
  readonly initial?: string
  /** Whether it is collapsed. */
  readonly isRare?: boolean
}

/** The title of a section, and the names of its fields or their prefixes. */
const sections = [
  ['Request', ['http.method', 'http.headers', 'http.body', 'http.maxRedirects', 'http.ipVersion', 'http.proxy']],
  ['Response', ['http.expectedStatus', 'http.keyword', 'http.json', 'http.expectedHeaders', 'http.maxBodyBytes']],
  ['Signing in', ['http.clientCertificate', 'http.oauth']],
  ['TLS', ['http.verifyCertificate', 'http.certificateDays']],
] as const

/** Collapsed fields. */
interface FieldSection {
  readonly title: string
  readonly fields: readonly EditorField[]
}

/** Returns the common fields, and the others in sections. Leaves out choices without options. */
export function sectionsOf(all: readonly EditorField[]): {
  readonly usual: readonly EditorField[]
  readonly rare: readonly FieldSection[]
} {
  const usual: EditorField[] = []
  const titled = new Map<string, EditorField[]>(sections.map(([title]) => [title, []]))
  const others: EditorField[] = []
  for (const field of all) {
    const { name, isRare, type, choices = [] } = field
    if (type === 'choices' && choices.length === 0) continue
    const [title] = sections.find(([, names]) => names.some((each) => `${name}.`.startsWith(`${each}.`))) ?? []
    if (title) titled.get(title)?.push(field)
    else if (isRare) others.push(field)
    else usual.push(field)
  }
  const rare = [...titled, ['More options', others] as const].map(([title, fields]) => ({ title, fields }))
  return { usual, rare: rare.filter(({ fields }) => fields.length > 0) }
}

const same = (value: string): Choice => ({ value, text: value })
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(same)

const slow = (key: string): EditorField => ({
  ...{ name: `${key}.degradedAboveMs`, label: 'Degraded above', type: 'number', min: 1, max: 30_000, isRare: true },
  hint: 'Milliseconds. A slower response makes it degraded. Empty: no limit.',
})

/** The last fields of kinds with a response: when it is too slow, and whether it should fail. */
const limits = (key: string): readonly EditorField[] => [
  slow(key),
  {
    ...{ name: `${key}.downAboveMs`, label: 'Down above', type: 'number', min: 1, max: 30_000, isRare: true },
    hint: 'Milliseconds. A slower response makes it down. Empty: no limit.',
  },
  {
    ...{ name: `${key}.inverted`, label: 'Up when the probe fails', type: 'flag', initial: '', isRare: true },
    hint: 'For a target that must not be reachable.',
  },
]

const comparison = (name: string, label: string): EditorField => ({
  ...{ name: `http.json.${name}`, label, type: 'text', maxlength: 30, isRare: true },
})

const http: readonly EditorField[] = [
  { name: 'http.url', label: 'URL', type: 'url', required: true, maxlength: 2048, hint: 'https:// or http://' },
  {
    ...{ name: 'http.expectedStatus', label: 'Expected status', type: 'words', initial: '2xx' },
    hint: 'After redirects. Such as 200, 2xx or 200-299; several separated by commas.',
  },
  { name: 'http.keyword.text', label: 'Text in the response', type: 'text', maxlength: 500 },
  { name: 'http.keyword.absent', label: 'The response must not contain this text', type: 'flag', initial: '' },
  {
    ...{ name: 'http.keyword.isRegex', label: 'This text is a regular expression', type: 'flag', initial: '' },
    hint: 'In the syntax of RE2.',
  },
  { name: 'http.method', label: 'Method', type: 'choice', choices: methods, initial: 'GET', isRare: true },
  {
    ...{ name: 'http.headers', label: 'Headers', type: 'headers', isRare: true },
    hint: 'Values are secret: they are never shown again. Empty a name to remove its header.',
  },
  { name: 'http.body', label: 'Body', type: 'secret', isRare: true },
  {
    ...{ name: 'http.json.path', label: 'JSONPath', type: 'text', maxlength: 200, isRare: true },
    hint: 'A single value of a JSON response, such as $.status.',
  },
  {
    ...{ name: 'http.json.equals', label: 'Its value', type: 'literal', maxlength: 1000, isRare: true },
    hint: 'A text, a number, true or false. A number in quotes is a text. Empty: any.',
  },
  { ...comparison('notEquals', 'Not this value'), type: 'literal', maxlength: 1000 },
  { ...comparison('lessThan', 'Less than'), type: 'decimal' },
  { ...comparison('atMost', 'At most'), type: 'decimal' },
  { ...comparison('greaterThan', 'Greater than'), type: 'decimal' },
  { ...comparison('atLeast', 'At least'), type: 'decimal' },
  { ...comparison('matches', 'Matches'), maxlength: 200, hint: 'A regular expression in the syntax of RE2.' },
  { name: 'http.json.length', label: 'Compare its length', type: 'flag', initial: '', isRare: true },
  { name: 'http.json.absent', label: 'The path must not exist', type: 'flag', initial: '', isRare: true },
  {
    ...{ name: 'http.expectedHeaders', label: 'Expected headers', type: 'lines', isRare: true },
    hint: 'One per line: “Name: value”, “Name” for any value, “Name ~ expression” for a regular expression, “!Name” for none.',
  },
  {
    ...{ name: 'http.clientCertificate.certificate', label: 'Client certificate', type: 'prose', isRare: true },
    hint: 'In PEM, with those of its authorities if needed.',
  },
  { name: 'http.clientCertificate.key', label: 'Its private key', type: 'secret', isRare: true, hint: 'In PEM.' },
  {
    ...{ name: 'http.oauth.tokenUrl', label: 'OAuth: token URL', type: 'url', maxlength: 2048, isRare: true },
    hint: 'The monitor gets a token there as a client, and uses it until it expires.',
  },
  { name: 'http.oauth.clientId', label: 'OAuth: client id', type: 'text', maxlength: 200, isRare: true },
  { name: 'http.oauth.clientSecret', label: 'OAuth: client secret', type: 'secret', isRare: true },
  {
    ...{ name: 'http.oauth.scope', label: 'OAuth: scopes', type: 'text', maxlength: 500, isRare: true },
    hint: 'Separated by spaces.',
  },
  { name: 'http.oauth.audience', label: 'OAuth: audience', type: 'text', maxlength: 500, isRare: true },
  {
    ...{ name: 'http.oauth.authentication', label: 'OAuth: client signs in', type: 'choice', initial: 'BASIC' },
    ...{ isRare: true },
    choices: [
      { value: 'BASIC', text: 'In a header' },
      { value: 'POST', text: 'In the body' },
    ],
  },
  {
    ...{ name: 'http.proxy.url', label: 'Proxy', type: 'text', maxlength: 2048, isRare: true },
    hint: 'http://, https:// or socks5:// and a host, with a port if needed.',
  },
  { name: 'http.proxy.username', label: 'Proxy: user name', type: 'text', maxlength: 255, isRare: true },
  { name: 'http.proxy.password', label: 'Proxy: password', type: 'secret', isRare: true },
  {
    ...{ name: 'http.maxRedirects', label: 'Redirects', type: 'number', min: 0, max: 10, initial: '5', isRare: true },
    hint: 'How many are followed.',
  },
  {
    name: 'http.verifyCertificate',
    label: 'The certificate must be valid',
    type: 'flag',
    initial: 'true',
    isRare: true,
  },
  {
    ...{ name: 'http.certificateDays', label: 'Certificate warning', type: 'number', min: 0, max: 365, isRare: true },
    ...{ initial: '', hint: certificateDaysWords.hint },
  },
  {
    ...{ name: 'http.maxBodyBytes', label: 'Bytes searched', type: 'number', min: 1, max: 1024 * 1024, isRare: true },
    ...{ initial: String(1024 * 1024), hint: 'How much of a response is searched for the text and the value.' },
  },
  ...limits('http'),
  {
    ...{ name: 'http.ipVersion', label: 'IP version', type: 'choice', initial: '', isRare: true },
    choices: [{ value: '', text: 'Whichever connects' }, same('4'), same('6')],
  },
]

const tcp: readonly EditorField[] = [
  { name: 'tcp.host', label: 'Host', type: 'text', required: true },
  { name: 'tcp.port', label: 'Port', type: 'number', required: true, min: 1, max: 65_535 },
  { name: 'tcp.tls', label: 'Use TLS', type: 'flag', initial: '' },
  {
    ...{ name: 'tcp.startTls', label: 'Upgrade to TLS', type: 'choice', initial: '', isRare: true },
    choices: [{ value: '', text: 'No' }, ...startTlsProtocols.map((each) => ({ value: each, text: `By ${each}` }))],
  },
  {
    ...{ name: 'tcp.certificateDays', label: 'Certificate warning', type: 'number', min: 0, max: 365, isRare: true },
    ...{ initial: '', hint: certificateDaysWords.hint },
  },
  {
    ...{ name: 'tcp.expect', label: 'Expected text', type: 'text', maxlength: 1000 },
    hint: String.raw`In the first 16 KiB received. \r, \n, \t, \0 and \\ are escapes.`,
  },
  { name: 'tcp.send', label: 'Text to send first', type: 'secret', isRare: true, hint: 'With the same escapes.' },
  {
    name: 'tcp.verifyCertificate',
    label: 'The certificate must be valid',
    type: 'flag',
    initial: 'true',
    isRare: true,
  },
  ...limits('tcp'),
]

const dns: readonly EditorField[] = [
  { name: 'dns.name', label: 'Name', type: 'text', required: true, hint: 'Or an address, for PTR.' },
  { name: 'dns.recordType', label: 'Record type', type: 'choice', choices: queryTypes.map(same), initial: 'A' },
  { name: 'dns.expected', label: 'Expected records', type: 'lines', hint: 'One per line. Empty: any.' },
  {
    ...{ name: 'dns.match', label: 'Compare', type: 'choice', initial: 'EXACT' },
    choices: [
      { value: 'EXACT', text: 'These and no others' },
      { value: 'CONTAINS', text: 'At least these' },
    ],
  },
  {
    ...{ name: 'dns.resolver', label: 'Resolver', type: 'text', isRare: true },
    hint: 'An address, such as 192.0.2.53 or [2001:db8::53]:5353; tls://dns.example or https://dns.example/dns-query. Empty: our own resolvers.',
  },
  {
    ...{ name: 'dns.certificateDays', label: 'Certificate warning', type: 'number', min: 0, max: 365, isRare: true },
    ...{ initial: '', hint: `For tls:// and https://. ${certificateDaysWords.hint}` },
  },
  ...limits('dns'),
]

const ping: readonly EditorField[] = [
  { name: 'ping.host', label: 'Host', type: 'text', required: true },
  { name: 'ping.count', label: 'Packets', type: 'number', min: 1, max: 5, initial: '3', isRare: true },
  {
    ...{ name: 'ping.packetSize', label: 'Packet size', type: 'number', min: 16, max: 8972, isRare: true },
    ...{ initial: '56', hint: 'Bytes of data. Most networks fragment IPv4 packets with more than 1472.' },
  },
  {
    ...{ name: 'ping.ipVersion', label: 'IP version', type: 'choice', initial: '', isRare: true },
    choices: [{ value: '', text: 'Whichever has a route' }, same('4'), same('6')],
  },
  ...limits('ping'),
]

const heartbeat: readonly EditorField[] = [
  {
    ...{ name: 'heartbeat.graceSeconds', label: 'Grace', type: 'number', min: 0, max: DAY / SECOND, initial: '300' },
    hint: 'Seconds that a report may be late.',
  },
  {
    ...{ name: 'heartbeat.schedule', label: 'Schedule', type: 'text', maxlength: 100, isRare: true },
    hint: 'A cron expression of five fields, such as 30 2 * * 1-5, instead of the interval.',
  },
  {
    ...{ name: 'heartbeat.timeZone', label: 'Time zone of the schedule', type: 'text', maxlength: 50, isRare: true },
    hint: 'Such as Europe/Berlin. Empty: UTC.',
  },
  {
    ...{ name: 'heartbeat.maxRunSeconds', label: 'Longest run', type: 'number', min: 1, isRare: true },
    ...{ max: (7 * DAY) / SECOND, hint: 'Seconds from /start to the end; a longer run is down. Empty: no limit.' },
  },
]

const blacklist: readonly EditorField[] = [
  { name: 'blacklist.target', label: 'Address or domain', type: 'text', required: true },
  {
    ...{ name: 'blacklist.acknowledged', label: 'Ignored lists', type: 'choices', isRare: true },
    choices: blacklists(undefined).map(({ id, name }) => ({ value: id, text: name })),
  },
]

/** Its choices are the organization's monitors. */
const group: readonly EditorField[] = [
  {
    ...{ name: 'group.monitorIds', label: 'Monitors', type: 'choices', choices: [] },
    hint: 'Paused monitors do not count.',
  },
  {
    ...{ name: 'group.require', label: 'Up when', type: 'choice', initial: 'ALL' },
    choices: [
      { value: 'ALL', text: 'All are up' },
      { value: 'ANY', text: 'Any is up' },
      { value: 'AT_LEAST', text: 'At least this many are up' },
    ],
  },
  {
    ...{ name: 'group.count', label: 'At least', type: 'number', min: 1, max: MAX_GROUP_MEMBERS },
    hint: 'How many must be up. Empty, unless “At least this many are up” is chosen.',
  },
]

/** The fields of kinds with described options. */
const described = Object.fromEntries(
  (Object.keys(describedKinds) as DescribedKind[]).map((kind) => [kind, describedOptions(kind).map(fieldOf(kind))]),
) as unknown as Record<DescribedKind, readonly EditorField[]>

function fieldOf(kind: DescribedKind): (option: DescribedOption) => EditorField {
  return ({ name, label, hint, type, isRequired, isRare = false, initial, min, max, maxLength }) => ({
    ...{ name: `${kind.toLowerCase()}.${name}`, label, type, isRare },
    ...(hint !== undefined && { hint }),
    ...(isRequired && { required: true }),
    initial: initial === undefined || initial === false ? '' : String(initial),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(maxLength !== undefined && { maxlength: maxLength }),
  })
}

/** The fields of each kind. */
export const kindFields: Readonly<Record<MonitorKind, readonly EditorField[]>> = {
  HTTP: http,
  TCP: tcp,
  DNS: dns,
  PING: ping,
  HEARTBEAT: heartbeat,
  BLACKLIST: blacklist,
  GROUP: group,
  ...described,
}

const intervals: Partial<Record<MonitorKind, number>> = { HEARTBEAT: DAY, BLACKLIST: HOUR }

/**
 * Returns the fields of every kind.
 * @param services to choose from.
 * @param monitors that it may depend on.
 */
export function commonFields(
  kind: MonitorKind,
  services: readonly Choice[],
  monitors: readonly Choice[],
): readonly EditorField[] {
  const interval = String((intervals[kind] ?? MINUTE) / SECOND)
  const every: EditorField = {
    ...{ name: 'intervalSeconds', label: 'Interval', type: 'number', min: 10, initial: interval },
    hint:
      kind === 'HEARTBEAT'
        ? 'Seconds between two reports. Ignored if there is a schedule.'
        : 'Seconds between two probes.',
  }
  const service: EditorField = {
    ...{ name: 'serviceId', label: 'Service', type: 'choice', initial: '' },
    hint: 'The service whose status it determines.',
    choices: [{ value: '', text: 'None' }, ...services],
  }
  const dependsOn: EditorField = {
    ...{ name: 'dependsOnIds', label: 'Depends on', type: 'choices', choices: monitors, isRare: true },
    hint: 'While one of these is down, this one opens no incidents and no alerts.',
  }
  if (kind === 'GROUP') return [service, dependsOn]
  return kind === 'HEARTBEAT' ? [every, service, dependsOn] : [every, service, ...thresholds, dependsOn]
}

const thresholds: readonly EditorField[] = [
  {
    ...{ name: 'timeoutMs', label: 'Timeout', type: 'number', min: 500, max: 30_000, initial: '10000', isRare: true },
    hint: 'Milliseconds.',
  },
  {
    ...{ name: 'failureThreshold', label: 'Failures until down', type: 'number', min: 1, max: 10, isRare: true },
    ...{ initial: '2', hint: 'In a row.' },
  },
  {
    ...{ name: 'recoveryThreshold', label: 'Successes until up', type: 'number', min: 1, max: 10, isRare: true },
    ...{ initial: '1', hint: 'In a row.' },
  },
  {
    ...{ name: 'agreement', label: 'Regions that must agree', type: 'number', min: 1, max: 100, isRare: true },
    hint: 'How many regions must find it down. Empty: more than half of those that report.',
  },
]
