import { identityOf } from './identity.ts'
import type { Reading } from './incoming.ts'
import { alertsOf, fieldsOf, nothing, test, unreadable } from './incoming.ts'

/** Reads the webhook of Uptime Kuma (JSON). Its states: 0 down, 1 up, 2 pending, 3 maintenance. */
export function readUptimeKuma(body: unknown): Reading {
  const { heartbeat, monitor, msg } = fieldsOf(body)
  const { status, time, msg: cause } = fieldsOf(heartbeat)
  const { id, name, url, type, hostname } = fieldsOf(monitor)
  // Uptime Kuma sends no monitor with tests ("… Testing") and with notices, such as a certificate that expires soon.
  if (heartbeat === null && monitor === null)
    return /testing$/i.test(String(msg).trim())
      ? test('Uptime Kuma')
      : nothing('This is a notice of Uptime Kuma about no state of a monitor.')
  if (typeof status !== 'number' || identityOf(id) === '') return unreadable('This is not an Uptime Kuma webhook.')
  if (status !== 0 && status !== 1) return nothing('The monitor is neither up nor down.')
  return alertsOf([
    {
      key: `monitor ${String(id)}`,
      state: status === 0 ? 'FIRING' : 'RESOLVED',
      title: typeof name === 'string' ? `${name} is down` : msg,
      text: cause ?? msg,
      severity: 'critical',
      labels: { monitor: name, type, hostname, url },
      at: typeof time === 'string' ? `${time.replace(' ', 'T')}Z` : null,
      link: url,
    },
  ])
}
