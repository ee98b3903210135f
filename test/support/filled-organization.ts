import { expect } from 'vitest'
import { newOrganization, post } from './graphql-client.ts'

/** An organization that has one of everything, and the ids of it. */
export interface FilledOrganization {
  readonly id: string
  readonly slug: string
  /** Its first key, with scope ADMIN. */
  readonly key: string
  readonly ids: {
    readonly ApiKey: string
    readonly ServiceGroup: string
    readonly Service: string
    readonly Incident: string
    readonly IncidentUpdate: string
    readonly Maintenance: string
    readonly MaintenanceUpdate: string
  }
}

/**
 * Runs one operation over HTTP, which has to succeed, and gives its only field.
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

/** Runs a mutation of one `input`; `selection` is of the type it gives. */
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

/** Makes an organization with a group, a service, an open incident and a planned maintenance, over HTTP. */
export async function filledOrganization(
  url: string,
  maintenance: { startsAt: Date; endsAt: Date },
): Promise<FilledOrganization> {
  const { id, slug, key, keyId } = await newOrganization(url)
  const group = await mutate(url, key, 'createServiceGroup', 'ServiceGroup', {
    name: 'Europe',
    description: 'All of it',
  })
  const service = await mutate(url, key, 'createService', 'Service', {
    name: 'API',
    groupId: group.id,
    description: 'REST',
  })
  const incident = await mutate<{ id: string; updates: { id: string }[] }>(
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
    'id updates { id }',
  )
  const planned = await mutate<{ id: string; updates: { id: string }[] }>(
    url,
    key,
    'scheduleMaintenance',
    'Maintenance',
    { title: 'New disks', message: 'Short interruptions.', serviceIds: [service.id], ...maintenance },
    'id updates { id }',
  )
  return {
    id,
    slug,
    key,
    ids: {
      ApiKey: keyId,
      ServiceGroup: group.id,
      Service: service.id,
      Incident: incident.id,
      IncidentUpdate: incident.updates[0]?.id ?? '',
      Maintenance: planned.id,
      MaintenanceUpdate: planned.updates[0]?.id ?? '',
    },
  }
}
