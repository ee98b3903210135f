import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Another process, and its output. */
export interface Child {
  readonly pid: number
  /** Its next line of output; null after its end. */
  line(): Promise<string | null>
  /** Kills it as `kill -9` does, and waits until it has ended. */
  kill(): Promise<void>
}

/** The files of the tests that run as separate processes. */
const children = {
  'alert-child': 'test/alerting/alert-child.ts',
  'billing-child': 'test/support/billing-child.ts',
  'database-child': 'test/support/database-child.ts',
  'lock-child': 'test/support/lock-child.ts',
  'log-child': 'test/support/log-child.ts',
  'worker-child': 'test/notification/worker-child.ts',
}

// Bundled as `npm start` does it, before all tests, because that can take longer than a test: a bundle starts three
// times as fast as the sources.
const bundles = Object.entries(children).map(([name, file]) => `${name}=${file}`)
await promisify(execFile)(process.execPath, ['src/build.js', ...bundles], { cwd: root })

/** Starts one of these files in a process. */
export function startChild(name: keyof typeof children, args: readonly string[], env: NodeJS.ProcessEnv = {}): Child {
  const child = spawn(process.execPath, [`dist/${name}.js`, ...args], {
    cwd: root,
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
