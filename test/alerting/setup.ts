import { afterAll, beforeEach } from 'vitest'
import { createQuota } from '../../src/account/quota.ts'
import { alertDeliveries } from '../../src/alerting/alert-deliveries.ts'
import { createAlertChannel } from '../../src/alerting/channel.ts'
import type { AlertingContext } from '../../src/alerting/context.ts'
import { dispatchAlerts } from '../../src/alerting/dispatch-alerts.ts'
import { followUpAlerts } from '../../src/alerting/follow-up.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import type { LeasedWorker } from '../../src/database/lease/leased-worker.ts'
import { change } from '../../src/event-log/change.ts'
import type { AlertChannel, Monitor, MonitorState } from '../../src/generated/prisma/client.ts'
import { createMonitor } from '../../src/monitoring/monitor/monitor.ts'
import { monitorEvent } from '../../src/monitoring/monitor-events.ts'
import { enterState } from '../../src/monitoring/uptime/state-intervals.ts'
import { createThirdPartyRate } from '../../src/network/third-party-rate.ts'
import type { SendTools } from '../../src/notification/channel/channel.ts'
import type { EventHandler } from '../../src/notification/delivery/dispatch.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { createMemberPush } from '../../src/notification/push/member-push.ts'
import { createDeliveryWorker } from '../../src/notification/queue/worker.ts'
import type { Notified } from '../notification/setup.ts'
import { notifiedIn, outbound, seal, site } from '../notification/setup.ts'
import type { Tenant } from '../status/setup.ts'
import type { Receiver } from '../support/receiver.ts'
import { startReceiver } from '../support/receiver.ts'

/** Outbound requests that all go to one receiver, with the original host in a header. */
export const toReceiver = (receiver: Pick<Receiver, 'url'>): SendTools['outbound'] => ({
  request({ url, headers = [], ...request }, limits) {
    const { host, pathname, search } = new URL(url)
    const to = `${receiver.url}${pathname}${search}`
    return outbound.request({ ...request, url: to, headers: [...headers, { name: 'x-host', value: host }] }, limits)
  },
})

/** The function to which the dispatcher passes events. */
export const handleEvents: EventHandler = (tx, organizationId, events) =>
  dispatchAlerts({ ...tx, seal }, organizationId, events)

/** Alert channels, monitors whose state the test sets, and a worker, with a clock that the test sets. */
export interface Alerted extends Notified {
  /** The context of an organization's own key. */
  own(tenant: Tenant): AlertingContext
  channel(tenant: Tenant, input: object): Promise<AlertChannel>
  monitor(tenant: Tenant, name: string, more?: object): Promise<Monitor>
  /** Sets the state of monitors now. */
  setState(tenant: Tenant, monitors: readonly Monitor[], state: MonitorState, cause?: string): Promise<void>
  alertWorker(): LeasedWorker
  /** Dispatches, follows up and sends due alerts for this many minutes, step by step. */
  run(tenant: Tenant, minutes?: number, step?: number): Promise<void>
}

/** @param tools the tools of the worker. */
export function alertedIn(
  database: Pick<DatabaseHandle, 'prisma' | 'pool'>,
  tools: Pick<SendTools, 'outbound' | 'mailer'>,
): Alerted {
  const { prisma, pool } = database
  const notified = notifiedIn(database)
  const { system, now } = notified
  const usage = createQuota(pool)
  const metrics = createMetrics()
  const push = createMemberPush({ db: prisma, seal, now, config: system.config, site })
  const sending = { ...tools, now, push }
  const worker = () =>
    createDeliveryWorker(
      { ctx: system, pool, seal, usage, rate: createThirdPartyRate(), metrics, random: () => 0.5 },
      alertDeliveries({ ctx: system, pool, seal, tools: sending, site }),
    )
  const standing = worker()
  const own = (tenant: Tenant): AlertingContext => ({
    ...notified.owner(tenant),
    // Email channels require outgoing email.
    config: { ...system.config, ...(tools.mailer && { SMTP_URL: 'smtp://mail.example' }) },
    site,
    tools: { outbound: tools.outbound },
    mailer: tools.mailer,
  })
  async function turn({ id }: Tenant): Promise<void> {
    while (await dispatch(system, id, handleEvents)) {}
    await followUpAlerts({ ...system, seal })
    for (let left = Number.POSITIVE_INFINITY; ; ) {
      const due = await prisma.alertDelivery.count({ where: { dueAt: { lte: now() } } })
      if (due === 0 || due >= left) return
      left = due
      await standing.poll()
      await standing.idle()
    }
  }

  return Object.assign(notified, {
    own,
    channel: (tenant: Tenant, input: object) => createAlertChannel(own(tenant), { name: 'Ops', ...input }),
    monitor: (tenant: Tenant, name: string, more: object = {}) =>
      createMonitor(own(tenant), { name, http: { url: 'https://api.example.com/' }, ...more }),
    async setState({ id }: Tenant, monitors: readonly Monitor[], state: MonitorState, cause = '') {
      await change(system, id, async (tx) => {
        for (const monitor of monitors) await enterState(tx, monitor, state, now(), cause)
        const event = (monitor: Monitor) => ({ ...monitorEvent('MONITOR_STATE_CHANGED', monitor), since: now() })
        return [null, ...monitors.map(event)]
      })
    },
    alertWorker: worker,
    async run(tenant: Tenant, minutes = 0, step = 0.25) {
      const end = notified.time + minutes
      for (;;) {
        await turn(tenant)
        if (notified.time >= end) return
        notified.time = Math.min(notified.time + step, end)
      }
    },
  })
}

/** Like `alertedIn`, with a receiver of all messages for the test file that calls this. It is empty before each test. */
export async function alertedWithReceiver(database: Pick<DatabaseHandle, 'prisma' | 'pool'>) {
  const receiver = await startReceiver()
  afterAll(() => receiver.close())
  beforeEach(() => {
    receiver.received.length = 0
    receiver.answer = () => ({ status: 200 })
  })
  return { receiver, alerted: alertedIn(database, { outbound: toReceiver(receiver), mailer: null }) }
}
