import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { DnsServer } from '../../src/core/config.ts'
import { root } from '../../src/core/process/paths.ts'
// Bundles the service.
import '../support/child.ts'

/** The built service in its own process, with a view into its main thread. */
export interface Program {
  readonly url: string
  /** The longest time for which its main thread computed without a pause since the previous call, in milliseconds. */
  longestTurn(): Promise<number>
  /** Its memory, in bytes. */
  memory(): Promise<{ readonly rss: number; readonly heapUsed: number }>
  /** The lines that it has written since the previous call. */
  lines(): readonly string[]
  /** How it ended; null: it runs. */
  death(): string | null
  stop(): Promise<void>
}

/** Starts the service as `npm start` does it. */
export async function startProgram(dns: DnsServer, settings: NodeJS.ProcessEnv): Promise<Program> {
  const { PATH, HOME, TMPDIR } = process.env
  const child = fork(new URL('dist/main.js', root), {
    cwd: root,
    execArgv: ['--v8-pool-size=1', '--import', new URL('test/bench/memory-probe.mjs', root).href],
    env: {
      ...{ PATH, HOME, TMPDIR, PORT: '0', HOST: '127.0.0.1', TRUST_PROXY: '127.0.0.1', SIGNUP: 'open' },
      ...{ DNS_SERVERS: `${dns.address}:${dns.port}`, BASE_URL, MALLOC_ARENA_MAX: '2' },
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let written = ''
  let death: string | null = null
  child.once('exit', (code, signal) => {
    death = `The service ended with ${signal ?? `code ${code}`}: ${written.slice(-2000)}`
  })
  const ready = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        written += text
        const port = /listening on \S+ port (\d+)/.exec(written)?.[1]
        if (port !== undefined && written.includes('ready: open ')) resolve(`http://127.0.0.1:${port}`)
      })
    }
    child.once('exit', () => reject(new Error(death ?? '')))
  })
  const asked = async (what: string) => {
    child.send(what)
    const [answer] = await once(child, 'message')
    return answer
  }
  const url = await ready
  written = ''
  return {
    url,
    longestTurn: () => asked('turn'),
    memory: () => asked('memory'),
    lines() {
      const end = written.lastIndexOf('\n') + 1
      const lines = written.slice(0, end).split('\n').slice(0, -1)
      written = written.slice(end)
      return lines
    },
    death: () => death,
    async stop() {
      if (death !== null) return
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

/** The only host on which people sign in. */
const BASE_URL = 'https://status.allclear.example'
export const OWN_HOST = new URL(BASE_URL).host
