import { execFile } from 'node:child_process'
import { z } from 'zod'
import type { Turns } from '../../network/turns.ts'
import { createTurns } from '../../network/turns.ts'
import { SECOND } from '../../time.ts'
import type { Finding } from '../finding.ts'
import { found } from '../finding.ts'
import { hostText, notReached } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'

const options = z.strictObject({
  host: hostText,
  /** How many packets are sent, a fifth of a second apart. */
  count: z.int().min(1).max(5).default(3),
  degradedAboveMs: z.int().min(1).max(30_000).optional(),
})

export type PingOptions = z.output<typeof options>

/** How many programs run at once: each is a process of its own, and one for a host that is silent stays until its deadline. */
const AT_ONCE = 32

/** Sends ICMP echo requests by the system's `ping`, which may do so without our being privileged. */
export const ping: Probe<typeof options> = pingBy('ping')

/** The same by another program that takes what `ping` takes, of which no more than `atOnce` run at once. */
export function pingBy(program: string, atOnce = AT_ONCE): Probe<typeof options> {
  const turns = createTurns({ atOnce })
  return {
    kind: 'PING',
    options,
    anywhere: false,
    minIntervalSeconds: 10,
    run: (given, run) => pingHost(program, turns, given, run),
  }
}

/** How much of its time, in milliseconds, is left for a ping that had to wait for others: else it would find down who is slow. */
const LEAST = 2 * SECOND

async function pingHost(program: string, turns: Turns, given: PingOptions, run: ProbeRun): Promise<Finding> {
  const { host } = given
  const ends = performance.now() + run.timeoutMs
  const resolved = await run.tools.outbound.addressesOf(host, run)
  if (resolved.kind === 'failed') return notReached(host, resolved)
  const waitMs = ends - performance.now() - Math.min(LEAST, run.timeoutMs / 2)
  const finding = await turns.use(program, { waitMs, signal: run.signal }, () =>
    pingAddresses(program, resolved.addresses, given, { ends, signal: run.signal }),
  )
  return finding ?? found('UNKNOWN', troubles.busy)
}

async function pingAddresses(
  program: string,
  addresses: readonly string[],
  given: PingOptions,
  { ends, signal }: { readonly ends: number; readonly signal: AbortSignal },
): Promise<Finding> {
  let trouble: keyof typeof troubles = 'other'
  // IPv4 and IPv6 come in turn; the machine may have no way to one of them.
  for (const address of addresses.slice(0, 2)) {
    const limits = { limitMs: ends - performance.now(), signal }
    const reading = await pingAddress(program, address, given.count, limits)
    if (reading.kind === 'counted') return judgePing(given, reading, address)
    trouble = reading.trouble
    if (trouble !== 'network') break
  }
  return found('UNKNOWN', troubles[trouble])
}

/** What came of the program. */
export interface PingOutput {
  readonly stdout: string
  readonly stderr: string
  /** Such as ENOENT; null: it ran. */
  readonly failure: string | null
}

/** What the program told: how many packets were sent and answered, or why none could be sent. */
export type PingReading =
  | { readonly kind: 'counted'; readonly sent: number; readonly received: number; readonly averageMs: number | null }
  | { readonly kind: 'failed'; readonly trouble: keyof typeof troubles }

const troubles = {
  missing: 'Not pinged: the machine that watches has no ping program',
  forbidden: 'Not pinged: the machine that watches does not permit the ping program to send',
  network: 'Not pinged: the machine that watches has no way to this address',
  busy: 'Not pinged: the machine that watches had too many other hosts to ping',
  other: 'Not pinged: the ping program failed',
} as const

/** Time for the program to write what it has counted, once it is told to end, in milliseconds. */
const LAST_WORDS = 200

/** Without our environment, which holds secrets, and in a language that can be read. */
const env = { LC_ALL: 'C', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/wrappers/bin' }

interface PingLimits {
  readonly limitMs: number
  readonly signal: AbortSignal
}

async function pingAddress(program: string, address: string, count: number, limits: PingLimits): Promise<PingReading> {
  const start = performance.now()
  const args = ['-n', '-c', String(count)]
  const output = await runPing(program, [...args, '-i', '0.2', '--', address], limits)
  // BusyBox before 1.31 takes whole seconds only.
  if (!/invalid number/i.test(output.stderr)) return readPing(output)
  const limitMs = limits.limitMs - (performance.now() - start)
  return readPing(await runPing(program, [...args, '--', address], { ...limits, limitMs }))
}

/** Runs the program, without a shell; by the deadline it is told to end, and says what it has counted. */
function runPing(program: string, args: readonly string[], { limitMs, signal }: PingLimits): Promise<PingOutput> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, encoding: 'utf8' }, (error, stdout, stderr) => {
      clearTimeout(asking)
      clearTimeout(killing)
      signal.removeEventListener('abort', kill)
      resolve({ stdout, stderr, failure: typeof error?.code === 'string' ? error.code : null })
    })
    const kill = () => void child.kill('SIGKILL')
    const asking = setTimeout(() => child.kill('SIGINT'), Math.max(limitMs - LAST_WORDS, limitMs / 2))
    const killing = setTimeout(kill, limitMs)
    if (signal.aborted) kill()
    signal.addEventListener('abort', kill)
  })
}

/** Reads what iputils, BusyBox and BSD write. */
export function readPing({ stdout, stderr, failure }: PingOutput): PingReading {
  if (failure === 'ENOENT') return { kind: 'failed', trouble: 'missing' }
  if (failure === 'EACCES') return { kind: 'failed', trouble: 'forbidden' }
  const [, sent = '0', received = '0'] = /(\d+) packets transmitted, (\d+) (?:packets )?received/.exec(stdout) ?? []
  if (Number(sent) > 0) {
    const [, average] = /min\/avg\/max\S* = [\d.]+\/([\d.]+)\//.exec(stdout) ?? []
    return {
      kind: 'counted',
      sent: Number(sent),
      received: Number(received),
      averageMs: average ? Number(average) : null,
    }
  }
  if (/not permitted|permission denied/i.test(stderr)) return { kind: 'failed', trouble: 'forbidden' }
  const noWay = /network is unreachable|cannot assign requested address|address family not supported|no route to host/i
  return { kind: 'failed', trouble: noWay.test(stderr) ? 'network' : 'other' }
}

function judgePing(
  { host, degradedAboveMs }: PingOptions,
  { sent, received, averageMs }: Extract<PingReading, { kind: 'counted' }>,
  address: string,
): Finding {
  const measured = { latencyMs: averageMs, detail: { address } }
  if (received === 0) return found('DOWN', `None of ${packets(sent)} was answered`, { suspect: host })
  if (received < sent) return found('DEGRADED', `${sent - received} of ${packets(sent)} got lost`, measured)
  if (degradedAboveMs !== undefined && averageMs !== null && averageMs > degradedAboveMs) {
    return found('DEGRADED', `Answered in ${averageMs} ms on average, more than ${degradedAboveMs} ms`, measured)
  }
  return found('UP', `${packets(sent)} answered`, measured)
}

function packets(count: number): string {
  return count === 1 ? '1 packet' : `${count} packets`
}
