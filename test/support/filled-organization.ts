import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import type { PrismaClient } from '../../src/generated/prisma/client.ts'
import { newOrganization, post } from './graphql-client.ts'

/** An organization with one of everything, and their ids. */
export interface FilledOrganization {
  readonly id: string
  readonly slug: string
  /** Its first key, with scope ADMIN. */
  readonly key: string
  readonly ids: {
    readonly StatusPage: string
    readonly ApiKey: string
    readonly ServiceGroup: string
    readonly Service: string
    readonly Incident: string
    readonly IncidentUpdate: string
    readonly Maintenance: string
    readonly MaintenanceUpdate: string
    /** An ended one, without dates. */
    readonly MaintenanceSeries: string
    /** Paused. */
    readonly Monitor: string
    /** A webhook; empty if no address was given for it. */
    readonly Subscriber: string
    /** To the subscriber, about the incident, done. */
    readonly Delivery: string
    /** Empty; tests add what they need. */
    readonly AlertChannel: string
    readonly Alert: string
    readonly Objective: string
    readonly UptimeCorrection: string
  }
  /** A monitor that waits for its first heartbeat. */
  readonly heartbeatId: string
  /** A read token of its page. */
  readonly pageTokenId: string
  /** It has received nothing. */
  readonly integrationId: string
  readonly templateId: string
}

/**
 * Runs one operation over HTTP. Returns its only field.
 * @throws (an assertion) when it fails at the top level or in its union.
 */
export async function succeed<T = Record<string, unknown>>(
  url: string,
  key: string | undefined,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<T> {
  const { data, errors } = await post(url, { query, key, variables })
  expect(errors).toBeUndefined()
  const [value] = Object.values(data ?? {}) as Record<string, unknown>[]
  expect(value?.['code'], JSON.stringify(value)).toBeUndefined()
  return value as T
}

const refusal = '... on Error { code message } ... on ValidationError { issues { path message } }'

/** Runs a mutation with one `input`; `selection` is of its result type. */
export function mutate<T = { readonly id: string }>(
  url: string,
  key: string | undefined,
  field: string,
  type: string,
  input: Record<string, unknown>,
  selection = 'id',
): Promise<T> {
  const Input = `${field[0]?.toUpperCase()}${field.slice(1)}Input`
  const query = `mutation ($input: ${Input}!) { ${field}(input: $input) { ... on ${type} { ${selection} } ${refusal} } }`
  return succeed<T>(url, key, query, { input })
}

/** Uploads a text file to an incident over REST. */
export async function uploadFile(
  url: string,
  key: string,
  {
    incidentId,
    name,
    ...fields
  }: { readonly incidentId: string; readonly name: string; readonly [field: string]: string },
): Promise<{ readonly id: string }> {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  form.set('file', new Blob(['A log.']), name)
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/api/v1/incidents/${incidentId}/files`, { method: 'POST', body: form, headers })
  const { file } = (await response.json()) as { readonly file: { readonly id: string } }
  expect(response.status, JSON.stringify(file)).toBe(201)
  return file
}

/**
 * Creates an organization with a group, a service, an open incident, a planned maintenance and two monitors, over HTTP.
 * @param hook the address of a webhook that subscribes to them, or null.
 */
export async function filledOrganization(
  url: string,
  maintenance: { startsAt: Date; endsAt: Date },
  hook: string | null = null,
): Promise<FilledOrganization> {
  const { id, slug, key, keyId } = await newOrganization(url)
  const subscriber = hook === null ? '' : await subscribed(url, key, { slug, address: { webhook: hook } })
  const group = await mutate(url, key, 'createServiceGroup', 'ServiceGroup', {
    name: 'Europe',
    description: 'All of it',
  })
  const service = await mutate(url, key, 'createService', 'Service', {
    name: 'API',
    groupId: group.id,
    description: 'REST',
  })
  const incident = await mutate<{ id: string; updates: { nodes: { id: string }[] } }>(
    url,
    key,
    'createIncident',
    'Incident',
    {
      title: 'Slow answers',
      status: 'INVESTIGATING',
      impact: 'MAJOR',
      message: 'We are looking.',
      services: [{ serviceId: service.id, status: 'PARTIAL_OUTAGE' }],
    },
    'id updates { nodes { id } }',
  )
  const http = { url: 'https://monitored.example/health', headers: [{ name: 'Authorization', value: 'Bearer s3cret' }] }
  const watched = { name: 'Health', serviceId: service.id, probe: { http } }
  const monitor = await mutate(url, key, 'createMonitor', 'Monitor', watched)
  const pause = `mutation ($id: ID!) { pauseMonitor(id: $id) { ... on Monitor { id } ... on Error { code } } }`
  await succeed(url, key, pause, { id: monitor.id })
  const heartbeat = await mutate(url, key, 'createMonitor', 'Monitor', { name: 'Backup', probe: { heartbeat: {} } })
  const series = await mutate(url, key, 'createMaintenanceSeries', 'MaintenanceSeries', {
    title: 'Restarts',
    message: 'Each year.',
    startsAt: maintenance.startsAt,
    durationMinutes: 60,
    rule: 'FREQ=YEARLY',
    serviceIds: [service.id],
    notifySubscribers: false,
  })
  const end = `mutation ($id: ID!) { endMaintenanceSeries(id: $id) { ... on MaintenanceSeries { id } ... on Error { code } } }`
  await succeed(url, key, end, { id: series.id })
  const planned = await mutate<{ id: string; updates: { nodes: { id: string }[] } }>(
    url,
    key,
    'scheduleMaintenance',
    'Maintenance',
    { title: 'New disks', message: 'Short interruptions.', serviceIds: [service.id], ...maintenance },
    'id updates { nodes { id } }',
  )
  const page = await succeed<{ statusPage: { id: string } }>(url, key, '{ organization { statusPage { id } } }')
  const named = { pageId: page.statusPage.id, name: 'Wall display' }
  const token = await mutate(url, key, 'createPageToken', 'CreatePageTokenPayload', named)
  const other = { name: 'Grafana', kind: 'GRAFANA' }
  const integration = await mutate(url, key, 'createIntegration', 'Integration', other)
  const words = { kind: 'INCIDENT', name: 'Prepared', message: '{{service}} is down.', services: [] }
  const template = await mutate(url, key, 'createTemplate', 'Template', words)
  return {
    id,
    slug,
    key,
    templateId: template.id,
    pageTokenId: token.id,
    integrationId: integration.id,
    heartbeatId: heartbeat.id,
    ids: {
      StatusPage: page.statusPage.id,
      ApiKey: keyId,
      ServiceGroup: group.id,
      Service: service.id,
      Incident: incident.id,
      IncidentUpdate: incident.updates.nodes[0]?.id ?? '',
      Maintenance: planned.id,
      MaintenanceUpdate: planned.updates.nodes[0]?.id ?? '',
      MaintenanceSeries: series.id,
      Monitor: monitor.id,
      Subscriber: subscriber,
      Delivery: hook === null ? '' : await delivered(url, key, incident.id),
      AlertChannel: '',
      Alert: '',
      Objective: '',
      UptimeCorrection: '',
    },
  }
}

async function subscribed(url: string, key: string, input: Record<string, unknown>): Promise<string> {
  const selection = 'subscriber { id }'
  const payload = await mutate<{ subscriber: { id: string } }>(
    url,
    key,
    'subscribe',
    'SubscribePayload',
    input,
    selection,
  )
  return payload.subscriber.id
}

/** Waits until everything so far is delivered. Returns the delivery about a subject. */
async function delivered(url: string, key: string, subjectId: string): Promise<string> {
  const query = '{ organization { deliveries { edges { node { id endedAt event { subjectId } } } } } }'
  interface Found {
    readonly edges: readonly { readonly node: { id: string; endedAt: string | null; event: { subjectId: string } } }[]
  }
  const { deliveries } = await succeed<{ deliveries: Found }>(url, key, query)
  const ended = deliveries.edges.filter(({ node }) => node.endedAt !== null)
  const found = ended.find(({ node }) => node.event.subjectId === subjectId)
  if (ended.length === 2 && found) return found.node.id
  await sleep(50)
  return delivered(url, key, subjectId)
}

/** Waits until the dispatcher has read all events of an organization. */
export async function dispatched(prisma: Pick<PrismaClient, 'dispatch' | 'organization'>, id: string): Promise<void> {
  await vi.waitUntil(
    async () => {
      const { lastSeq } = await prisma.organization.findUniqueOrThrow({ where: { id } })
      return (await prisma.dispatch.findUnique({ where: { organizationId: id } }))?.seq === lastSeq
    },
    { timeout: 60_000 },
  )
}
