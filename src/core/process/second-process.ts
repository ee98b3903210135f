import type { ChildProcess } from 'node:child_process'

/** What asks a program to end. A terminal sends SIGINT and SIGHUP to both processes, and the second one is harmless. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Passes signals on to a second process with the same streams, and ends this process as that one ends. */
export function endAs(second: ChildProcess): void {
  for (const signal of SIGNALS) process.on(signal, () => void second.kill(signal))
  second.on('error', (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
  second.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** Asks this process to end, as SIGTERM does, when the process that started it with a channel is gone. */
export function endWithFirstProcess(): void {
  if (!process.channel) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}

/** How often `endWithShell` looks, in milliseconds. */
const LOOK_INTERVAL = 250

/**
 * Asks this process to end, as SIGTERM does, when the shell is gone in which npm runs a script: npm passes SIGTERM on to
 * the shell, which does not pass it on. Does nothing where npm did not start this process.
 * @param script the name that npm gives to the script, `npm_lifecycle_event`.
 */
export function endWithShell(script: string | undefined): void {
  if (script === undefined || !['start', 'demo', 'npx'].includes(script)) return
  const shell = process.ppid
  const looking = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(looking)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_INTERVAL)
  looking.unref()
}
