import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { encode } from 'dns-packet'
import type { DnsServer } from '../../src/core/config.ts'
import { freePort } from './free-port.ts'

/**
 * A zone and its data, in rbldnsd's own format (rbldnsd(8)); a zone may be given several times with different types.
 */
export interface RbldnsdZone {
  readonly zone: string
  readonly type: 'ip4set' | 'ip4tset' | 'ip4trie' | 'ip6tset' | 'ip6trie' | 'dnset' | 'generic' | 'combined'
  readonly lines: readonly string[]
}

/** A daemon that listens on loopback. */
export interface Rbldnsd extends DnsServer {
  /** Stops the daemon and removes its folder. */
  stop(): Promise<void>
}

const executable = findExecutable()

/** Why the daemon cannot be used; null: it can. */
const rbldnsdMissing = executable === null ? 'rbldnsd is not installed' : null

/**
 * Call this first in a test that needs the daemon: without it, the test is skipped with the reason, or fails where CI
 * is set.
 */
export function requireRbldnsd(test: { skip(note?: string): void }): void {
  if (rbldnsdMissing === null) return
  if (process.env['CI']) throw new Error(rbldnsdMissing)
  test.skip(rbldnsdMissing)
}

/**
 * Starts the daemon on a free port of 127.0.0.1 and waits until it answers.
 * @throws Error with the daemon's output, if it does not start or reports a line.
 */
export async function startRbldnsd(zones: readonly RbldnsdZone[]): Promise<Rbldnsd> {
  if (executable === null) throw new Error(rbldnsdMissing ?? '')
  const folder = await mkdtemp(join(tmpdir(), 'rbldnsd-'))
  // The daemon reads as an unprivileged user.
  await chmod(folder, 0o755)
  await Promise.all(zones.map(({ lines }, index) => writeFile(join(folder, `${index}`), `${lines.join('\n')}\n`)))

  const port = await freePort()
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const datasets = zones.map(({ zone, type }, index) => `${zone}:${type}:${index}`)
  const daemon = spawn(executable, ['-n', '-w', folder, ...user, '-b', `127.0.0.1/${port}`, ...datasets], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaints = ''
  daemon.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const exited = once(daemon, 'close')
  const stop = async () => {
    daemon.kill()
    await exited
    await rm(folder, { recursive: true })
  }

  const probe = probeUntilAnswered(port, zones[0]?.zone ?? '.')
  const serves = await Promise.race([probe.answered.then(() => true), exited.then(() => false)])
  probe.stop()
  if (!serves || complaints !== '') {
    await stop()
    throw new Error(`rbldnsd does not serve: ${complaints}`)
  }
  return { address: '127.0.0.1', port, stop }
}

function findExecutable(): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).concat('/usr/sbin')
  return folders.map((folder) => join(folder, 'rbldnsd')).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Polls every 10 ms, because nothing else reports that the socket is open. */
function probeUntilAnswered(port: number, zone: string): { readonly answered: Promise<unknown>; stop(): void } {
  const query = encode({ type: 'query', id: 1, questions: [{ name: zone, type: 'SOA' }] })
  const socket = createSocket('udp4')
  const timer = setInterval(() => socket.send(query, port, '127.0.0.1'), 10)
  return {
    answered: new Promise((resolve) => socket.once('message', resolve)),
    stop() {
      clearInterval(timer)
      socket.close()
    },
  }
}
