import { authenticate } from '../../account/api-key/authenticate.ts'
import { Invalid, LimitExceeded } from '../../core/errors.ts'
import { costs } from '../../graphql/document/cost.ts'
import { ErrorCode } from '../../graphql/schema/errors.ts'
import { inputOf } from '../../graphql/schema/input.ts'
import { sourceOrError } from '../../graphql/subscription/subscribe.ts'
import type { BulkItem } from '../check.ts'
import { bulkCheck, checkDomain, checkIp, startCheck } from '../check.ts'
import type { BlacklistResult, DomainReport, IpReport, ListError as ListErrorName, Report } from '../check-report.ts'
import type { CheckProgress } from '../checker.ts'
import type { Geo } from '../geo/geo.ts'
import type { Blacklist } from '../list.ts'
import type { Health, HealthStatus as HealthStatusName } from '../list-health.ts'
import { builder } from './builder.ts'

const TargetKind = builder.enumType('TargetKind', {
  description: 'The kind of target that a blacklist lists and a check accepts.',
  values: {
    IP: { value: 'ip', description: 'IP addresses.' },
    DOMAIN: { value: 'domain', description: 'Domain names.' },
  } as const,
})

const ListError = builder.enumType('BlacklistError', {
  description: 'Why a list gave no usable answer.',
  values: upperCaseValues<ListErrorName>({
    timeout: 'No answer in time.',
    refused: 'The list refuses our queries.',
    unreachable: 'The list’s name servers are unreachable.',
    invalid_answer: 'The answer has no documented meaning, or the list lists every target.',
    unsupported: 'The list does not cover this kind of address.',
  }),
})

const HealthStatus = builder.enumType('BlacklistHealthStatus', {
  description: 'The current health of a list.',
  values: upperCaseValues<HealthStatusName>({
    unknown: 'Not measured yet.',
    ok: 'Healthy.',
    silent: 'The list no longer lists its own test entry.',
    refusing: 'The list refuses our queries.',
    wildcard: 'The list lists names that it must not list.',
    unreachable: 'The list does not answer.',
  }),
})

const GeoRef = builder.objectRef<Geo>('Geo').implement({
  description: 'The approximate location of an address. IP Geolocation by DB-IP (https://db-ip.com), CC BY 4.0.',
  fields: (t) => ({
    country: t.exposeString('country', { nullable: true, description: 'The country, or null if unknown.' }),
    city: t.exposeString('city', { nullable: true, description: 'The city, or null if unknown.' }),
    isp: t.exposeString('isp', { nullable: true, description: 'The holder of the autonomous system.' }),
    asn: t.exposeString('asn', {
      nullable: true,
      description: 'The number of the autonomous system, such as AS15169.',
    }),
    loading: t.boolean({
      description: 'True while data for null parts is loading, for example in the first seconds after a first start.',
      resolve: ({ loading }) => loading === true,
    }),
  }),
})

const BlacklistResultRef = builder.objectRef<BlacklistResult>('BlacklistResult').implement({
  description: 'One blacklist’s answer about one target.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The list’s display name.' }),
    listed: t.exposeBoolean('listed', { description: 'Whether the list lists the target.' }),
    policy: t.exposeBoolean('policy', {
      description:
        'True for a policy entry (PBL): the address should not send mail directly. It does not report abuse.',
    }),
    response: t.exposeString('response', { nullable: true, description: 'The list’s reason. Null: not listed.' }),
    description: t.exposeString('description', { description: 'The purpose of the list.' }),
    delistUrl: t.exposeString('delistUrl', { description: 'The page for contesting a listing.' }),
    error: t.expose('error', {
      type: ListError,
      nullable: true,
      description: 'Why the list gave no usable answer. Null: it gave one. If set, ignore `listed`, which is false.',
    }),
    codes: t.exposeStringList('codes', { description: 'The raw A answers.' }),
    note: t.exposeString('note', { nullable: true, description: 'An explanation of the answer.' }),
  }),
})

/** The cost of a field with all lists. 20 is more than their number. */
const LISTS = costs({ items: 20 })

const CheckReport = builder.interfaceRef<Report>('CheckReport').implement({
  description: 'The answers of the blacklists. `listedCount` + `cleanCount` = `totalChecked`.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'The checked address or domain.' }),
    targetKind: t.expose('targetType', { type: TargetKind, description: 'The kind of target.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', description: 'When the check ran.' }),
    totalChecked: t.exposeInt('totalChecked', { description: 'The number of lists queried.' }),
    listedCount: t.exposeInt('listedCount', { description: 'The number of lists that list the target.' }),
    policyCount: t.exposeInt('policyCount', {
      description: 'The number of policy entries in `listedCount`. They do not report abuse.',
    }),
    cleanCount: t.exposeInt('cleanCount', { description: 'The number of lists that do not list the target.' }),
    failedCount: t.exposeInt('failedCount', {
      description: 'The number of lists in `cleanCount` without a usable answer.',
    }),
    verdict: t.exposeString('verdict', { description: 'A summary of the report.' }),
    results: t.expose('results', {
      type: [BlacklistResultRef],
      extensions: LISTS,
      description: 'The answer of each list.',
    }),
  }),
})

const IpReportRef = builder.objectRef<IpReport>('IpReport').implement({
  description: 'The report on an IP address.',
  interfaces: [CheckReport],
  fields: (t) => ({ geo: t.expose('geo', { type: GeoRef, description: 'The location of the address.' }) }),
})

const DomainReportRef = builder.objectRef<DomainReport>('DomainReport').implement({
  description:
    'The report on a domain. `results` has the answers of the domain lists; the counts include every checked address.',
  interfaces: [CheckReport],
  fields: (t) => ({
    resolvedIps: t.exposeStringList('resolvedIps', { description: 'Every resolved address, including private ones.' }),
    resolvedIpsTruncated: t.exposeBoolean('resolvedIpsTruncated', {
      description: 'True if the check did not cover all addresses.',
    }),
    resolutionFailed: t.exposeBoolean('resolutionFailed', { description: 'True if addresses may be missing.' }),
    ipReports: t.expose('ipReports', {
      type: [IpReportRef],
      extensions: costs({ items: 8 }),
      description: 'One report per checked address.',
    }),
  }),
})

const HealthRef = builder.objectRef<Health>('BlacklistHealth').implement({
  description: 'The current health of a list. A check does not use an unhealthy list.',
  fields: (t) => ({
    status: t.expose('status', { type: HealthStatus, description: 'The status.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'The problem. Null: none.' }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the health was last measured.',
    }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description: 'How long the list took to answer, in milliseconds.',
    }),
  }),
})

const BlacklistRef = builder.objectRef<Blacklist>('Blacklist').implement({
  description: 'A DNS blacklist.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'The stable id, such as spamhaus-zen. Use it in a monitor’s `acknowledged`.',
    }),
    name: t.exposeString('name', { description: 'The display name.' }),
    kind: t.expose('kind', { type: TargetKind, description: 'The kind of target that it lists.' }),
    zone: t.exposeString('publicZone', { description: 'The DNS zone.' }),
    description: t.exposeString('description', { description: 'The purpose of the list.' }),
    ipv6: t.boolean({
      description: 'Whether the list is known to cover IPv6.',
      resolve: ({ ipv6 }) => ipv6 === 'yes',
    }),
    health: t.field({
      type: HealthRef,
      description: 'The current health.',
      resolve: (list, _args, { checker }) => checker.lookup.health.get(list),
    }),
  }),
})

builder.queryField('blacklists', (t) =>
  t.field({
    type: [BlacklistRef],
    extensions: LISTS,
    description: 'The blacklists, with their current health.',
    resolve: (_root, _args, { checker }) => [...checker.lists],
  }),
)

/** The cost of a check. High, because a check queries about eight lists. A check also counts against the plan. */
const CHECK = costs({ itself: 500 })

builder.queryField('checkIp', (t) =>
  t.field({
    type: IpReportRef,
    description: 'Checks an IP address on the blacklists. Counts as one check.',
    args: { target: t.arg.string({ description: 'The IP address to check.' }) },
    extensions: CHECK,
    errors: { types: [Invalid, LimitExceeded] },
    resolve: async (_root, { target }, ctx) => (await checkIp(ctx, target)).report,
  }),
)

builder.queryField('checkDomain', (t) =>
  t.field({
    type: DomainReportRef,
    description: 'Checks a domain and the addresses it resolves to. Counts as one check.',
    args: { target: t.arg.string({ description: 'The domain name to check.' }) },
    extensions: CHECK,
    errors: { types: [Invalid, LimitExceeded] },
    resolve: async (_root, { target }, ctx) => (await checkDomain(ctx, target)).report,
  }),
)

const ListAnswered = builder.objectRef<Extract<CheckProgress, { kind: 'answer' }>>('ListAnswered').implement({
  description: 'A list answered.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'The address or domain that the list was queried about.' }),
    result: t.expose('result', { type: BlacklistResultRef, description: 'The list’s answer.' }),
  }),
})

const AddressesResolved = builder
  .objectRef<Extract<CheckProgress, { kind: 'resolved' }>>('AddressesResolved')
  .implement({
    description: 'The domain’s addresses were resolved.',
    fields: (t) => ({
      addresses: t.exposeStringList('addresses', { description: 'Every resolved address.' }),
      checked: t.exposeStringList('checked', { description: 'The addresses to check.' }),
    }),
  })

const reportTypes = { ip: IpReportRef, domain: DomainReportRef } as const
const progressTypes = { answer: ListAnswered, resolved: AddressesResolved } as const

const CheckProgressRef = builder.unionType('CheckProgress', {
  description: 'A step of a check; the report comes last.',
  types: [ListAnswered, AddressesResolved, IpReportRef, DomainReportRef, Invalid, LimitExceeded],
  // Errors have their own type (graphql/subscription/subscribe.ts).
  resolveType: (value) => {
    if ('kind' in value) return progressTypes[value.kind]
    return 'targetType' in value ? reportTypes[value.targetType] : undefined
  },
})

builder.subscriptionField('checkProgress', (t) =>
  t.field({
    type: CheckProgressRef,
    description:
      'Checks an address or a domain. Sends each list’s answer as it arrives, then the report. Counts as one check.',
    args: { target: t.arg.string() },
    extensions: CHECK,
    subscribe: (_root, { target }, ctx) =>
      sourceOrError(
        startCheck(ctx, target).then(({ progress }) => progress),
        [Invalid, LimitExceeded],
      ),
    resolve: (event) => ('kind' in event && event.kind === 'report' ? event.report : event),
  }),
)

const TargetError = builder.objectRef<Extract<BulkItem, { kind: 'error' }>>('TargetError').implement({
  description: 'A target of a bulk check that cannot be checked.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'The target as sent.' }),
    code: t.expose('code', { type: ErrorCode, description: 'The stable error code.' }),
    message: t.exposeString('message'),
  }),
})

const BulkResult = builder.unionType('BulkResult', {
  description: 'The report on a target, or the error for an invalid target.',
  types: [IpReportRef, DomainReportRef, TargetError],
  resolveType: (value) => ('kind' in value ? TargetError : reportTypes[value.targetType]),
})

const BulkCheckPayload = builder.objectRef<{ items: readonly BulkItem[] }>('BulkCheckPayload').implement({
  description: 'The results of a bulk check.',
  fields: (t) => ({
    results: t.field({
      type: [BulkResult],
      // The cost of the mutation is already multiplied by the number of targets.
      extensions: costs({ items: 1 }),
      description: 'One result per target, in the order sent.',
      resolve: ({ items }) => items.map((item) => (item.kind === 'report' ? item.report : item)),
    }),
  }),
})

const TARGETS = '1 to 20 IP addresses and domain names.'
const API_KEY = 'An API key, instead of one in the headers.'

const BulkCheckInput = builder.inputType('BulkCheckInput', {
  description: 'The targets to check.',
  fields: (t) => ({
    targets: t.stringList({ description: TARGETS }),
    apiKey: t.string({ required: false, description: API_KEY }),
  }),
})

builder.mutationField('bulkCheck', (t) =>
  t.field({
    type: BulkCheckPayload,
    description: 'Checks up to 20 targets. Counts as one check; requires the pro check plan.',
    args: {
      input: t.arg({ type: BulkCheckInput, required: false }),
      targets: t.arg.stringList({ required: false, description: `Instead of \`input\`: ${TARGETS}` }),
      apiKey: t.arg.string({ required: false, description: API_KEY }),
    },
    extensions: costs({ itself: 1000 * 20, items: 20 }),
    errors: { types: [Invalid, LimitExceeded] },
    resolve: async (_root, args, ctx) => {
      const { targets, apiKey } = inputOf<(typeof BulkCheckInput)['$inferInput']>(args, ['targets'])
      const actor = apiKey == null ? ctx.actor : await authenticate(ctx, apiKey, ctx.clientAddress)
      return bulkCheck({ ...ctx, actor }, targets)
    },
  }),
)

/** Returns the upper-case values of an enum whose names are lower-case in this room. */
function upperCaseValues<const Value extends string>(descriptions: Readonly<Record<Value, string>>) {
  const values = Object.entries<string>(descriptions)
  return Object.fromEntries(values.map(([value, description]) => [value.toUpperCase(), { value, description }]))
}
