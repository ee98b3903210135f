import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'

const run = promisify(execFile)
const versions = '/usr/lib/postgresql'
const version = existsSync(versions) ? readdirSync(versions).sort().at(-1) : undefined

/** It holds nothing that must outlive a crash of the machine, and three test workers need more connections than the default. */
const settings = ['fsync=off', 'full_page_writes=off', 'max_connections=300'].flatMap((each) => ['-c', each])

/** Why PostgreSQL cannot be started; null: it can. */
export const clusterMissing = version === undefined ? 'no PostgreSQL server is installed' : null

/** A PostgreSQL server of the test's own. */
export interface Cluster {
  readonly url: string
  /** The process that listens on the port. */
  readonly pid: () => number
  /** Stops it like a crash, and starts it again. */
  restart(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates a server in a temporary directory, which every user must be able to reach, and starts it. PostgreSQL refuses to run as root; then it runs as
 * `postgres`.
 */
export async function startCluster(): Promise<Cluster> {
  const bin = join(versions, version ?? '', 'bin')
  const directory = await mkdtemp(join(tmpdir(), 'postgres-'))
  const isRoot = process.getuid?.() === 0
  const { uid, gid } = isRoot ? await idsOf('postgres') : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  await chown(directory, uid, gid)
  const data = join(directory, 'data')
  await run(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'], {
    uid,
    gid,
    cwd: directory,
  })
  const port = await freePort()
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const start = async () => {
    const server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory, ...settings],
      { uid, gid, cwd: directory, stdio: 'ignore' },
    )
    for (let tried = 0; tried < 300; tried += 1) {
      const client = new pg.Client(url)
      const answers = await client.connect().then(
        () => true,
        () => false,
      )
      await client.end().catch(() => {})
      if (answers) return server
      await sleep(100)
    }
    throw new Error('The server does not start.')
  }
  const stop = async () => {
    const exit = once(server, 'exit')
    server.kill('SIGQUIT')
    await exit
  }
  let server = await start()
  return {
    url,
    pid: () => server.pid ?? 0,
    async restart() {
      await stop()
      server = await start()
    },
    async close() {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function idsOf(user: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map(async (of) => Number((await run('id', [of, user])).stdout)))
  return { uid: uid ?? 0, gid: gid ?? 0 }
}
