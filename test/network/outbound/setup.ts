import { createOutbound, type Outbound } from '../../../src/network/outbound/outbound.ts'
import { answer, type Behaviour, rcodes } from '../../support/dns-server.ts'
import { startClient } from '../dns/setup.ts'

/** Returns a test server's behaviour that resolves each name to its addresses. Other names do not exist. */
export function zone(names: Readonly<Record<string, readonly string[]>>): Behaviour {
  return (query) => {
    const addresses = names[query.name]
    if (addresses === undefined) return { rcode: rcodes.nxdomain }
    return answer(
      query,
      addresses.filter((address) => (query.type === 'AAAA') === address.includes(':')),
    )
  }
}

/** Creates an outbound client that uses a test server's DNS, for the duration of the test. */
export async function startOutbound(
  behaviour: Behaviour,
  settings: { readonly allowPrivate?: boolean; readonly ca?: string } = {},
): Promise<{ outbound: Outbound } & Awaited<ReturnType<typeof startClient>>> {
  const started = await startClient([behaviour])
  return { ...started, outbound: createOutbound({ dns: started.client, allowPrivate: true, ...settings }) }
}

/** Limits that no test reaches. */
export const ample = { timeoutMs: 10_000 }
