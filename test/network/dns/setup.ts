import { onTestFinished } from 'vitest'
import { createDnsClient, type DnsClient } from '../../../src/network/dns/client.ts'
import { type Behaviour, startDnsServer, type TestDnsServer } from '../../support/dns-server.ts'

/** A clock that stands still until the test advances it. */
export function createClock() {
  let time = Date.UTC(2026, 0, 1)
  return {
    now: () => new Date(time),
    advance(ms: number) {
      time += ms
    },
  }
}

/** Creates a client of test servers, one per behaviour. All of them close when the test ends. */
export async function startClient(
  behaviours: readonly Behaviour[],
  timeoutMs = 5000,
): Promise<{
  client: DnsClient
  servers: TestDnsServer[]
  server: TestDnsServer
  clock: ReturnType<typeof createClock>
}> {
  const servers = await Promise.all(behaviours.map(startDnsServer))
  const [server] = servers
  if (server === undefined) throw new Error('A client needs a server')
  const clock = createClock()
  const client = createDnsClient({ servers, timeoutMs, now: clock.now })
  onTestFinished(async () => {
    await client.close()
    await Promise.all(servers.map((each) => each.close()))
  })
  return { client, servers, server, clock }
}
