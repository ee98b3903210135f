import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import type { DnsServer } from '../../src/core/config.ts'
import { operatorToken } from './service-data.ts'
// Bundles the service.
import './child.ts'

/** The service in its own process, as `npm start` runs it. */
export interface ServiceProcess {
  readonly pid: number
  /**
   * Resolves with its address when it is ready.
   * @throws with its output if it ends first.
   */
  ready(): Promise<string>
  /** Its output so far, standard output and error. */
  output(): string
  /** Resolves once the output contains `text`. */
  wrote(text: string): Promise<void>
  signal(name: NodeJS.Signals): void
  /** Its exit code or signal. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Starts the service with these settings only, on a free port of 127.0.0.1 unless they set another. `program` is the
 * bundle to run: the service's own, or one of the tests' that becomes the service.
 */
export function startService(dns: DnsServer, settings: NodeJS.ProcessEnv, program = 'main'): ServiceProcess {
  const { PATH, HOME, TMPDIR } = process.env
  const child = spawn(process.execPath, [`dist/${program}.js`], {
    cwd: root,
    env: {
      PATH,
      HOME,
      TMPDIR,
      PORT: '0',
      HOST: '127.0.0.1',
      DNS_SERVERS: `${dns.address}:${dns.port}`,
      ADMIN_TOKEN: operatorToken,
      ...inject('geoFiles'),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  let written = ''
  const readers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text
      for (const read of readers) read()
    })
  }
  const wrote = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const read = () => {
        if (!written.includes(text)) return
        readers.delete(read)
        resolve()
      }
      readers.add(read)
      read()
      void ended.then(() => reject(new Error(`The service ended before it wrote “${text}”:\n${written}`)))
    })
  return {
    pid: child.pid ?? 0,
    ended,
    output: () => written,
    wrote,
    signal: (name) => void child.kill(name),
    async ready() {
      await wrote('ready: open ')
      const port = /listening on \S+ port (\d+)/.exec(written)?.[1]
      return `http://127.0.0.1:${port}`
    },
  }
}
