import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { vi } from 'vitest'
import { freePort } from './free-port.ts'
import { isInstalled } from './installed.ts'
import { temporaryDirectory } from './scratch.ts'

/** Why PgBouncer cannot be used; null: it can. */
export const pgbouncerMissing = isInstalled('/usr/sbin/pgbouncer', '--version') ? null : 'pgbouncer is not installed'

/** A pooler between clients and a server. */
export interface Pooler {
  /** The address of the database through it. */
  readonly url: string
  stop(): Promise<void>
}

/** Starts PgBouncer in front of the server of an address. @param settings lines of its configuration. */
export async function startPgbouncer(serverUrl: string, settings: readonly string[]): Promise<Pooler> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl)
  const { path, remove } = await temporaryDirectory()
  const port = await freePort()
  const [configuration, users] = [join(path, 'pgbouncer.ini'), join(path, 'users.txt')]
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  await writeFile(
    configuration,
    `[databases]
* = host=${hostname} port=${serverPort || 5432}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
${settings.join('\n')}
`,
  )
  // It refuses to run as root, and changes the user itself.
  const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const pooler = spawn('/usr/sbin/pgbouncer', ['-q', ...asUser, configuration], { cwd: path, stdio: 'ignore' })
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  await vi.waitUntil(() => answers(url.href), { timeout: 30_000 })
  return {
    url: url.href,
    async stop() {
      const exit = once(pooler, 'exit')
      pooler.kill('SIGKILL')
      await exit
      await remove()
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
