import { createSecretBox } from '../../src/core/secret-box.ts'
import type { Tenant } from '../status/setup.ts'

/** The seal of every test. */
export const seal = createSecretBox(Buffer.alloc(32, 7))

/** A tenant's context that seals secrets, so many milliseconds after noon. */
export const sealing = (tenant: Tenant, milliseconds = 0) => ({ ...tenant.later(milliseconds), seal })

/** What a monitor of each kind may be made with. */
export const samples = {
  http: { url: 'https://api.example.com/health' },
  tcp: { host: 'mail.example.com', port: 993, tls: true },
  dns: { name: 'example.com', recordType: 'MX' },
  ping: { host: 'gateway.example.com' },
  heartbeat: { graceSeconds: 60 },
  blacklist: { target: '192.0.2.1' },
} as const
