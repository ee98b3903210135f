/** Settings of glibc's allocator, with which it gives back what a start has used. `npm start`, the image and the unit set them too. */
const settings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '32768',
}

/** What is asked of a process; its `execve` exists since Node.js 22.15, and not on Windows. */
interface Process extends Pick<NodeJS.Process, 'platform' | 'execPath' | 'env'> {
  readonly execArgv: readonly string[]
  readonly argv: readonly string[]
  readonly execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => void
}

/**
 * Starts this program again in the same process, with these settings: the C library reads them only when a program starts. Its id,
 * signals and exit code stay those of the caller's. Does nothing where they cannot be set so, or someone has set some.
 */
export function setMemorySettings(current: Process = process): void {
  const { platform, execve, execPath, execArgv, argv, env } = current
  if (platform !== 'linux' || !execve || Object.keys(env).some((name) => name.startsWith('MALLOC_'))) return
  execve.call(current, execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, ...settings })
}
