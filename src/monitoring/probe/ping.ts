import { execFile } from 'node:child_process'
import { z } from 'zod'
import { described } from '../../core/described.ts'
import { SECOND } from '../../core/time.ts'
import type { DestinationLimiter } from '../../network/destination-limiter.ts'
import { createDestinationLimiter } from '../../network/destination-limiter.ts'
import type { ProbeResult } from '../result/probe-result.ts'
import { probeResult } from '../result/probe-result.ts'
import { responseOptions } from './common.ts'
import { hostText, ipVersion, unreachableResult } from './host.ts'
import type { Probe, ProbeRun } from './probe.ts'

const options = z.strictObject({
  host: hostText,
  /** Packets are sent 200 ms apart. */
  count: described(z.int().min(1).max(5).default(3), {
    label: 'Packets',
    description: 'The number of packets to send, 1 to 5.',
    isRare: true,
  }),
  /** At least enough for a timestamp, at most as many as fit a jumbo frame of 9,000 bytes. */
  packetSize: described(z.int().min(16).max(8972).default(56), {
    label: 'Packet size',
    description: 'The bytes of data per packet, 16 to 8972.',
    hint: 'Bytes of data. Most networks fragment IPv4 packets with more than 1472.',
    isRare: true,
  }),
  ipVersion: described(ipVersion, {
    label: 'IP version',
    description: 'The IP version, 4 or 6. Default: whichever has a route.',
    none: 'Whichever has a route',
    isRare: true,
  }),
  ...responseOptions,
})

export type PingOptions = z.output<typeof options>

/** The maximum number of `ping` processes, half of them for one organization. One for a silent host runs until its deadline. */
const MAX_RUNNING = 64

/** Sends ICMP echo requests with the system's `ping`, so that this service needs no privileges. */
export const ping: Probe<typeof options> = pingBy('ping')

/**
 * Creates the probe with another program that takes the arguments of `ping`.
 * @param atOnce the maximum number of concurrent processes.
 */
export function pingBy(program: string, atOnce = MAX_RUNNING): Probe<typeof options> {
  const limiter = createDestinationLimiter({ atOnce })
  return {
    kind: 'PING',
    options,
    words: { name: 'Ping', about: 'Sends packets to a host.' },
    anywhere: false,
    minIntervalSeconds: 10,
    defaultIntervalSeconds: 60,
    smallest: { host: 'example.com' },
    subject: 'host',
    target: ({ host }) => ({ host, port: null }),
    run: (given, run) => pingHost(program, limiter, given, run),
  }
}

/** The minimum time for the ping after waiting, in milliseconds. With less, a slow host would seem to be down. */
const MIN_PING_MS = 2 * SECOND

async function pingHost(
  program: string,
  limiter: DestinationLimiter,
  given: PingOptions,
  run: ProbeRun,
): Promise<ProbeResult> {
  const { host, ipVersion } = given
  const { signal, owner } = run
  const { awaitConnectionSlot } = run.tools.outbound
  let ends = performance.now() + run.timeoutMs
  const resolved = await run.tools.outbound.addressesOf(host, { ...run, family: ipVersion })
  if (resolved.kind === 'failed') return unreachableResult(host, resolved, run.tools.now())
  const [first = host] = resolved.addresses
  const asked = performance.now()
  if (!(await awaitConnectionSlot(first, { waitMs: run.waitMs ?? 0, signal, owner })))
    return probeResult('UNKNOWN', problems.rateLimited)
  ends += performance.now() - asked
  const waitMs = ends - performance.now() - Math.min(MIN_PING_MS, run.timeoutMs / 2)
  const result = await limiter.run(program, { waitMs, signal, owner }, () =>
    pingAddresses(program, resolved.addresses, given, { ends, signal, owner, awaitConnectionSlot }),
  )
  return result ?? probeResult('UNKNOWN', problems.busy)
}

async function pingAddresses(
  program: string,
  addresses: readonly string[],
  given: PingOptions,
  {
    ends,
    signal,
    owner,
    awaitConnectionSlot,
  }: { readonly ends: number; readonly signal: AbortSignal; readonly owner: string } & Pick<
    ProbeRun['tools']['outbound'],
    'awaitConnectionSlot'
  >,
): Promise<ProbeResult> {
  let trouble: keyof typeof problems = 'other'
  // The addresses alternate between IPv4 and IPv6, and the machine may only have a route to one of these. The first
  // address is already admitted.
  for (const [index, address] of addresses.slice(0, 2).entries()) {
    if (index > 0 && !(await awaitConnectionSlot(address, { waitMs: 0, signal, owner })))
      return probeResult('UNKNOWN', problems.rateLimited)
    const limits = { limitMs: ends - performance.now(), signal }
    const reading = await pingAddress(program, address, given, limits)
    if (reading.kind === 'counted') return judgePing(given, reading, address)
    trouble = reading.trouble
    if (trouble !== 'network') break
  }
  return probeResult('UNKNOWN', problems[trouble])
}

/** The output of the program. */
export interface PingOutput {
  readonly stdout: string
  readonly stderr: string
  /** The error code, such as ENOENT; null: it ran. */
  readonly failure: string | null
}

/** The parsed output: the packets sent and received, or the reason why none could be sent. */
export type PingReading =
  | { readonly kind: 'counted'; readonly sent: number; readonly received: number; readonly averageMs: number | null }
  | { readonly kind: 'failed'; readonly trouble: keyof typeof problems }

const problems = {
  missing: 'Not pinged: our machine has no ping program',
  forbidden: 'Not pinged: our machine does not permit ping to send packets',
  network: 'Not pinged: our machine has no route to this address',
  busy: 'Not pinged: our machine has too many other hosts to ping',
  rateLimited: 'Not pinged: too many probes of this address at once',
  other: 'Not pinged: the ping program failed',
} as const

/** The time that the program has to print its statistics after SIGINT, in milliseconds. */
const OUTPUT_MS = 200

/** The environment of the program. It excludes our secrets, and makes the output English. */
const env = { LC_ALL: 'C', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/wrappers/bin' }

interface PingLimits {
  readonly limitMs: number
  readonly signal: AbortSignal
}

async function pingAddress(
  program: string,
  address: string,
  { count, packetSize }: PingOptions,
  limits: PingLimits,
): Promise<PingReading> {
  const start = performance.now()
  const args = ['-n', '-c', String(count), '-s', String(packetSize)]
  const output = await runPing(program, [...args, '-i', '0.2', '--', address], limits)
  // BusyBox before 1.31 only accepts whole seconds.
  if (!/invalid number/i.test(output.stderr)) return readPing(output)
  const limitMs = limits.limitMs - (performance.now() - start)
  return readPing(await runPing(program, [...args, '--', address], { ...limits, limitMs }))
}

/** Runs the program without a shell. Shortly before the deadline, SIGINT makes it print its statistics. */
function runPing(program: string, args: readonly string[], { limitMs, signal }: PingLimits): Promise<PingOutput> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { env, encoding: 'utf8' }, (error, stdout, stderr) => {
      clearTimeout(asking)
      clearTimeout(killing)
      signal.removeEventListener('abort', kill)
      resolve({ stdout, stderr, failure: typeof error?.code === 'string' ? error.code : null })
    })
    const kill = () => void child.kill('SIGKILL')
    const asking = setTimeout(() => child.kill('SIGINT'), Math.max(limitMs - OUTPUT_MS, limitMs / 2))
    const killing = setTimeout(kill, limitMs)
    if (signal.aborted) kill()
    signal.addEventListener('abort', kill)
  })
}

/** Parses the output of iputils, BusyBox and BSD. */
export function readPing({ stdout, stderr, failure }: PingOutput): PingReading {
  if (failure === 'ENOENT') return { kind: 'failed', trouble: 'missing' }
  if (failure === 'EACCES') return { kind: 'failed', trouble: 'forbidden' }
  const [, sent = '0', received = '0'] =
    /(?<!\d)(\d+) packets transmitted, (\d+) (?:packets )?received/.exec(stdout) ?? []
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
): ProbeResult {
  const measured = { latencyMs: averageMs, detail: { address } }
  if (received === 0) return probeResult('DOWN', `None of ${packets(sent)} was answered`, { suspect: host })
  if (received < sent) return probeResult('DEGRADED', `${sent - received} of ${packets(sent)} were lost`, measured)
  if (degradedAboveMs !== undefined && averageMs !== null && averageMs > degradedAboveMs) {
    return probeResult('DEGRADED', `Answered in ${averageMs} ms on average, more than ${degradedAboveMs} ms`, measured)
  }
  return probeResult('UP', `${packets(sent)} answered`, measured)
}

function packets(count: number): string {
  return count === 1 ? '1 packet' : `${count} packets`
}
