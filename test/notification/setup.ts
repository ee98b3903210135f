import { createQuota } from '../../src/account/quota.ts'
import type { Context } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import type { SecretBox } from '../../src/core/secret-box.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { MINUTE } from '../../src/core/time.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import type { LeasedWorker } from '../../src/database/lease/leased-worker.ts'
import type { PrismaClient, Subscriber } from '../../src/generated/prisma/client.ts'
import type { DnsClient } from '../../src/network/dns/client.ts'
import { createOutbound } from '../../src/network/outbound/outbound.ts'
import { createThirdPartyRate } from '../../src/network/third-party-rate.ts'
import type { SendTools } from '../../src/notification/channel/channel.ts'
import { sealAddress } from '../../src/notification/channel/sealed-address.ts'
import { webhook } from '../../src/notification/channel/standard-webhook.ts'
import type { NotificationContext } from '../../src/notification/context.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { subscriberDeliveries } from '../../src/notification/delivery/subscriber-deliveries.ts'
import { createDeliveryWorker } from '../../src/notification/queue/worker.ts'
import { addressHash } from '../../src/notification/subscriber/address.ts'
import { subscribe } from '../../src/notification/subscriber/subscribe.ts'
import { startDispatch } from '../../src/notification/subscriber/subscriber.ts'
import { newSecret, tokenFields, tokenOf } from '../../src/notification/subscriber/token.ts'
import { createIncident } from '../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { seal } from '../monitoring/setup.ts'
import type { Tenant } from '../status/setup.ts'
import { tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'

export { seal }

/** Our public URL in these tests. */
export const site = { baseUrl: 'https://allclear.example' }

/** Addresses are literals in these tests, so no names are resolved. */
const noDns = {} as DnsClient

/** Outbound requests, including requests to this machine. */
export const outbound = createOutbound({ dns: noDns, allowPrivate: true })

/** Tenants, subscribers and a worker, with a clock that the test sets. */
export interface Notified {
  /** Minutes after noon. */
  time: number
  readonly now: () => Date
  /** The system's context. */
  readonly system: Context & { readonly db: PrismaClient; readonly seal: SecretBox }
  /** The context of a stranger. */
  visitor(clientAddress?: string): NotificationContext
  /** The context of an organization's own key. */
  owner(tenant: Tenant): NotificationContext
  readonly tenant: ReturnType<typeof tenantsOf>
  /** Subscribes an address as the page's owner, so that it is active. */
  subscriber(tenant: Tenant, input: object): Promise<Subscriber>
  /** Adds many webhooks at once, all active. */
  webhooks(tenant: Tenant, urls: readonly string[]): Promise<void>
  /** Reports an incident and returns its id. */
  incident(tenant: Tenant, title: string, services?: readonly string[]): Promise<string>
  /** Adds an update to its timeline. */
  update(tenant: Tenant, incidentId: string, message: string, status?: 'MONITORING' | 'RESOLVED'): Promise<void>
  /** A worker that sends with these tools. */
  worker(tools?: Partial<SendTools>): LeasedWorker
  /** Dispatches and sends everything until nothing is due. */
  tick(tenant: Tenant, worker: LeasedWorker): Promise<void>
  /** Advances the clock step by step; the worker polls in each step. */
  pass(minutes: number, worker: LeasedWorker, step?: number): Promise<void>
  token(subscriber: Subscriber): string
}

export function notifiedIn({ prisma, pool }: Pick<DatabaseHandle, 'prisma' | 'pool'>): Notified {
  const now = () => new Date(noon.getTime() + notified.time * MINUTE)
  const settings = { ALLOW_PRIVATE_NETWORKS: 'true', SMTP_URL: 'smtp://127.0.0.1:1' }
  const system = { ...testContext(prisma, { now, settings }), seal }
  const usage = createQuota(pool)
  const metrics = createMetrics()
  const own = ({ ctx }: Tenant): NotificationContext => ({ ...ctx, config: system.config, now, seal, usage })

  /** Polls as long as that reduces the due deliveries. Those that are still due wait for earlier ones. */
  async function sendAll(worker: LeasedWorker): Promise<void> {
    const due = () => prisma.delivery.count({ where: { dueAt: { lte: now() } } })
    let [before, left] = [Number.POSITIVE_INFINITY, await due()]
    while (left > 0 && left < before) {
      await worker.poll()
      await worker.idle()
      before = left
      left = await due()
    }
  }

  const notified: Notified = {
    time: 0,
    now,
    system,
    visitor: (clientAddress = '203.0.113.9') => ({ ...system, actor: { kind: 'visitor' }, clientAddress, seal, usage }),
    owner: own,
    tenant: tenantsOf(prisma),
    async subscriber(tenant, input) {
      const subscriber = await subscribe(own(tenant), { slug: tenant.slug, ...input })
      if (!subscriber) throw new Error('The owner was taken for a stranger.')
      return subscriber
    },
    async webhooks({ id: organizationId }, urls) {
      const rows = urls.map((url) => {
        const id = newId('Subscriber')
        const address = webhook.address.parse(url)
        return {
          id,
          organizationId,
          channel: 'WEBHOOK',
          address: sealAddress(seal, { id, channel: 'WEBHOOK' }, address.text),
          addressHash: addressHash('WEBHOOK', address.text),
          label: address.label,
          destination: address.destination,
          ...tokenFields(seal, id),
          secret: newSecret(seal, id),
          topics: ['INCIDENTS'],
          allServices: true,
          createdAt: now(),
          confirmableUntil: now(),
          confirmedAt: now(),
        } as const
      })
      await prisma.subscriber.createMany({ data: rows.map((row) => ({ ...row, topics: [...row.topics] })) })
      await startDispatch(prisma, organizationId, 0)
    },
    async incident(tenant, title, services = []) {
      const { id } = await createIncident(own(tenant), {
        title,
        status: 'INVESTIGATING',
        impact: 'MAJOR',
        message: `First of ${title}.`,
        services: services.map((serviceId) => ({ serviceId, status: 'MAJOR_OUTAGE' })),
      })
      return id
    },
    async update(tenant, incidentId, message, status = 'MONITORING') {
      await postIncidentUpdate(own(tenant), { incidentId, status, message })
    },
    worker: (tools = {}) =>
      createDeliveryWorker(
        { ctx: system, pool, seal, usage, rate: createThirdPartyRate(), metrics, random: () => 0.5 },
        subscriberDeliveries({ ctx: system, pool, tools: { outbound, mailer: null, now, ...tools }, site }),
      ),
    async tick({ id }, worker) {
      await dispatch(system, id)
      await sendAll(worker)
    },
    async pass(minutes, worker, step = 1) {
      const end = notified.time + minutes
      while (notified.time < end) {
        notified.time = Math.min(notified.time + step, end)
        await sendAll(worker)
      }
    },
    token: (subscriber) => tokenOf(seal, subscriber),
  }
  return notified
}
