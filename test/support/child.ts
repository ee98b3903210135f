import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Another process, and what it has to say. */
export interface Child {
  readonly pid: number
  /** The next line that it writes, or null when it has ended. */
  line(): Promise<string | null>
  /** Ends it at once, as `kill -9` does, and waits until it is gone. */
  kill(): Promise<void>
}

/** Starts a TypeScript file, named from the root of the repository, in a process of its own. */
export function startChild(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    pid: child.pid ?? 0,
    async line() {
      const { value, done } = await lines.next()
      return done ? null : value
    },
    async kill() {
      child.kill('SIGKILL')
      await exit
    },
  }
}
