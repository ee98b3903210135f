import { onTestFinished } from 'vitest'
import { createChecker } from '../../../src/blacklist/checker.ts'
import { createListHealth } from '../../../src/blacklist/list-health.ts'
import { PROBE_LIMITS } from '../../../src/monitoring/monitor/target.ts'
import type { ProbeRun, ProbeTools } from '../../../src/monitoring/probe/probe.ts'
import type { ProbeResult } from '../../../src/monitoring/result/probe-result.ts'
import { createDestinationLimiter } from '../../../src/network/destination-limiter.ts'
import { createDnsClient } from '../../../src/network/dns/client.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import type { Behaviour, TestDnsServer } from '../../support/dns-server.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { silent } from '../../support/scratch.ts'

/** Creates the tools of probes, with a scripted server as their only DNS server. They are closed when the test ends. */
export async function startTools(
  behaviour?: Behaviour,
  allowPrivate = true,
): Promise<{ readonly tools: ProbeTools; readonly server: TestDnsServer }> {
  const server = await startDnsServer(behaviour)
  const now = () => new Date()
  const dns = createDnsClient({ servers: [server], timeoutMs: 5000, now })
  onTestFinished(async () => {
    await dns.close()
    await server.close()
  })
  const health = createListHealth({ lists: [], dns, now, log: silent })
  const geo = {
    locate: () => Promise.reject(new Error('Unexpected call.')),
    load: async () => {},
    close: async () => {},
  }
  const checker = createChecker({ lists: [], lookup: { dns, health, budgets: new Map() }, geo, now })
  return {
    tools: {
      outbound: createOutbound({ dns, allowPrivate }),
      dns,
      checker,
      rdap: { registrationOf: () => Promise.reject(new Error('Unexpected call.')) },
      limiter: createDestinationLimiter(PROBE_LIMITS),
      allowPrivate,
      now,
      log: silent,
    },
    server,
  }
}

/** Creates the run of a monitor that was up. The default timeout is long enough for a busy machine. */
export function runWith(tools: ProbeTools, given: Partial<Omit<ProbeRun, 'tools'>> = {}): ProbeRun {
  return { tools, owner: 'org_1', timeoutMs: 5000, signal: new AbortController().signal, state: 'UP', ...given }
}

/** Returns the predictable parts of a result. */
export function essence({
  outcome,
  message,
  suspect,
}: ProbeResult): Pick<ProbeResult, 'outcome' | 'message' | 'suspect'> {
  return { outcome, message, suspect }
}
