import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DnsServer } from '../../src/core/config.ts'
import { root } from '../../src/core/process/paths.ts'
import { freePort } from '../support/free-port.ts'
import { callers } from './targets.ts'

/** The service in its own process, as `npm start` runs it. */
export interface Service {
  readonly port: number
  readonly pid: number
  /** Milliseconds from the start of the process until `/readyz` succeeded. */
  readonly startedIn: number
  /** Memory statistics of the main thread. */
  memoryUsage(): Promise<NodeJS.MemoryUsage>
  /**
   * The longest time for which the main thread was blocked since the previous call, in milliseconds of processor time.
   * Measures from the first call on.
   */
  longestTurn(): Promise<number>
  /** Stops it as an operator does (SIGTERM), and waits until it has ended. */
  stop(): Promise<void>
}

/** An answer of an HTTP server. */
export interface Answer {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** The settings with which `npm start` makes the C library return freed memory of threads. */
const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '4194304', MALLOC_MMAP_THRESHOLD_: '49152' }

const probe = new URL('test/bench/memory-probe.mjs', root).href

/**
 * Starts the service with these settings, trusting the `X-Forwarded-For` of loopback, and waits for `/readyz`. Without
 * the probe, which takes time to load, it reports neither its memory nor its turns.
 */
export async function startService(
  dns: DnsServer,
  dataDir: string,
  settings: NodeJS.ProcessEnv = {},
  isProbed = true,
): Promise<Service> {
  const port = await freePort()
  const begun = performance.now()
  const child = startNode('dist/main.js', ['--v8-pool-size=1', ...(isProbed ? ['--import', probe] : [])], {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DNS_SERVERS: `${dns.address}:${dns.port}`,
    TRUST_PROXY: '127.0.0.1',
    ADMIN_TOKEN: 'token-of-the-bench',
    LOG_LEVEL: 'warn',
    ...allocator,
    ...settings,
  })
  await ready(child, port)
  const startedIn = performance.now() - begun
  return {
    port,
    pid: child.pid ?? 0,
    startedIn,
    async memoryUsage() {
      child.send('memory')
      const [usage] = await once(child, 'message')
      return usage
    },
    async longestTurn() {
      child.send('turn')
      const [turn] = await once(child, 'message')
      return turn
    },
    stop: () => stopNode(child),
  }
}

/** Runs a bundle in another Node process, with a channel to it. */
export function startNode(file: string, execArgv: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return fork(new URL(file, root), {
    cwd: root,
    execArgv: [...execArgv],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** Ends a process with SIGTERM, and waits until it has ended. */
export async function stopNode(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill()
  await exited
}

/** Requests a path of a server on loopback, optionally for a caller behind a proxy. */
export function request(port: number, path: string, caller?: string, agent?: Agent): Promise<Answer> {
  return requestWith(port, path, caller === undefined ? {} : { 'X-Forwarded-For': caller }, agent)
}

/** Requests a path of a server on loopback with these headers. */
export async function requestWith(
  port: number,
  path: string,
  headers: OutgoingHttpHeaders,
  agent?: Agent,
): Promise<Answer> {
  const [response] = (await once(get({ host: '127.0.0.1', port, path, headers, agent }), 'response')) as [
    IncomingMessage,
  ]
  const body = await buffer(response)
  return { status: response.statusCode ?? 0, rawHeaders: response.rawHeaders, body }
}

export const checkPath = (target: string) => `/api/blacklist-monitor/ip?target=${target}`

/** Waits until the geo data is loaded and every list is healthy, so that a check does nothing else. */
export async function warmedUp(service: Service): Promise<void> {
  const caller = callers().next().value
  const probes = Array.from({ length: 100 }, (_, number) => `9.9.${number}.9`)
  for (const target of probes) {
    const { body } = await request(service.port, checkPath(target), caller)
    const report = JSON.parse(body.toString())
    if (report.geo?.asn && report.geo.country && report.failed_count === 0) return
    await sleep(200)
  }
  throw new Error('The service does not get warm: no geo data, or a list that does not work')
}

/**
 * Sends checks of different targets over several connections, each after the answer to the one before. Returns checks
 * per second.
 */
export async function sendChecks(
  port: number,
  connections: number,
  count: number,
  targets: Iterator<string, never>,
  callers: Iterator<string, never>,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const begun = performance.now()
  let sent = 0
  const caller = async () => {
    while (sent++ < count) {
      const { status } = await request(port, checkPath(targets.next().value), callers.next().value, agent)
      if (status !== 200) throw new Error(`A check was answered with ${status}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, caller))
  agent.destroy()
  return count / ((performance.now() - begun) / 1000)
}

async function ready(child: ChildProcess, port: number): Promise<void> {
  const exited = once(child, 'exit').then(() => {
    throw new Error('The service has ended before it was ready')
  })
  const answered = async () => {
    for (;;) {
      const status = await request(port, '/readyz').then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) return
      await sleep(5)
    }
  }
  await Promise.race([answered(), exited])
}
