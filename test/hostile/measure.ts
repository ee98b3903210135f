import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostileCase, Target } from './case.ts'
import type { Filled } from './organization.ts'

/** The effects of one attack on the service. */
export interface Measured {
  readonly status: number
  /** The longest time for which its main thread was blocked, in milliseconds, by its own metric. */
  readonly stalledMs: number
  /** The growth of its memory, in bytes. */
  readonly grownBy: number
}

/** A target and the attacker's server. */
export async function targetOf(url: string, filled: Filled): Promise<Target & { close(): void }> {
  const answers = new Map<
    string,
    { readonly body: Buffer | string; readonly headers: Readonly<Record<string, string>> }
  >()
  const server = createServer((request, response) => {
    const { body = '', headers = {} } = answers.get(request.url?.split('?')[0] ?? '') ?? {}
    response
      .on('error', () => {})
      .writeHead('location' in headers ? 302 : 200, headers)
      .end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...filled,
    url,
    async serve(body, headers = {}) {
      const path = `/${answers.size}`
      answers.set(path, { body, headers })
      return `http://127.0.0.1:${port}${path}`
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Sends a case once, and reads its effects from the service's own metrics. */
export async function measure(hostile: HostileCase, target: Target): Promise<Measured> {
  const [measured] = await measureTogether([hostile], target)
  if (measured?.status === 'fulfilled') return measured.value
  throw measured?.reason
}

/** Sends cases at once. Each result has the effects of all of them together, which are at least its own. */
export async function measureTogether(
  cases: readonly HostileCase[],
  target: Target,
): Promise<readonly PromiseSettledResult<Measured>[]> {
  const before = await metrics(target.url)
  const sent = await Promise.allSettled(cases.map((hostile) => hostile.send(target)))
  // Work after the answer counts too.
  await sleep(20)
  const after = await metrics(target.url)
  const did = { stalledMs: after.lag, grownBy: after.memory - before.memory }
  return sent.map((each) => (each.status === 'fulfilled' ? { ...each, value: { status: each.value, ...did } } : each))
}

/** The longest delay since the previous reading, and the memory. */
async function metrics(url: string): Promise<{ lag: number; memory: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return { lag: value('nodejs_eventloop_lag_max_seconds') * 1000, memory: value('process_resident_memory_bytes') }
}
