import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { root } from '../../src/core/process/paths.ts'
import type { ProcessorTime } from './processor.ts'
import { processorTime } from './processor.ts'
import { median } from './report.ts'

/** A round of requests to one server. */
export interface Load {
  readonly answers: number
  readonly perSecond: number
  /** The server's processor time for them. */
  readonly took: ProcessorTime
}

/** Returns whether wrk is installed. */
export async function hasWrk(): Promise<boolean> {
  // `wrk -v` prints its version and exits with 1.
  return promisify(execFile)('wrk', ['-v']).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}

/**
 * Loads a server with a script of `test/bench` that prints `RESULT answers microseconds refused lost`.
 * @throws when a request is refused or lost.
 */
export async function loadBy(
  { port, pid }: { readonly port: number; readonly pid: number },
  round: {
    readonly script: string
    readonly arguments: readonly string[]
    readonly path: string
    readonly connections: number
    readonly seconds: number
  },
): Promise<Load> {
  const before = await processorTime(pid)
  const script = fileURLToPath(new URL(`test/bench/${round.script}`, root))
  const url = `http://127.0.0.1:${port}${round.path}`
  const options = ['-t1', '--timeout=10s', `-c${round.connections}`, `-d${round.seconds}s`, '-s', script, url, '--']
  const { stdout } = await promisify(execFile)('wrk', [...options, ...round.arguments])
  const result = /^RESULT (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout)
  if (result === null) throw new Error(`wrk gave no result: ${stdout}`)
  const [answers = 0, microseconds = 0, refused = 0, lost = 0] = result.slice(1).map(Number)
  if (refused + lost > 0) throw new Error(`${refused} requests were refused and ${lost} lost`)
  const after = await processorTime(pid)
  const took = {
    mainThread: after.mainThread - before.mainThread,
    otherThreads: after.otherThreads - before.otherThreads,
  }
  return { answers, perSecond: answers / (microseconds / 1e6), took }
}

/** The median rate of some rounds, as text. */
export function rate(loads: readonly Load[]): string {
  return `${Math.round(median(loads.map((load) => load.perSecond))).toLocaleString('en')}/s`
}

/** The median processor time per answer of some rounds, as text. */
export function processorCost(loads: readonly Load[]): string {
  const each = (thread: keyof ProcessorTime) =>
    `${median(loads.map(({ answers, took }) => took[thread] / answers)).toFixed(1)} µs`
  return `${each('mainThread')} of its main thread and ${each('otherThreads')} of others`
}

/** The median ratio of the rates of alternating rounds. */
export function ratio(loads: readonly Load[], others: readonly Load[]): number {
  return median(loads.map(({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? Number.NaN)))
}
