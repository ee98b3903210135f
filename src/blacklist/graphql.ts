import { authenticate } from '../account/authenticate.ts'
import { Invalid, LimitExceeded } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { costs } from '../graphql/cost.ts'
import { ErrorCode } from '../graphql/errors.ts'
import { inputOf, REPLACED } from '../graphql/input.ts'
import { orRefusal } from '../graphql/subscribe.ts'
import type { BulkItem } from './check.ts'
import { bulkCheck, checkDomain, checkIp, startCheck } from './check.ts'
import type { CheckProgress } from './checker.ts'
import type { Geo } from './geo.ts'
import type { Health, HealthStatus as HealthStatusName } from './health.ts'
import type { Blacklist } from './list.ts'
import type { BlacklistResult, DomainReport, IpReport, ListError as ListErrorName, Report } from './report.ts'

const TargetKind = builder.enumType('TargetKind', {
  description: 'What a blacklist lists, and what is checked.',
  values: {
    IP: { value: 'ip', description: 'IP addresses.' },
    DOMAIN: { value: 'domain', description: 'Domain names.' },
  } as const,
})

const ListError = builder.enumType('BlacklistError', {
  description: 'Why a list gave no usable answer.',
  values: upperCased<ListErrorName>({
    timeout: 'No answer in time.',
    refused: 'The list does not answer us.',
    unreachable: 'The list’s name servers cannot be reached.',
    invalid_answer: 'The answer means nothing, or the list names everyone.',
    unsupported: 'The list has no data for this kind of address.',
  }),
})

const HealthStatus = builder.enumType('BlacklistHealthStatus', {
  description: 'Whether a list can be believed at present.',
  values: upperCased<HealthStatusName>({
    unknown: 'Not probed yet.',
    ok: 'It answers as it should.',
    silent: 'It no longer lists its own test entry.',
    refusing: 'It does not answer us.',
    wildcard: 'It lists what nobody lists.',
    unreachable: 'It does not answer.',
  }),
})

const GeoRef = builder.objectRef<Geo>('Geo').implement({
  description: 'Where an address is, approximately. IP Geolocation by DB-IP (https://db-ip.com), CC BY 4.0.',
  fields: (t) => ({
    country: t.exposeString('country', { nullable: true, description: 'The country; null: not known.' }),
    city: t.exposeString('city', { nullable: true, description: 'The city; null: not known.' }),
    isp: t.exposeString('isp', { nullable: true, description: 'Holder of the autonomous system.' }),
    asn: t.exposeString('asn', { nullable: true, description: 'Such as AS15169.' }),
  }),
})

const BlacklistResultRef = builder.objectRef<BlacklistResult>('BlacklistResult').implement({
  description: 'What one blacklist said about one target.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The list’s display name.' }),
    listed: t.exposeBoolean('listed', { description: 'Whether the list names the target.' }),
    policy: t.exposeBoolean('policy', {
      description: 'True of a listing that accuses nobody: mail should not come from the address directly (PBL).',
    }),
    response: t.exposeString('response', { nullable: true, description: 'The list’s reason; null unless listed.' }),
    description: t.exposeString('description', { description: 'What the list is used for.' }),
    delistUrl: t.exposeString('delistUrl', { description: 'Where a listing can be contested.' }),
    error: t.expose('error', {
      type: ListError,
      nullable: true,
      description: 'Set when the list gave no usable answer; `listed` is false then and means nothing.',
    }),
    codes: t.exposeStringList('codes', { description: 'The raw A answers.' }),
    note: t.exposeString('note', { nullable: true, description: 'What else a reader should know.' }),
  }),
})

const CheckReport = builder.interfaceRef<Report>('CheckReport').implement({
  description: 'What the blacklists said; listedCount + cleanCount = totalChecked.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'What was checked.' }),
    targetKind: t.expose('targetType', { type: TargetKind, description: 'What kind of target it is.' }),
    targetType: t.exposeString('targetType', { deprecationReason: 'Use `targetKind`.', description: 'ip or domain.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When it was checked.' }),
    totalChecked: t.exposeInt('totalChecked', { description: 'How many lists were asked.' }),
    listedCount: t.exposeInt('listedCount', { description: 'How many lists name the target.' }),
    policyCount: t.exposeInt('policyCount', {
      description: 'How many of listedCount are entries of policy, which accuse nobody.',
    }),
    cleanCount: t.exposeInt('cleanCount', { description: 'How many lists do not name the target.' }),
    failedCount: t.exposeInt('failedCount', { description: 'How many of cleanCount gave no usable answer.' }),
    verdict: t.exposeString('verdict', { description: 'The report in a sentence.' }),
    results: t.expose('results', { type: [BlacklistResultRef], description: 'What each list said.' }),
  }),
})

const IpReportRef = builder.objectRef<IpReport>('IpReport').implement({
  description: 'The report on an IP address.',
  interfaces: [CheckReport],
  fields: (t) => ({ geo: t.expose('geo', { type: GeoRef, description: 'Where the address is.' }) }),
})

const DomainReportRef = builder.objectRef<DomainReport>('DomainReport').implement({
  description:
    'The report on a domain: `results` are of the domain lists, the counts include those of every address checked.',
  interfaces: [CheckReport],
  fields: (t) => ({
    resolvedIps: t.exposeStringList('resolvedIps', { description: 'Every address found, private ones included.' }),
    resolvedIpsTruncated: t.exposeBoolean('resolvedIpsTruncated', { description: 'True when not all were checked.' }),
    resolutionFailed: t.exposeBoolean('resolutionFailed', { description: 'True when addresses may be missing.' }),
    ipReports: t.expose('ipReports', { type: [IpReportRef], description: 'One report per checked address.' }),
  }),
})

const HealthRef = builder.objectRef<Health>('BlacklistHealth').implement({
  description: 'Whether a list can be believed at present; the answers of an ill list are not.',
  fields: (t) => ({
    status: t.expose('status', { type: HealthStatus, description: 'Whether it can be believed.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'What is wrong; null: nothing.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true, description: 'When it was last probed.' }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description: 'How long it took to answer, in milliseconds.',
    }),
  }),
})

const BlacklistRef = builder.objectRef<Blacklist>('Blacklist').implement({
  description: 'A DNS blacklist that is asked.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Its stable name, such as spamhaus-zen: what `acknowledged` of monitors takes.',
    }),
    name: t.exposeString('name', { description: 'Its display name.' }),
    kind: t.expose('kind', { type: TargetKind, description: 'What it lists.' }),
    zone: t.exposeString('publicZone', { description: 'Its DNS zone.' }),
    description: t.exposeString('description', { description: 'What it is used for.' }),
    ipv6: t.boolean({
      description: 'Whether it is known to hold IPv6 addresses.',
      resolve: ({ ipv6 }) => ipv6 === 'yes',
    }),
    health: t.field({
      type: HealthRef,
      description: 'How it is doing.',
      resolve: (list, _args, { checker }) => checker.lookup.health.of(list),
    }),
  }),
})

builder.queryField('blacklists', (t) =>
  t.field({
    type: [BlacklistRef],
    description: 'The lists that are asked, with their live health.',
    resolve: (_root, _args, { checker }) => [...checker.lists],
  }),
)

/** A check asks some eight lists over the network; it is counted against the plan besides. */
const CHECK = costs({ itself: 400 })

builder.queryField('checkIp', (t) =>
  t.field({
    type: IpReportRef,
    description: 'Checks an IP address on the blacklists; costs one check of the plan.',
    args: { target: t.arg.string() },
    extensions: CHECK,
    errors: { types: [Invalid, LimitExceeded] },
    resolve: async (_root, { target }, ctx) => (await checkIp(ctx, target)).report,
  }),
)

builder.queryField('checkDomain', (t) =>
  t.field({
    type: DomainReportRef,
    description: 'Checks a domain and the addresses it resolves to; costs one check of the plan.',
    args: { target: t.arg.string() },
    extensions: CHECK,
    errors: { types: [Invalid, LimitExceeded] },
    resolve: async (_root, { target }, ctx) => (await checkDomain(ctx, target)).report,
  }),
)

const ListAnswered = builder.objectRef<Extract<CheckProgress, { kind: 'answer' }>>('ListAnswered').implement({
  description: 'A list has answered.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'What the list was asked about: the address or the domain.' }),
    result: t.expose('result', { type: BlacklistResultRef, description: 'What it said.' }),
  }),
})

const AddressesResolved = builder
  .objectRef<Extract<CheckProgress, { kind: 'resolved' }>>('AddressesResolved')
  .implement({
    description: 'The addresses of the domain are known.',
    fields: (t) => ({
      addresses: t.exposeStringList('addresses', { description: 'Every address found.' }),
      checked: t.exposeStringList('checked', { description: 'Those that are checked.' }),
    }),
  })

const reportTypes = { ip: IpReportRef, domain: DomainReportRef } as const
const progressTypes = { answer: ListAnswered, resolved: AddressesResolved } as const

const CheckProgressRef = builder.unionType('CheckProgress', {
  description: 'What happens during a check; the report comes last.',
  types: [ListAnswered, AddressesResolved, IpReportRef, DomainReportRef, Invalid, LimitExceeded],
  // A refusal carries its type (graphql/subscribe.ts).
  resolveType: (value) => {
    if ('kind' in value) return progressTypes[value.kind]
    return 'targetType' in value ? reportTypes[value.targetType] : undefined
  },
})

builder.subscriptionField('checkProgress', (t) =>
  t.field({
    type: CheckProgressRef,
    description: 'Checks an address or a domain: each list’s answer as it comes, then the report. Costs one check.',
    args: { target: t.arg.string() },
    extensions: CHECK,
    subscribe: (_root, { target }, ctx) =>
      orRefusal(
        startCheck(ctx, target).then(({ progress }) => progress),
        [Invalid, LimitExceeded],
      ),
    resolve: (event) => ('kind' in event && event.kind === 'report' ? event.report : event),
  }),
)

const TargetError = builder.objectRef<Extract<BulkItem, { kind: 'error' }>>('TargetError').implement({
  description: 'A target of a bulk check that cannot be checked.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'The target as it was given.' }),
    code: t.expose('code', { type: ErrorCode, description: 'The stable code.' }),
    message: t.exposeString('message'),
  }),
})

const BulkResult = builder.unionType('BulkResult', {
  description: 'The report on a target, or why it cannot be checked.',
  types: [IpReportRef, DomainReportRef, TargetError],
  resolveType: (value) => ('kind' in value ? TargetError : reportTypes[value.targetType]),
})

const BulkCheckPayload = builder.objectRef<{ items: readonly BulkItem[] }>('BulkCheckPayload').implement({
  description: 'What was found out about each target.',
  fields: (t) => ({
    results: t.field({
      type: [BulkResult],
      description: 'One per target, in their order.',
      resolve: ({ items }) => items.map((item) => (item.kind === 'report' ? item.report : item)),
    }),
  }),
})

const TARGETS = 'IP addresses and domain names, 1 to 20.'
const API_KEY = 'Instead of the key in the headers.'

const BulkCheckInput = builder.inputType('BulkCheckInput', {
  description: 'What to check.',
  fields: (t) => ({
    targets: t.stringList({ description: TARGETS }),
    apiKey: t.string({ required: false, description: API_KEY }),
  }),
})

builder.mutationField('bulkCheck', (t) =>
  t.field({
    type: BulkCheckPayload,
    description: 'Checks up to 20 targets for one check of the pro plan.',
    args: {
      input: t.arg({ type: BulkCheckInput, required: false }),
      targets: t.arg.stringList({ ...REPLACED, description: TARGETS }),
      apiKey: t.arg.string({ ...REPLACED, description: API_KEY }),
    },
    extensions: costs({ itself: 400 * 20, items: 20 }),
    errors: { types: [Invalid, LimitExceeded] },
    resolve: async (_root, args, ctx) => {
      const { targets, apiKey } = inputOf<(typeof BulkCheckInput)['$inferInput']>(args, ['targets'])
      const actor = apiKey == null ? ctx.actor : await authenticate(ctx, apiKey, ctx.clientAddress)
      return bulkCheck({ ...ctx, actor }, targets)
    },
  }),
)

/** The values of an enum whose names in the domain are in small letters. */
function upperCased<const Value extends string>(descriptions: Readonly<Record<Value, string>>) {
  const values = Object.entries<string>(descriptions)
  return Object.fromEntries(values.map(([value, description]) => [value.toUpperCase(), { value, description }]))
}
