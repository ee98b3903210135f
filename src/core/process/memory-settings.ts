/**
 * Settings of glibc's allocator that make it return memory after the start. `npm start`, the image and the unit set
 * them too.
 */
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
 * Restarts this program in the same process with these settings, because the C library reads them only when a program
 * starts. The process keeps its id, signals and exit code. Does nothing if they cannot be set this way, or if some are
 * already set.
 */
export function setMemorySettings(current: Process = process): void {
  const { platform, execve, execPath, execArgv, argv, env } = current
  if (platform !== 'linux' || !execve || Object.keys(env).some((name) => name.startsWith('MALLOC_'))) return
  execve.call(current, execPath, [execPath, POOL_SIZE, ...execArgv, ...argv.slice(1)], { ...env, ...settings })
}
