import { readdir, readFile } from 'node:fs/promises'

/** Processor time that a process has taken, in microseconds. */
export interface ProcessorTime {
  readonly mainThread: number
  readonly otherThreads: number
}

/** Microseconds in a clock tick of `/proc` (proc(5): sysconf(_SC_CLK_TCK), 100 a second on Linux). */
const TICK = 10_000

/** What a process has taken since it started, as the kernel counts it: it hardly grows when others keep the machine busy. */
export async function processorTime(pid: number): Promise<ProcessorTime> {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = await Promise.all(threads.map(async (thread) => [thread, await threadTime(pid, thread)] as const))
  const of = (wanted: boolean) =>
    times.reduce((sum, [thread, time]) => ((thread === String(pid)) === wanted ? sum + time : sum), 0)
  return { mainThread: of(true), otherThreads: of(false) }
}

async function threadTime(pid: number, thread: string): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => '')
  // The second field is a name in brackets, which may hold blanks; user and system time are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK
}
