import { createSecretBox } from '../../src/core/secret-box.ts'
import type { Tenant } from '../status/setup.ts'

/** The secret box of all tests. */
export const seal = createSecretBox(Buffer.alloc(32, 7))

/** Returns the context of a tenant with the secret box, at this number of milliseconds after noon. */
export const sealing = (tenant: Tenant, milliseconds = 0) => ({ ...tenant.later(milliseconds), seal })

/** Options for creating a monitor of each kind. */
export const samples = {
  http: { url: 'https://api.example.com/health' },
  tcp: { host: 'mail.example.com', port: 993, tls: true },
  dns: { name: 'example.com', recordType: 'MX' },
  ping: { host: 'gateway.example.com' },
  heartbeat: { graceSeconds: 60 },
  blacklist: { target: '192.0.2.1' },
} as const
