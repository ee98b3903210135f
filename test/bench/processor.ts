import { readFile } from 'node:fs/promises'

/** Processor time of a process, in microseconds. */
export interface ProcessorTime {
  readonly mainThread: number
  readonly otherThreads: number
}

/** Microseconds in a clock tick of `/proc` (proc(5): sysconf(_SC_CLK_TCK), 100 a second on Linux). */
const TICK = 10_000

/**
 * Processor time of a process since its start, as counted by the kernel: without the time that it waited for a
 * processor.
 */
export async function processorTime(pid: number): Promise<ProcessorTime> {
  const [all, mainThread] = await Promise.all([timeIn(`/proc/${pid}/stat`), timeIn(`/proc/${pid}/task/${pid}/stat`)])
  return { mainThread, otherThreads: all - mainThread }
}

async function timeIn(path: string): Promise<number> {
  const stat = await readFile(path, 'utf8')
  // The second field is a name in parentheses, which may contain spaces; user and system time are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}
