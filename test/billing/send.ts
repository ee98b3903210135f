import type { DnsClient } from '../../src/network/dns/client.ts'
import { createOutbound } from '../../src/network/outbound.ts'
import { sendThrough } from '../../src/network/send.ts'

/** Sends to addresses of this machine, for which no name is resolved. */
export const send = sendThrough(createOutbound({ dns: {} as DnsClient, allowPrivate: true }))
