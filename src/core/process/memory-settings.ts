import { type ChildProcess, spawn } from 'node:child_process'

/** Settings of glibc's allocator that make it return memory after the start. The image and the unit set them too. */
const settings = {
  MALLOC_ARENA_MAX: '2',
  // With the 128 kB that glibc starts with, a start gives memory back and takes it again all the time: a tenth of it.
  MALLOC_TRIM_THRESHOLD_: '4194304',
  MALLOC_MMAP_THRESHOLD_: '49152',
}

/**
 * Makes V8 optimize code on one thread. By default, it uses four, which compete with the program for the processors.
 */
const POOL_SIZE = '--v8-pool-size=1'

/** The members of `process` that are used here. `execve` exists since Node.js 22.15, and not on Windows. */
interface Process extends Pick<NodeJS.Process, 'platform' | 'execPath' | 'env'> {
  readonly execArgv: readonly string[]
  readonly argv: readonly string[]
  readonly execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => void
}

/**
 * Restarts this program with these settings, because the C library reads them only when a program starts: in the same
 * process, which keeps its id, or in a second process where Node.js cannot do that. Does nothing on other systems than
 * Linux, or if some are already set.
 * @returns the second process, or null if this one is to continue.
 */
export function restartWithMemorySettings(current: Process = process): ChildProcess | null {
  const { platform, execve, execPath, execArgv, argv, env } = current
  if (platform !== 'linux' || Object.keys(env).some((name) => name.startsWith('MALLOC_'))) return null
  const args = [POOL_SIZE, ...execArgv, ...argv.slice(1)]
  if (execve) {
    execve.call(current, execPath, [execPath, ...args], { ...env, ...settings })
    return null
  }
  // Each process learns of the end of the other one by the channel.
  return spawn(execPath, args, { env: { ...env, ...settings }, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
}
