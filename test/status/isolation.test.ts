// @slow
import { inflateSync } from 'node:zlib'
import type { GraphQLField, GraphQLInputType, GraphQLNamedType, GraphQLObjectType } from 'graphql'
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { afterAll, describe, expect, test } from 'vitest'
import { addressKeys } from '../../src/alerting/channel-address.ts'
import { schema } from '../../src/app/schema.ts'
import { idPrefixes, newId } from '../../src/core/id.ts'
import { optionKeys } from '../../src/monitoring/monitor/options.ts'
import { startSession } from '../../src/people/session.ts'
import { testApp } from '../support/app.ts'
import { tablesOf, testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import type { FilledOrganization } from '../support/filled-organization.ts'
import { dispatched, filledOrganization, mutate, uploadFile } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { post, websocketClient } from '../support/graphql-client.ts'
import { startReceiver } from '../support/receiver.ts'
import { rowsNaming } from '../support/rows.ts'
import { casesAt, sample } from '../support/runs.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

/**
 * Who may read a field: everyone who knows the id; a key of the organization; a signed-in person; the operator; the
 * caller of a check; the holder of a subscription's token; the buyer of a plan.
 */
type Reader = 'everyone' | 'organization' | 'owner' | 'operator' | 'check' | 'subscriber' | 'buyer'

const words = (text: string) => text.trim().split(/\s+/)

/** Every field of the schema, by reader. Add a new field here first: the tests are based on this. */
const readers: Record<Reader, Record<string, string>> = {
  everyone: {
    Query: 'node nodes statusPage',
    Subscription: 'statusPageEvents incidentEvents statusPageChanges',
    StatusPageChange: 'cursor isReload patch',
    PagePatch: 'since html',
    StatusPageEvent: 'cursor at kind subjectId incident service serviceGroup maintenance page',
    StatusPage:
      'id slug name description timeZone accentColor logoUrl links uptimeSource languages defaultLanguage customDomain publishesReports cursor status services serviceGroups incidents maintenances pastIncidents pastMaintenances',
    PageStatus: 'indicator description unknownSince',
    PageLink: 'label url',
    ServiceGroup: 'id name description position services',
    Service: 'id name description groupId position status basis unknownSince uptime days bars importedDays',
    Uptime: `from to percentage coverage source knownSeconds upSeconds degradedSeconds partialSeconds downSeconds outageSeconds unknownSeconds
      maintenanceSeconds`,
    UptimeDay: `date incidentStatus from to percentage coverage source knownSeconds upSeconds degradedSeconds partialSeconds downSeconds outageSeconds unknownSeconds
      maintenanceSeconds`,
    ImportedDay: 'date importedFrom up down maintenance',
    UptimeBar: `incidentStatus from to percentage coverage source knownSeconds upSeconds degradedSeconds partialSeconds downSeconds outageSeconds unknownSeconds
      maintenanceSeconds`,
    Incident:
      'id title translations status impact visibility startedAt resolvedAt importedFrom services updates postmortem',
    Postmortem: 'incidentId message translations publishedAt editedAt',
    TitleTranslation: 'language title',
    MessageTranslation: 'language message',
    IncidentService: 'service status',
    IncidentUpdate: 'id incidentId status message translations createdAt editedAt services files',
    IncidentFile: 'id updateId noteId name type size alt width height path url createdAt',
    IncidentUpdateService: 'service status',
    Maintenance: 'id title translations status startsAt endsAt importedFrom services updates repeats',
    MaintenanceUpdate: 'id maintenanceId status message translations createdAt editedAt',
    // A refusal only repeats what its caller sent.
    ValidationError: 'code message issues',
    ValidationIssue: 'path message line',
    NotFoundError: 'code message',
    ConflictError: 'code message',
    ManagedByFileError: 'code message file section key members',
    LimitExceededError: 'code message limit resetsAt',
    RateLimitedError: 'code message retryAt',
    TierLimitReachedError: 'code message limit',
    UnavailableError: 'code message',
  },
  organization: {
    Query: 'organization',
    Mutation: `updateOrganization deleteOrganization createPage updatePage deletePage requestDomain removeDomain createApiKey revokeApiKey
      updatePageAccess updatePageEmbedding updatePageReports createPageToken revokePageToken
      createServiceGroup updateServiceGroup deleteServiceGroup reorderServiceGroups
      createService updateService deleteService reorderServices
      createIncident updateIncident postIncidentUpdate editIncidentUpdate deleteIncidentUpdate deleteIncident
      publishIncident dismissIncident mergeIncidents
      createIncidentNote updateIncidentNote deleteIncidentNote setIncidentLead moveIncidentService
      deleteIncidentFile
      savePostmortem publishPostmortem unpublishPostmortem deletePostmortem
      requestPostmortemReview approvePostmortem cancelPostmortemReview createTemplate updateTemplate deleteTemplate
      scheduleMaintenance updateMaintenance cancelMaintenance editMaintenanceUpdate deleteMaintenanceUpdate
      deleteMaintenance createMaintenanceSeries updateMaintenanceSeries endMaintenanceSeries deleteMaintenanceSeries
      createMonitor updateMonitor pauseMonitor resumeMonitor testMonitor deleteMonitor rotateHeartbeatToken
      deleteSubscriber importSubscribers redeliver startCheckout
      createIntegration updateIntegration rotateIntegration deleteIntegration
      createAlertChannel updateAlertChannel deleteAlertChannel testAlertChannel rotateAlertChannelSecret acknowledgeAlert
      createObjective updateObjective deleteObjective correctUptime deleteUptimeCorrection
      planConfiguration applyConfiguration importRecords
      createServices updateServices deleteServices updateIncidentServices
      createMonitors updateMonitors pauseMonitors resumeMonitors deleteMonitors deleteSubscribers
      lockManagedObject unlockManagedObject`,
    Subscription: 'monitorChecks organizationEvents',
    OrganizationEvent: 'cursor event',
    ImportRecordsPayload: 'records',
    ImportedRecord: 'section key name outcome reason',
    ConfigurationPlan: 'changes changeCount counts moved deletionWarning drift takenOver planHash',
    ConfigurationCount: 'action section count',
    ConfigurationMove: 'section from to',
    ConfigurationChange: 'action section key name takenOver members',
    ConfigurationMemberChange: 'name from to',
    ConfigurationDrift: 'section key members by at',
    ManagedObject: 'id file section key members isLocked unlockedAt',
    Member: 'user role createdAt apiKeys',
    User: 'id name email emailProvenAt',
    Organization: `id name slug contactEmail timeZone tier checkPlan checkPlanUntil createdAt deletedAt deletionAt cursor eventsSince usage apiKeys
      description accentColor logoUrl links uptimeSource languages defaultLanguage customDomain domain version statusPage pages
      services serviceGroups incidents maintenances maintenanceSeries monitors subscribers deliveries events billing members
      alertChannels alerts alertIntegrations templates configuration managedObject objectives uptimeCorrections privateTargets`,
    PrivateTargets: 'allowed forOrganization forAll byEnvironment',
    Integration: 'id name kind url rules paths checksSignatures bodies fullBody lastReceivedAt version createdAt',
    IntegrationPaths: 'title text key state resolvedValues severity link labels',
    IntegrationRule: 'labels serviceId status impact mode',
    IntegrationLabel: 'name value',
    IncomingBody: 'id receivedAt status note body',
    DeleteIntegrationPayload: 'id',
    Template:
      'id kind name title message translations status impact services notifySubscribers filled version createdAt',
    TemplateService: 'serviceId status',
    TemplateTranslation: 'language title message',
    FilledTemplate: 'title message translations missing',
    DeleteTemplatePayload: 'id',
    StatusPage: 'domain allServices version access embedOrigins tokens',
    PageAccess: 'kind mailDomains ranges',
    PageToken: 'id name createdAt lastUsedAt',
    CreatePageTokenPayload: 'id secret token',
    PageDomain: 'name state checkedAt record file',
    DomainRecord: 'name value',
    DomainFile: 'url content',
    Billing: 'tier limits usage subscription subscriptions tierFloor upgradeUrls checkPlan checkPlanUntil invoices',
    TierLimits: 'monitors services subscribers minIntervalSeconds historyDays checksPerDay',
    TierUsage: 'monitors services subscribers minIntervalSeconds historyDays checksPerDay',
    BillingSubscription: 'status paysFor currentPeriodEnd cancelAtPeriodEnd isGift',
    UpgradeUrls: 'pro team',
    CheckPlanInvoice: 'id status currency checkoutUrl createdAt expiresAt settledAt',
    StartCheckoutPayload: 'url',
    ...Object.fromEntries(
      words(`CreateServices UpdateServices DeleteServices UpdateIncidentServices CreateMonitors UpdateMonitors
        PauseMonitors ResumeMonitors DeleteMonitors DeleteSubscribers`).flatMap((name) => [
        [`${name}Payload`, 'results refused'],
        [`${name}Item`, 'index result'],
      ]),
    ),
    Usage: 'checks',
    ChecksUsage: 'used limit resetsAt',
    ApiKey: 'id name scope prefix createdBy createdAt expiresAt lastUsedAt revokedAt',
    Event: 'cursor kind at since actor apiKey userName subjectId subjectName monitor',
    ServiceGroup: 'version createdAt',
    Service: 'statusOverride version createdAt',
    DeletePostmortemPayload: 'id',
    Incident: 'version mergedIntoId createdAt notes lead alertedChannels files',
    IncidentNote: 'id incidentId message actor authorName createdAt editedAt version files',
    IncidentLead: 'userId name since',
    AlertedChannel: 'channelId name kind notifiedAt',
    DeleteIncidentNotePayload: 'id',
    DeleteIncidentFilePayload: 'id',
    Postmortem: 'version reviewRequestedAt reviewRequestedBy reviewedAt reviewedBy',
    IncidentUpdate: 'version notified',
    UpdateAudience: 'channel notified delivered failed',
    Maintenance: 'version createdAt seriesId',
    MaintenanceSeriesTranslation: 'language title message',
    MaintenanceSeries: `id title message translations timeZone startsAt durationMinutes rule repeats until skips nextStarts services
      notifySubscribers version createdAt`,
    MaintenanceUpdate: 'version',
    Monitor: `id name kind service state stateSince stateCause unknownSince unknownReason dependsOn blockedSince pausedBy intervalSeconds
      effectiveIntervalSeconds timeoutMs
      failureThreshold recoveryThreshold agreement lastResult regions options
      results outages uptime days latency version createdAt`,
    MonitorParent: 'id name state',
    MonitorRegion: `region state stateSince lastProbedAt lastKnownAt lastOutcome lastMessage lastLatencyMs startedAt nextProbeAt`,
    LastProbeResult: 'at region outcome message latencyMs',
    MonitorProbeResult: 'cursor at region outcome latencyMs message detail',
    ProbeResultEvent: 'cursor at region outcome latencyMs message detail monitor',
    ProbeDetail: 'phases address status certificateEndsAt answers listedOn failedLists output note',
    ProbePhases: 'dns connect tls firstByte total',
    Outage: 'startedAt endedAt durationSeconds downSeconds cause incident',
    LatencyPoint: 'at count p50 p95 p99',
    HttpOptions: `url method headers hasBody expectedStatus maxRedirects keyword json maxBodyBytes verifyCertificate
      certificateDays degradedAboveMs ipVersion downAboveMs inverted
      expectedHeaders clientCertificate oauth proxy`,
    HttpProxy: 'url username',
    HttpHeader: 'name',
    HttpKeyword: 'text absent isRegex',
    HttpJson: 'path equals notEquals lessThan atMost greaterThan atLeast matches length absent',
    HttpExpectedHeader: 'name equals matches absent',
    HttpClientCertificate: 'certificate',
    HttpOAuth: 'tokenUrl clientId scope audience authentication',
    TcpOptions:
      'host port tls startTls certificateDays verifyCertificate hasSend expect degradedAboveMs downAboveMs inverted',
    DnsOptions: 'name recordType expected match resolver degradedAboveMs downAboveMs inverted certificateDays',
    PingOptions: 'host count packetSize ipVersion degradedAboveMs downAboveMs inverted',
    HeartbeatOptions: 'graceSeconds schedule timeZone maxRunSeconds url',
    BlacklistOptions: 'target acknowledged',
    GroupOptions: 'monitorIds members require count',
    GroupMember: 'id name state unknownSince',
    SshOptions: 'host port degradedAboveMs downAboveMs inverted',
    RedisOptions:
      'host port tls certificateDays verifyCertificate username hasPassword command degradedAboveMs downAboveMs inverted',
    PostgresqlOptions:
      'host port tls certificateDays verifyCertificate user hasPassword database query degradedAboveMs downAboveMs inverted',
    MysqlOptions:
      'host port tls certificateDays verifyCertificate user hasPassword database query degradedAboveMs downAboveMs inverted',
    MongodbOptions: `host port tls certificateDays verifyCertificate user hasPassword authDatabase database command degradedAboveMs downAboveMs
      inverted`,
    MqttOptions:
      'host port tls certificateDays verifyCertificate username hasPassword topic expect degradedAboveMs downAboveMs inverted',
    WebsocketOptions:
      'host port tls certificateDays verifyCertificate path subprotocol hasSend expect degradedAboveMs downAboveMs inverted',
    GrpcOptions: 'host port tls certificateDays verifyCertificate service degradedAboveMs downAboveMs inverted',
    DomainOptions: 'domain warnDays',
    UdpOptions: 'host port hasSend expect degradedAboveMs downAboveMs inverted',
    TestMonitorPayload: 'at outcome message latencyMs detail',
    DeleteMonitorPayload: 'id',
    DeleteIncidentDraftPayload: 'id',
    Subscriber: `id channel address state topics language allServices services incidents createdAt confirmedAt stoppedAt stopReason bounces
      signingSecret`,
    Delivery: 'id subscriber channel event status attempts nextAttemptAt deferredUntil createdAt endedAt',
    DeliveryAttempt: 'at delivered status message durationMs',
    AlertChannel: `id name kind address when monitors services remindAfterMinutes escalateToId escalateAfterMinutes quietTimes
      signingSecret messages version createdAt`,
    QuietTimes: 'windows timeZone',
    QuietWindow: 'days from to',
    AlertDelivery: 'id status attempts answer nextAttemptAt createdAt endedAt',
    Alert: `id monitor objective monitorName change state since message count openedAt endedAt acknowledgedAt acknowledgedBy silence`,
    TestAlertChannelPayload: 'delivered status message answer',
    DeleteAlertChannelPayload: 'id',
    Objective: 'id service target windowDays timeZone burnSpeed burningSince standing version createdAt',
    ObjectiveStanding: `from to verdict percentage coverage isFull source budgetSeconds remainingSeconds goodSeconds badSeconds
      unknownSeconds maintenanceSeconds excludedSeconds correctedSeconds burnRates`,
    BurnRate: 'speed longMinutes shortMinutes threshold longRate shortRate isBurning',
    DeleteObjectivePayload: 'id',
    UptimeCorrection: 'id service startsAt endsAt kind reason author createdAt',
    DeleteUptimeCorrectionPayload: 'id',
    ImportSubscribersPayload: 'imported known skippedCount skipped problems',
    ImportSkipped: 'line reason message',
    ImportProblem: 'line message',
    DeleteSubscriberPayload: 'id',
    CreateApiKeyPayload: 'id secret apiKey',
    DeleteOrganizationPayload: 'id deletionAt',
    DeletePagePayload: 'id name customDomain subscribers',
    DeleteServiceGroupPayload: 'id',
    DeleteServicePayload: 'id',
    DeleteIncidentPayload: 'id',
    DeleteIncidentUpdatePayload: 'id',
    DeleteMaintenancePayload: 'id',
    DeleteMaintenanceSeriesPayload: 'id',
    DeleteMaintenanceUpdatePayload: 'id',
    ReorderServiceGroupsPayload: 'serviceGroups',
    ReorderServicesPayload: 'services',
  },
  owner: {
    Query: 'viewer',
    Mutation: 'invite revokeInvitation setRole removeMember revokeSession',
    Organization: 'invitations',
    Viewer: 'user memberships sessions',
    ViewerMembership: 'role organization',
    Session: 'id userAgent isCurrent createdAt lastSeenAt expiresAt',
    Invitation: 'id email role createdAt expiresAt',
    InvitePayload: 'invitation url isMailed',
    RevokeSessionPayload: 'id',
  },
  operator: {
    Query: 'unmatchedPayments organizations diagnosis privateTargets',
    Finding: 'code subject severity message fix',
    Mutation:
      'createOrganization restoreOrganization setTier setCheckPlan setPrivateTargets assignPayment reportBounce liftSuppression addOwner createPasswordResetLink',
    PaymentEvent:
      'id provider type createdAt receivedAt subscriptionId amount currency email reason organizationId assignedAt',
    CreatePasswordResetLinkPayload: 'url',
    ReportBouncePayload: 'stopped',
    LiftSuppressionPayload: 'lifted',
    CreateOrganizationPayload: 'organization apiKey',
  },
  subscriber: {
    Query: 'subscriber',
    Mutation: 'subscribe confirmSubscription updateSubscription unsubscribe rotateWebhookSecret',
    SubscribePayload: 'message subscriber',
  },
  check: {
    Query: 'blacklists checkIp checkDomain',
    Mutation: 'bulkCheck',
    Subscription: 'checkProgress',
    AddressesResolved: 'addresses checked',
    Blacklist: 'id name kind zone description ipv6 health',
    BlacklistHealth: 'status detail checkedAt latencyMs',
    BlacklistResult: 'name listed policy response description delistUrl error codes note',
    BulkCheckPayload: 'results',
    DomainReport:
      'target targetKind checkedAt totalChecked listedCount policyCount cleanCount failedCount verdict results resolvedIps resolvedIpsTruncated resolutionFailed ipReports',
    Geo: 'country city isp asn loading',
    IpReport:
      'target targetKind checkedAt totalChecked listedCount policyCount cleanCount failedCount verdict results geo',
    ListAnswered: 'target result',
    TargetError: 'target code message',
  },
  buyer: {
    Mutation: 'buyCheckPlan claimCheckPlan',
    BuyCheckPlanPayload: 'invoice secret',
    ClaimCheckPlanPayload: 'invoice apiKey',
  },
}

const declared = (Object.keys(readers) as Reader[]).flatMap((reader) =>
  Object.entries(readers[reader]).flatMap(([type, fields]) =>
    words(fields).map((field) => [`${type}.${field}`, reader] as const),
  ),
)
const readerOf = new Map<string, Reader>(declared)

/** The mutations of an organization's own objects. */
const mutations = words(readers.organization['Mutation'] ?? '')

/** Connections and their edges contain nothing but their nodes, which have their own type. */
const isWrapping = (name: string) => name === 'PageInfo' || /(Connection|Edge)$/.test(name)
const objectTypes = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter(({ name }) => !name.startsWith('__'))

const now = new Date('2026-11-20T12:00:00.000Z')
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const receiver = await startReceiver()
afterAll(() => receiver.close())
const port = await freePort()
const database = await testDatabase()
const { baseUrl: url } = await testApp({
  database,
  dns: await startDnsServer(scriptedLists()),
  settings: {
    PORT: `${port}`,
    BASE_URL: `http://127.0.0.1:${port}`,
    ALLOW_PRIVATE_NETWORKS: 'true',
    STRIPE_PAYMENT_LINK_PRO: 'https://buy.example/pro',
  },
  now: () => now,
})
const fill = async (hook: string | null = `${receiver.url}/hook`) => {
  const made = await filledOrganization(url, { startsAt: hours(8), endsAt: hours(10) }, hook)
  const named = { name: 'Ops', address: { webhook: { url: `${receiver.url}/alerts` } } }
  const channel = await mutate(url, made.key, 'createAlertChannel', 'AlertChannel', named)
  // Unpublished objects, of which strangers see nothing.
  const hidden = { title: 's3cret draft', status: 'INVESTIGATING', impact: 'CRITICAL', message: 's3cret words' }
  const services = [{ serviceId: made.ids.Service, status: 'MAJOR_OUTAGE' }]
  await mutate(url, made.key, 'createIncident', 'Incident', { ...hidden, services, visibility: 'DRAFT' })
  const note = { incidentId: made.ids.Incident, message: 's3cret note' }
  const { id: noteId } = await mutate(url, made.key, 'createIncidentNote', 'IncidentNote', note)
  const incidentId = made.ids.Incident
  // The file of a published update is public; files of notes, and files not attached yet, are not.
  await uploadFile(url, made.key, { incidentId, name: 'public.txt', update_id: made.ids.IncidentUpdate })
  await uploadFile(url, made.key, { incidentId, name: 's3cret-note.txt', note_id: noteId })
  const fileIds: Record<string, string> = {}
  for (const mutation of ['postIncidentUpdate', 'createIncidentNote', 'deleteIncidentFile'])
    fileIds[mutation] = (await uploadFile(url, made.key, { incidentId, name: 's3cret.txt' })).id
  await dispatched(database.prisma, made.id)
  const alert = { id: newId('Alert'), organizationId: made.id, subjectId: made.ids.Monitor, subjectName: 'Health' }
  await database.prisma.alert.create({
    data: { ...alert, change: 'DOWN', state: 'DOWN', since: now, message: 'Refused', openedAt: now },
  })
  const about = { serviceId: made.ids.Service }
  const objective = await mutate(url, made.key, 'createObjective', 'Objective', { ...about, target: 99.9 })
  const wrong = { startsAt: hours(-2), endsAt: hours(-1), kind: 'GOOD', reason: 's3cret mishap' }
  const correction = await mutate(url, made.key, 'correctUptime', 'UptimeCorrection', { ...about, ...wrong })
  await dispatched(database.prisma, made.id)
  const more = { Objective: objective.id, UptimeCorrection: correction.id }
  return { ...made, noteId, fileIds, ids: { ...made.ids, AlertChannel: channel.id, Alert: alert.id, ...more } }
}
type OwnFill = Awaited<ReturnType<typeof fill>>
const mine = await fill()
const theirs = await fill()

/** Objects of `mine` that the public page does not show. */
const hidden = new RegExp(
  `${mine.id}|${mine.ids.ApiKey}|ops@acme|${mine.ids.Monitor}|${mine.heartbeatId}|monitored|s3cret|${mine.ids.Subscriber}|${mine.ids.Delivery}|${mine.ids.AlertChannel}|${mine.ids.Alert}|${mine.ids.Objective}|${mine.ids.UptimeCorrection}|hook`,
)

/** Callers without a key of `mine`. */
const strangers = [
  { who: 'a visitor', key: undefined, refusal: 'UNAUTHENTICATED' },
  { who: 'another organization', key: theirs.key, refusal: 'FORBIDDEN' },
] as const

const ask = async (
  key: string | undefined,
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => {
  const { data, errors } = await post(url, { query, key, variables }, headers)
  return {
    data: data as Record<string, unknown> | null,
    codes: (errors ?? []).map(({ extensions }) => extensions?.['code']),
  }
}

/** The types to which all other objects belong. */
const tenants: ReadonlySet<string> = new Set(['Organization', 'StatusPage'])

/** A field with everything below it that `reader` and everyone may read. */
function whole({ name, args, type }: GraphQLField<unknown, unknown>, reader: Reader, path: readonly string[]): string {
  const first = args.some((arg) => arg.name === 'first') ? `(first: ${path.length > 1 ? 1 : 2})` : ''
  const page = args.some((arg) => arg.name === 'id') ? `(id: "${mine.ids.Service}")` : first
  return `${name}${page} ${everything(getNamedType(type), reader, path)}`
}

/**
 * A selection of everything of a type that `reader` and everyone may read. To keep an operation within its limits,
 * nested objects omit figures, and only the ids are selected below a monitor or of a nested monitor.
 */
function everything(named: GraphQLNamedType, reader: Reader, path: readonly string[] = []): string {
  if (isUnionType(named))
    return `{ ${named
      .getTypes()
      .map((member) => memberOf(member, reader, path))
      .join(' ')} }`
  if (!isObjectType(named)) return ''
  const above = path.filter((name) => name in idPrefixes && !tenants.has(name))
  const isThing = named.name in idPrefixes && !tenants.has(named.name)
  if (isThing && above.includes(named.name)) return '{ id }'
  if (isThing && above.length > 0 && [named.name, ...above].includes('Monitor')) return '{ id }'
  const fields = Object.values(named.getFields()).filter(
    ({ name, type }) =>
      !(isThing && above.length > 0 && /^(Uptime|ImportedDay)/.test(getNamedType(type).name)) &&
      // The edges of a connection have the same nodes.
      !(isWrapping(named.name) && name === 'nodes') &&
      (isWrapping(named.name) || ['everyone', reader].includes(readerOf.get(`${named.name}.${name}`) ?? '')),
  )
  return `{ ${fields.map((field) => whole(field, reader, [...path, named.name])).join(' ')} }`
}

/** Everything of a member of a union, with unique aliases, because members may have fields of the same name. */
function memberOf(member: GraphQLObjectType, reader: Reader, path: readonly string[]): string {
  const fields = Object.values(member.getFields()).map(
    (field) => `${member.name}_${field.name}: ${whole(field, reader, path)}`,
  )
  return `... on ${member.name} { ${fields.join(' ')} }`
}

const typeNamed = (name: string) => {
  const type = schema.getType(name)
  if (!type) throw new Error(`There is no type ${name}.`)
  return type
}

/**
 * Everything that a key can read of its organization, including the log, in several operations, because one would be
 * too large.
 */
async function ownOf(key: string | undefined) {
  const all = Object.values((typeNamed('Organization') as GraphQLObjectType).getFields())
  const fields = all.filter(({ name }) => readerOf.get(`Organization.${name}`) === 'organization')
  const lists = fields.filter(({ args }) => args.length > 0)
  const parts = [fields.filter((field) => !lists.includes(field)), ...lists.map((field) => [field])]
  const asked: Awaited<ReturnType<typeof ask>>[] = []
  for (const part of parts) {
    const selection = part.map((field) => whole(field, 'organization', ['Organization'])).join(' ')
    asked.push(await ask(key, `{ organization { ${selection} } }`))
  }
  return { data: asked.map(({ data }) => data), codes: asked.flatMap(({ codes }) => codes) }
}

async function wholeOf({ key }: FilledOrganization) {
  const asked = await ownOf(key)
  expect(asked.codes).toEqual([])
  return asked
}

const tables = await tablesOf(database.pool)

/** Every row of the database that refers to an organization or one of its objects. */
const rowsOf = ({ id, ids, heartbeatId }: FilledOrganization) =>
  rowsNaming(database.pool, tables, [id, heartbeatId, ...Object.values(ids)])

/** The content of `mine` before the tests; only strangers act on it. */
const untouched = { whole: await wholeOf(mine), rows: await rowsOf(mine) }

test('every field of the schema has its readers declared', () => {
  const actual = objectTypes
    .filter(({ name }) => !isWrapping(name))
    .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`))
  expect(declared.map(([field]) => field).sort()).toEqual(actual.sort())
})

describe.each(strangers)('$who', (stranger) => {
  const { key, refusal } = stranger
  const ids: Record<string, string> = { Organization: mine.id, ...mine.ids }
  const nodeTypes = objectTypes.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'))
  const isPublic = (type: string) => readerOf.get(`${type}.id`) === 'everyone'

  test('the tests have an id of every type with ids', () => {
    expect(Object.keys(ids).sort()).toEqual(Object.keys(idPrefixes).sort())
    expect(nodeTypes.map(({ name }) => name).sort()).toEqual(Object.keys(idPrefixes).sort())
  })

  const nodeFields = nodeTypes.flatMap((type) =>
    Object.values(type.getFields()).map((field) => [type.name, field.name, field] as const),
  )
  test.each(casesAt(stranger, sample(nodeFields), strangers))(
    'sees %s.%s by id only when the public page shows it',
    async (type, name, field) => {
      const reader = readerOf.get(`${type}.${name}`) ?? 'organization'
      const isShown = reader === 'everyone'
      const selection = whole(field, reader, [type])
      const query = `query ($id: ID!) { node(id: $id) { ... on ${type} { ${selection} } } }`
      const asked = await ask(key, query, { id: ids[type] })
      if (!isPublic(type)) expect(asked).toEqual({ data: { node: null }, codes: [] })
      else if (isShown) expect(asked).toEqual(await ask(mine.key, query, { id: ids[type] }))
      else expect(asked).toEqual({ data: { node: { [name]: null } }, codes: [refusal] })
    },
  )

  test('gets the same objects by ids as by id', async () => {
    const { data } = await ask(key, 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', {
      ids: Object.values(ids),
    })
    expect(data?.['nodes']).toEqual(
      Object.entries(ids).map(([type, id]) => (isPublic(type) ? { __typename: type, id } : null)),
    )
  })

  test('sees the public page as the organization itself does', async () => {
    const query = `query ($slug: String!) { statusPage(slug: $slug) ${everything(typeNamed('StatusPage'), 'everyone')} }`
    const page = await ask(key, query, { slug: mine.slug })
    expect(page).toEqual(await ask(mine.key, query, { slug: mine.slug }))
    for (const id of [mine.ids.Service, mine.ids.Incident, mine.ids.Maintenance])
      expect(JSON.stringify(page)).toContain(id)
    expect(JSON.stringify(page)).not.toMatch(hidden)
  })

  test('gets the page’s events by subscription, and nothing more', async () => {
    const query = `subscription ($slug: String!) {
      statusPageEvents(slug: $slug, after: "0") ${everything(typeNamed('StatusPageEvent'), 'everyone')} }`
    const events = await eventsUntil(mine.ids.Maintenance, key, query)
    expect(events).toEqual(await eventsUntil(mine.ids.Maintenance, mine.key, query))
    expect(events.map((event) => (event as { kind: string }).kind)).toEqual([
      'SERVICE_GROUP_CREATED',
      'SERVICE_CREATED',
      'INCIDENT_CREATED',
      'SERVICE_UNKNOWN',
      // The date of the ended series.
      'MAINTENANCE_SCHEDULED',
      'MAINTENANCE_DELETED',
      'MAINTENANCE_SCHEDULED',
    ])
    expect(JSON.stringify(events)).not.toMatch(hidden)
  })

  test('gets changes of an open page, and nothing more than the page shows', async () => {
    const page = await (await fetch(`${url}/status/${mine.slug}`)).text()
    const client = websocketClient(url, key === undefined ? undefined : { apiKey: key })
    const query =
      'subscription ($slug: String!) { statusPageChanges(slug: $slug, after: "0") { patch { since html } } }'
    type Answer = { statusPageChanges: { patch: { since: string[]; html: string } | null } }
    const changes = client.iterate<Answer>({ query, variables: { slug: mine.slug } })
    const { value } = await changes.next()
    await client.dispose()
    // The first event sends it to all who follow from there.
    const { since, html } = value.data.statusPageChanges.patch
    const patch = inflateSync(Buffer.from(html, 'base64')).toString()
    expect(page).toContain(`data-parts="${since[0]}"`)
    expect(patch).toContain(`data-parts="${since[0]}"`)
    expect(patch).not.toMatch(hidden)
  })

  test('cannot read it as its own organization', async () => {
    const asked = await ownOf(key)
    if (key === undefined) {
      // Without a key, some of the operations are too large.
      expect(asked.data.filter((data) => data != null)).toEqual([])
      expect(asked.codes).toContain('UNAUTHENTICATED')
      return expect(new Set(asked.codes)).toEqual(new Set(['UNAUTHENTICATED', 'OPERATION_TOO_LARGE']))
    }
    expect(asked.codes).toEqual([])
    for (const id of [mine.slug, ...Object.values(ids)]) expect(JSON.stringify(asked)).not.toContain(id)
  })

  test('cannot find anything of it through filters and cursors', async () => {
    if (key === undefined) return
    const after = Buffer.from(`GPC:S:${mine.ids.Incident}`).toString('base64')
    const { data } = await ask(
      key,
      `{ organization {
      services(filter: { groupId: "${mine.ids.ServiceGroup}" }) { totalCount edges { node { id } } }
      incidents(filter: { serviceId: "${mine.ids.Service}" }) { totalCount edges { node { id } } }
      maintenances(filter: { serviceId: "${mine.ids.Service}" }) { totalCount edges { node { id } } }
      bySubject: events(filter: { subjectId: "${mine.ids.Service}" }) { totalCount edges { node { subjectId } } }
      monitors(filter: { serviceId: "${mine.ids.Service}" }) { totalCount edges { node { id } } }
      byKey: events(filter: { apiKeyId: "${mine.ids.ApiKey}" }) { totalCount edges { node { subjectId } } }
    } }`,
    )
    for (const found of Object.values(data?.['organization'] ?? {})) expect(found).toEqual({ totalCount: 0, edges: [] })
    const behind = await ask(key, `{ organization { incidents(after: "${after}") { edges { node { id } } } } }`)
    expect(JSON.stringify(behind)).not.toContain(mine.ids.Incident)
    const beyond = Buffer.from(`GPC:S:${mine.ids.Monitor}`).toString('base64')
    const found = await ask(
      key,
      `{ organization { monitors(before: "${beyond}", last: 5) { edges { node { id } } } } }`,
    )
    for (const id of [mine.ids.Monitor, mine.heartbeatId]) expect(JSON.stringify(found)).not.toContain(id)
  })

  test.each(casesAt(stranger, sample(mutations), strangers))('cannot change anything with %s', async (name) => {
    const { query, variables, names, isBulk } = mutationOf(name, mine)
    const asked = await ask(key, query, variables)
    if (key === undefined) expect(asked).toEqual({ data: null, codes: ['UNAUTHENTICATED'] })
    else if (names) {
      const refused = expect.objectContaining({ code: 'NOT_FOUND' })
      const answered = isBulk ? expect.objectContaining({ results: [{ result: refused }] }) : refused
      expect(asked).toEqual({ data: { [name]: answered }, codes: [] })
    }
    expect(await rowsOf(mine)).toEqual(untouched.rows)
  })

  test('has changed nothing that the organization can read', async () => {
    expect(await wholeOf(mine)).toEqual(untouched.whole)
  })

  test.each(casesAt(stranger, words(readers.operator['Mutation'] ?? ''), strangers))('cannot use %s', async (name) => {
    const { query, variables } = mutationOf(name, mine)
    const { data, codes } = await ask(key, query, variables)
    expect({ data, codes }).toEqual({ data: null, codes: [refusal] })
  })
})

/**
 * Given the inputs of these tests, these change no row: an order of one, a pause of a paused monitor, a probe, a
 * payment link.
 */
const changeless = words(
  'reorderServiceGroups reorderServices pauseMonitor pauseMonitors testMonitor startCheckout endMaintenanceSeries planConfiguration',
)

/**
 * Mutations that share an organization, because filling one takes long: none of them needs what another one changes or
 * deletes.
 */
const sharing = [
  /^(create(?!Page$)|schedule|plan|pause|test|rotate|startCheckout|import)/,
  /^(update(ServiceGroup|Service|IncidentNote|Template|MaintenanceSeries|Monitor|Integration|AlertChannel|Objective)|setIncidentLead|correctUptime)$/,
  /^(delete(IncidentNote|IncidentFile|Template|Maintenance|MaintenanceSeries|Monitor|Integration|AlertChannel|Objective|UptimeCorrection)|revokePageToken)$/,
]
const shared = new Map<RegExp, ReturnType<typeof fill>>()

function ownFor(name: string): ReturnType<typeof fill> {
  const group = sharing.find((names) => names.test(name))
  // Only for mutations about subscribers, waits until one is notified.
  if (group === undefined) return /Subscriber|redeliver/.test(name) ? fill() : fill(null)
  const own = shared.get(group) ?? fill(null)
  shared.set(group, own)
  return own
}

test.each(sample(mutations))('%s, as the tests send it, works for the organization itself', async (name) => {
  const own = await ownFor(name)
  if (/^delete\w+Update$/.test(name)) await writeMore(own)
  if (/^(publish|dismiss)Incident$/.test(name))
    await database.prisma.incident.update({ where: { id: own.ids.Incident }, data: { visibility: 'DRAFT' } })
  if (/Postmortem(Review)?$/.test(name)) await writePostmortem(own, name)
  if (/ManagedObject$/.test(name)) await manageService(own, name === 'lockManagedObject')
  if (name === 'removeDomain') {
    const { query, variables } = mutationOf('requestDomain', own)
    await ask(own.key, query, variables)
  }
  const other = /^(create|delete)Page$/.test(name) ? await anotherPage(own) : own.ids.StatusPage
  const before = await rowsOf(own)
  const { query, variables } = mutationOf(name, { ...own, ids: { ...own.ids, StatusPage: other } })
  if (name === 'applyConfiguration') Object.assign(variables['input'] as object, await plannedHash(own))
  if (name === 'mergeIncidents') Object.assign(variables['input'] as object, { intoId: await anotherIncident(own) })
  if (name === 'moveIncidentService')
    Object.assign(variables['input'] as object, { intoId: await anotherIncident(own) })
  if (name === 'setIncidentLead') Object.assign(variables['input'] as object, { userId: await someMember(own) })
  const person = name === 'approvePostmortem' ? await signedIn(own) : undefined
  const { data, codes } = await ask(person ? undefined : own.key, query, variables, person)
  expect(codes).toEqual([])
  expect(JSON.stringify(data?.[name])).not.toContain('"code"')
  if (changeless.includes(name)) expect(await rowsOf(own)).toEqual(before)
  else expect(await rowsOf(own)).not.toEqual(before)
})

/** Lets a file manage a service. */
async function manageService({ id, ids }: FilledOrganization, isUnlocked: boolean): Promise<void> {
  const managed = { organizationId: id, section: 'services', key: 'api', file: 'allclear.yaml', objectId: ids.Service }
  const lock = { locksMembers: true, unlockedAt: isUnlocked ? new Date() : null }
  await database.prisma.managedObject.create({ data: { ...managed, ...lock, given: '', fields: {}, appliedSeq: 0 } })
}

/** Plans the file that the tests send. */
async function plannedHash(own: OwnFill): Promise<unknown> {
  const { variables } = mutationOf('planConfiguration', own)
  const query = `mutation ($input: PlanConfigurationInput!) {
    planConfiguration(input: $input) { ... on ConfigurationPlan { planHash } }
  }`
  return (await ask(own.key, query, variables)).data?.['planConfiguration']
}

/** Adds an incident. Returns its id. */
async function anotherIncident({ id }: FilledOrganization): Promise<string> {
  const incident = {
    id: newId('Incident'),
    organizationId: id,
    title: 'Another',
    impact: 'NONE',
    status: 'IDENTIFIED',
  } as const
  const at = new Date()
  const update = {
    id: newId('IncidentUpdate'),
    organizationId: id,
    status: 'IDENTIFIED',
    message: '',
    createdAt: at,
  } as const
  await database.prisma.incident.create({
    data: { ...incident, startedAt: at, createdAt: at, updates: { create: update } },
  })
  return incident.id
}

/** Adds a member. Returns the person's id. */
async function someMember({ id: organizationId, slug }: FilledOrganization): Promise<string> {
  const user = { id: newId('User'), email: `${slug}@people.example`, name: 'Ada', createdAt: now }
  const memberships = { create: { organizationId, role: 'EDITOR', createdAt: now } } as const
  return (await database.prisma.user.create({ data: { ...user, memberships } })).id
}

/** Adds a page, which needs a higher tier. Returns its id. */
async function anotherPage({ id }: FilledOrganization): Promise<string> {
  await database.prisma.organization.update({ where: { id }, data: { tier: 'TEAM' } })
  const page = {
    id: newId('StatusPage'),
    organizationId: id,
    slug: `another-${++slugs}`,
    name: 'Another',
    createdAt: now,
  }
  return (await database.prisma.page.create({ data: page })).id
}

test('a revoked key can read no more than a visitor', async () => {
  const { key, ids } = await fill()
  await ask(key, 'mutation ($id: ID!) { revokeApiKey(input: { id: $id, force: true }) { __typename } }', {
    id: ids.ApiKey,
  })
  const { codes } = await ask(key, 'query ($id: ID!) { node(id: $id) { ... on Service { version } } }', {
    id: ids.Service,
  })
  expect(codes).toEqual(['UNAUTHENTICATED'])
})

test('the operator can read what the organization can', async () => {
  const { data, codes } = await ask(
    operatorToken,
    `query ($id: ID!) { node(id: $id) { ... on Incident ${everything(typeNamed('Incident'), 'organization')} } }`,
    { id: mine.ids.Incident },
  )
  expect(codes).toEqual([])
  expect(data?.['node']).toMatchObject({ id: mine.ids.Incident, version: 1 })
})

/** Signs in a new member of an organization. Returns the headers of the person's browser. */
async function signedIn(own: FilledOrganization): Promise<Record<string, string>> {
  const userId = await someMember(own)
  const token = await startSession({ db: database.prisma, now: () => now }, userId, 'a browser of the tests')
  return { cookie: `allclear_session=${token}`, 'sec-fetch-site': 'same-origin', 'x-organization': own.slug }
}

/** Resolves the incident of an organization and writes its post-mortem, as some mutations require. */
async function writePostmortem({ id, ids }: FilledOrganization, mutation: string): Promise<void> {
  const isPublished = mutation === 'unpublishPostmortem'
  const reviewRequestedAt = /^(approve|cancel)/.test(mutation) ? now : null
  await database.prisma.incident.update({ where: { id: ids.Incident }, data: { status: 'RESOLVED', resolvedAt: now } })
  const words = { message: 'It was full.', createdAt: now, editedAt: now, publishedAt: isPublished ? now : null }
  await database.prisma.postmortem.create({
    data: { id: ids.Incident, organizationId: id, reviewRequestedAt, ...words },
  })
}

/** Adds to the timelines of an organization, because their only updates cannot be deleted. */
async function writeMore({ key, ids }: FilledOrganization): Promise<void> {
  const update = { status: 'MONITORING', message: 'More.' }
  await mutate(url, key, 'postIncidentUpdate', 'IncidentUpdate', { incidentId: ids.Incident, ...update })
  await mutate(url, key, 'updateMaintenance', 'Maintenance', { id: ids.Maintenance, message: 'More.' })
}

/** The events of the page of `mine`, up to the first one about a subject. */
async function eventsUntil(subjectId: string, key: string | undefined, query: string): Promise<object[]> {
  const client = websocketClient(url, key === undefined ? undefined : { apiKey: key })
  const events: object[] = []
  try {
    for await (const { data, errors } of client.iterate({ query, variables: { slug: mine.slug } })) {
      expect(errors).toBeUndefined()
      const event = data?.['statusPageEvents'] as { subjectId: string }
      events.push(event)
      if (event.subjectId === subjectId) break
    }
  } finally {
    await client.dispose()
  }
  return events
}

/** A mutation with a complete input that refers to an organization's objects; `names`: whether it refers to any. */
function mutationOf(
  name: string,
  { id, slug, ids, heartbeatId, pageTokenId, integrationId, templateId, noteId, fileIds }: OwnFill,
) {
  const field = schema.getMutationType()?.getFields()[name]
  if (!field) throw new Error(`There is no mutation ${name}.`)
  let names = false

  function sample(type: GraphQLInputType, path: string): unknown {
    const wanted = isNonNullType(type) ? getNullableType(type) : type
    if (isListType(wanted)) return [sample(wanted.ofType, path)]
    if (isInputObjectType(wanted)) {
      const fields = Object.values(wanted.getFields()).filter((each) => !leftOut.has(`${wanted.name}.${each.name}`))
      return Object.fromEntries(fields.map((each) => [each.name, sample(each.type, `${wanted.name}.${each.name}`)]))
    }
    if (isEnumType(wanted)) return enums[wanted.name] ?? wanted.getValues()[0]?.name
    if (path === 'DeleteOrganizationInput.slug') return slug
    return wanted.toString() === 'ID' ? sampleId(path) : sampleOf(path)
  }

  function sampleId(path: string): string {
    if (path.endsWith('paymentEventId')) return 'evt_1'
    names = true
    const [, kind = ''] =
      /(HeartbeatToken|PageToken|IncidentNote|IncidentFile|Integration|ManagedObject|Postmortem|PostmortemReview|Template)(?:Input)?\.id$/.exec(
        path.replace(/\w+\.fileIds$/, 'IncidentFile.id'),
      ) ?? []
    const others = new Map(
      Object.entries({
        HeartbeatToken: heartbeatId,
        PageToken: pageTokenId,
        IncidentNote: noteId,
        IncidentFile: fileIds[name] ?? '',
        Integration: integrationId,
        ManagedObject: ids.Service,
        Postmortem: ids.Incident,
        PostmortemReview: ids.Incident,
        Template: templateId,
      }),
    )
    const other = others.get(kind)
    if (other !== undefined) return other
    if (path.endsWith('pageId')) return ids.StatusPage
    if (path.endsWith('userId')) return `usr_${'0'.repeat(24)}`
    if (/organizationId$/.test(path) || /^(restore|Delete)Organization(Input)?\.id$/.test(path)) return id
    return ids[typeOfIdAt(path, name)]
  }

  // Some mutations take members of the input as arguments, instead of it.
  const hasInput = field.args.some((arg) => arg.name === 'input')
  const args = field.args.filter((arg) => !hasInput || arg.name === 'input')
  const variables = Object.fromEntries(args.map((arg) => [arg.name, sample(arg.type, `${name}.${arg.name}`)]))
  const declared = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
  const given = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
  const type = getNamedType(field.type)
  const failing = isUnionType(type) ? '... on Error { code message }' : ''
  const bulk = isUnionType(type) ? type.getTypes().find((each) => `${each.name}`.endsWith('sPayload')) : undefined
  const isBulk = bulk !== undefined && 'refused' in bulk.getFields()
  const items = isBulk ? `... on ${bulk.name} { results { result { __typename ${failing} } } }` : ''
  return {
    query: `mutation (${declared}) { ${name}(${given}) { __typename ${failing} ${items} } }`,
    variables,
    names,
    isBulk,
  }
}

/** A monitor's kind cannot change; it is paused, which is an edit. */
const kinds = Object.keys(optionKeys).filter((key) => key !== 'heartbeat')
const leftOut = new Set([
  'MoveIncidentServiceInput.at',
  'IncidentServicesInput.removedServiceIds',
  'CreateIncidentInput.resolvedAt',
  'UpdateIncidentInput.resolvedAt',
  // A status that is stated, and one that takes its place, are two edits.
  'UpdateServiceInput.status',
  'UpdateMaintenanceSeriesInput.version',
  'RemoveDomainInput.version',
  // The update got a file.
  'EditIncidentUpdateInput.version',
  ...kinds.map((kind) => `MonitorProbeInput.${kind}`),
  'UpdateMonitorInput.probe',
  'UpdateMonitorInput.version',
  // A channel has one address, whose kind cannot change, and escalates to another channel.
  ...addressKeys.filter((key) => key !== 'webhook').map((key) => `AlertAddressInput.${key}`),
  'UpdateAlertChannelInput.escalate',
  'CreateIntegrationInput.paths',
  'UpdateIntegrationInput.paths',
  // For maintenance.
  'CreateTemplateInput.serviceIds',
  'UpdateTemplateInput.serviceIds',
  // A monitor cannot depend on itself.
  'UpdateMonitorInput.dependsOnIds',
])

/** Values of enums for which the first one is not suitable. */
const enums: Record<string, string> = {
  ServiceStatus: 'DEGRADED_PERFORMANCE',
  MaintenanceStatus: 'IN_PROGRESS',
  Tier: 'PRO',
  // A kind with signatures.
  IntegrationKind: 'GRAFANA',
  PageAccessKind: 'PASSWORD',
}

/** Returns the type of an id, by the field's name or else the mutation's. */
function typeOfIdAt(path: string, mutation: string): keyof FilledOrganization['ids'] {
  const field = path.split('.').at(-1) ?? ''
  const byField = {
    groupId: 'ServiceGroup',
    serviceId: 'Service',
    serviceIds: 'Service',
    incidentId: 'Incident',
    intoId: 'Incident',
    fromId: 'Incident',
    monitorIds: 'Monitor',
    dependsOnIds: 'Monitor',
    channelId: 'AlertChannel',
  } as const
  if (field in byField) return byField[field as keyof typeof byField]
  if (mutation === 'redeliver') return 'Delivery'
  if (mutation.endsWith('Page')) return 'StatusPage'
  const types = [
    'Objective',
    'UptimeCorrection',
    'AlertChannel',
    'Alert',
    'ServiceGroup',
    'Service',
    'IncidentUpdate',
    'Incident',
    'MaintenanceUpdate',
    'MaintenanceSeries',
    'Maintenance',
    'ApiKey',
    'Monitor',
  ] as const
  const found = [...types, 'Subscriber' as const].find((type) => mutation.includes(type))
  if (!found || !/^ids?$/.test(field)) throw new Error(`The tests do not know what ${path} is the id of.`)
  return found
}

/** A valid value for a field that is not an id. */
function sampleOf(path: string): unknown {
  const field = path.split('.').at(-1) ?? ''
  const values: Record<string, unknown> = {
    name: 'Name',
    title: 'Title',
    message: 'Message.',
    description: 'Description.',
    label: 'Label',
    value: 'shop',
    signingSecret: 'A secret of the sender',
    slug: `slug-${++slugs}`,
    contactEmail: 'a@b.example',
    idempotencyKey: `idempotency-key-${++slugs}`,
    timeZone: 'Europe/Berlin',
    accentColor: '#123456',
    logoUrl: 'https://a.example/logo.png',
    url: 'https://a.example/',
    domain: `host-${slugs}.example`,
    version: 1,
    force: true,
    allowed: true,
    notifySubscribers: false,
    own: false,
    startsAt: hours(-1),
    endsAt: hours(3),
    startedAt: hours(-1),
    createdAt: hours(-2),
    expiresAt: hours(1),
    until: hours(1),
    skips: hours(1),
    durationMinutes: 60,
    rule: 'FREQ=DAILY',
    intervalSeconds: 3600,
    timeoutMs: 5000,
    failureThreshold: 3,
    recoveryThreshold: 2,
    agreement: 1,
    graceSeconds: 60,
    schedule: '30 2 * * *',
    maxRunSeconds: 600,
    lock: true,
    published: true,
    password: 'correct horse',
    origins: 'https://www.a.example',
    mailDomains: 'a.example',
    ranges: '192.0.2.0/24',
    csv: 'reader@a.example',
    yaml: 'allclear: 1\nservices: { new: { name: New } }',
    file: 'allclear.yaml',
    delete: false,
    planHash: 'hash',
    maxDeletions: 0,
    email: 'reader@a.example',
    remindAfterMinutes: 10,
    afterMinutes: 10,
    target: 99.9,
    windowDays: 30,
    reason: 'Reason.',
    from: '22:00',
    to: '07:00',
    dryRun: false,
    isCompressed: false,
    allowLiteralSecrets: false,
    key: 'new',
    source: 'Uptime Kuma',
    since: '2026-11-20',
    up: 1,
    down: 0,
    maintenance: 0,
    keepAbsent: false,
    pausedMonitors: 'new',
    id: 'record',
    at: hours(-2),
    resolvedAt: hours(-1),
    publishedAt: hours(-1),
    services: 'new',
    address: 'reader@b.example',
    allowUnproven: true,
  }
  if (!(field in values)) throw new Error(`The tests have no value for ${path}.`)
  return values[field]
}
let slugs = 0
