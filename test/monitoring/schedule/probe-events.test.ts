import { afterAll, expect, test } from 'vitest'
import { dispatchAlerts } from '../../../src/alerting/dispatch-alerts.ts'
import { followUpAlerts } from '../../../src/alerting/follow-up.ts'
import { change } from '../../../src/event-log/change.ts'
import type { EventKind } from '../../../src/generated/prisma/enums.ts'
import { listenForProbes } from '../../../src/monitoring/schedule/probe-events.ts'
import { dispatch } from '../../../src/notification/delivery/dispatch.ts'
import { alertedIn } from '../../alerting/setup.ts'
import { outbound, seal } from '../../notification/setup.ts'
import { testDatabase } from '../../support/database.ts'

const database = await testDatabase()
const alerted = alertedIn(database, { outbound, mailer: null })
let woken = 0
afterAll(
  await listenForProbes(database, () => {
    woken += 1
  }),
)

/** Appends events, and returns how often they woke the scheduler. Notifications arrive in the order of their commits. */
async function wakesOf(organizationId: string, ...kinds: EventKind[]): Promise<number> {
  // Of what was appended before.
  await heard(async () => {})
  const before = woken
  await heard(() =>
    change(alerted.system, organizationId, async () => [
      null,
      ...kinds.map((kind) => ({ kind, subjectId: 'subject', subjectName: 'Subject' })),
    ]),
  )
  return woken - before
}

/** Runs a change, and waits until its notifications have arrived, by one that follows them. */
async function heard(work: () => Promise<unknown>): Promise<void> {
  await work()
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const stop = await database.listen('heard', arrive)
  await database.pool.query('NOTIFY heard')
  await arrived
  await stop()
}

test('what alerts and incidents append to the log does not wake the scheduler of probes', async () => {
  const { id } = await alerted.tenant()
  expect(await wakesOf(id, 'ALERT_OPENED', 'ALERT_ENDED')).toBe(0)
  expect(await wakesOf(id, 'ALERT_REMINDED')).toBe(0)
  expect(await wakesOf(id, 'INCIDENT_UPDATE_POSTED', 'SUBSCRIBER_DELETED')).toBe(0)
})

test('what makes probes due wakes it once, whatever else is appended with it', async () => {
  const { id } = await alerted.tenant()
  expect(await wakesOf(id, 'MONITOR_CREATED')).toBe(1)
  expect(await wakesOf(id, 'SERVICE_STATUS_CHANGED', 'MONITOR_UPDATED')).toBe(1)
  expect(await wakesOf(id, 'ORGANIZATION_RESTORED')).toBe(1)
})

test('events that are too long to be announced wake it', async () => {
  const { id } = await alerted.tenant()
  expect(await wakesOf(id, ...Array<EventKind>(60).fill('ALERT_OPENED'))).toBe(1)
})

test('an alert from its detection to its reminder wakes it only by the state of its monitor', async () => {
  const tenant = await alerted.tenant()
  await alerted.channel(tenant, { webhook: { url: 'http://127.0.0.1:8080/' }, remindAfterMinutes: 5 })
  const monitor = await alerted.monitor(tenant, 'API')
  await heard(async () => {})
  const before = woken
  await heard(() => alerted.setState(tenant, [monitor], 'DOWN'))
  expect(woken).toBe(before + 1)
  await heard(() =>
    dispatch(alerted.system, tenant.id, (tx, id, events) => dispatchAlerts({ ...tx, seal }, id, events)),
  )
  alerted.time += 6
  await heard(() => followUpAlerts({ ...alerted.system, seal }))
  expect(woken).toBe(before + 1)
})
