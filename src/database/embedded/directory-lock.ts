import { once } from 'node:events'
import { mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { StartError } from '../../core/errors.ts'
import { randomText } from '../../core/id.ts'
import { SECOND } from '../../core/time.ts'

/** An exclusive lock on a directory. The kernel releases it when the process dies. */
export interface DirectoryLock {
  release(): Promise<void>
}

/**
 * Locks a directory, which must exist. Every contender listens on its own socket in it and then looks for other
 * sockets. Names are never reused, so a socket that does not answer belongs to a dead process and can be removed. Of
 * contenders that see each other, the one with the first name stays, unless another already has the lock.
 * @throws StartError when another process has or acquires the lock. Its message names the directory and the process.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const name = `lock-${randomText(8)}`
  const claim = await createClaim(directory, name)
  try {
    const rivals = await connectToRivals(directory, name)
    // A rival with an earlier name waits for the answer of this process, which must not wait for the rival's.
    const first = rivals.every((rival) => name < rival.name)
    if (!first) await claim.withdraw()
    const owner = (await Promise.all(rivals.map((rival) => rival.answer))).find((found) => found !== null)
    if (!first || owner !== undefined) throw inUse(directory, owner ?? 'another process that is starting')
  } catch (error) {
    await claim.withdraw()
    throw error
  }
  claim.win()
  return { release: claim.withdraw }
}

function inUse(directory: string, owner: string): StartError {
  return new StartError(
    `${resolve(directory)} is in use by ${owner}. Only one process at a time can use a DATA_DIR. Stop the other process, or set another DATA_DIR for this one.`,
  )
}

interface Claim {
  /** Answers all contenders, past and future, with this process's id. */
  win(): void
  /** Ends the claim and closes the connections of contenders. */
  withdraw(): Promise<void>
}

async function createClaim(directory: string, name: string): Promise<Claim> {
  const asking = new Set<Socket>()
  let won = false
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    if (won) socket.end(String(process.pid))
    else asking.add(socket)
  })
  // Renamed only once it listens. Before that, others would take it for the socket of a dead process.
  const unready = join(directory, `un${name}`)
  await atShortPath(unready, (path) => once(server.listen(path), 'listening'))
  await rename(unready, join(directory, name))
  server.unref()
  return {
    win() {
      won = true
      for (const socket of asking) socket.end(String(process.pid))
    },
    async withdraw() {
      await rm(join(directory, name), { force: true })
      server.close()
      for (const socket of asking) socket.destroy()
    },
  }
}

interface Rival {
  readonly name: string
  /** The owner of the lock according to the rival; null: the rival has withdrawn. */
  readonly answer: Promise<string | null>
}

/** Connects to all live contenders, and removes the sockets of dead ones. */
async function connectToRivals(directory: string, own: string): Promise<Rival[]> {
  const names = (await readdir(directory)).filter((name) => name.startsWith('lock-') && name !== own)
  const rivals = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name)
      const answer = await atShortPath(path, ask)
      if (answer === null) await rm(path, { force: true })
      return answer && { name, ...answer }
    }),
  )
  return rivals.filter((rival) => rival !== null)
}

/** Connects to a contender's socket. Resolves once connected; to null if no process listens. */
function ask(path: string): Promise<Pick<Rival, 'answer'> | null> {
  const socket = createConnection(path)
  let pid = ''
  socket.on('data', (data) => {
    pid += data
  })
  const answer = new Promise<string | null>((resolve) => {
    socket.on('close', () => resolve(pid === '' ? null : `process ${pid}`))
    socket.setTimeout(5 * SECOND, () => {
      resolve('a process that does not answer')
      socket.destroy()
    })
  })
  return new Promise((resolve, reject) => {
    socket.on('connect', () => resolve({ answer }))
    // Once connected, an error means that the rival has ended, which `answer` reports.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(null)
      else reject(error)
    })
  })
}

/** The maximum length of a socket path in bytes: 107 on Linux (unix(7)), 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 103

/** Runs `use` with the path, or with a symlink to it when the path is too long for a socket. */
export async function atShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return use(path)
  const detour = await mkdtemp(join(tmpdir(), 'allclear-'))
  try {
    await symlink(resolve(dirname(path)), join(detour, 'd'))
    return await use(join(detour, 'd', basename(path)))
  } finally {
    await rm(detour, { recursive: true })
  }
}
