import { afterAll, expect } from 'vitest'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import type { MailServer } from '../support/mail-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import type { Receiver } from '../support/receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

/** The whole service with a receiver. */
export interface NotifyingService {
  readonly url: string
  readonly mail: MailServer
  readonly receiver: Receiver
  /** An organization with its key, a service and functions that report incidents. */
  page(): Promise<Page>
}

interface Page {
  readonly id: string
  readonly slug: string
  readonly key: string
  readonly serviceId: string
  incident(title: string): Promise<string>
  update(incidentId: string, message: string, status: 'MONITORING' | 'RESOLVED'): Promise<void>
}

/** The result of a field, of any type. */
export type Value = Readonly<Record<string, never>>

/** Runs an operation with one field. */
export async function run(
  url: string,
  key: string | undefined,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Value> {
  const { data, errors } = await post(url, { query, key, variables })
  expect(errors).toBeUndefined()
  return Object.values(data ?? {})[0] as unknown as Value
}

/** Starts the service for the test file that calls this at its top level. */
export async function notifyingService(settings: NodeJS.ProcessEnv = {}): Promise<NotifyingService> {
  const [mail, receiver] = await Promise.all([startMailServer(), startReceiver()])
  const { baseUrl: url } = await testApp({
    dns: await startDnsServer(scriptedLists()),
    settings: { SMTP_URL: mail.url, MAIL_FROM: 'status@allclear.example', ALLOW_PRIVATE_NETWORKS: 'true', ...settings },
  })
  afterAll(async () => {
    await mail.close()
    await receiver.close()
  })
  return {
    url,
    mail,
    receiver,
    async page() {
      const { id, slug, key } = await newOrganization(url)
      const service = await run(
        url,
        key,
        `mutation { createService(input: { name: "Mail" }) { ... on Service { id } } }`,
      )
      return {
        id,
        slug,
        key,
        serviceId: service['id'] ?? '',
        async incident(title) {
          const input = { title, status: 'INVESTIGATING', impact: 'MAJOR', message: 'We *look* into it.' }
          return (await run(url, key, CREATE, { input }))['id'] ?? ''
        },
        async update(incidentId, message, status) {
          await run(url, key, POST, { input: { incidentId, message, status } })
        },
      }
    },
  }
}

const CREATE = `mutation ($input: CreateIncidentInput!) { createIncident(input: $input) { ... on Incident { id } ... on Error { message } } }`
const POST = `mutation ($input: PostIncidentUpdateInput!) { postIncidentUpdate(input: $input) { ... on IncidentUpdate { id } ... on Error { message } } }`

/** Subscribes an address; the variable is the input. */
export const SUBSCRIBE = `mutation ($input: SubscribeInput!) { subscribe(input: $input) {
  ... on SubscribePayload { message subscriber { id state address } } ... on Error { code message } } }`
