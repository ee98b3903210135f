import { readFile } from 'node:fs/promises'

/** Processor time that a process has taken, in microseconds. */
export interface ProcessorTime {
  readonly mainThread: number
  readonly otherThreads: number
}

/** Microseconds in a clock tick of `/proc` (proc(5): sysconf(_SC_CLK_TCK), 100 a second on Linux). */
const TICK = 10_000

/** What a process has taken since it started, as the kernel counts it: without the time in which it had to wait for its turn. */
export async function processorTime(pid: number): Promise<ProcessorTime> {
  const [all, mainThread] = await Promise.all([timeIn(`/proc/${pid}/stat`), timeIn(`/proc/${pid}/task/${pid}/stat`)])
  return { mainThread, otherThreads: all - mainThread }
}

async function timeIn(path: string): Promise<number> {
  const stat = await readFile(path, 'utf8')
  // The second field is a name in brackets, which may hold blanks; user and system time are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}
