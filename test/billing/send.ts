import type { DnsClient } from '../../src/network/dns/client.ts'
import { createOutbound } from '../../src/network/outbound/outbound.ts'
import { createSend } from '../../src/network/outbound/send.ts'

/** Sends to loopback addresses, without DNS. */
export const send = createSend(createOutbound({ dns: {} as DnsClient, allowPrivate: true }))
