import { once } from 'node:events'
import { mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { StartError } from '../errors.ts'
import { randomText } from '../id.ts'
import { SECOND } from '../time.ts'

/** The right to be the only process that uses a directory. The kernel takes it back from a process that dies. */
export interface DirectoryLock {
  release(): Promise<void>
}

/**
 * Locks a directory, which must exist. Every contender listens on a socket of its own in it, and then looks for the sockets
 * of others: a name is never used twice, so one that nobody answers on is a dead process's and may be removed. Of contenders
 * that see each other the one that comes first by name stays, unless another has taken the lock before it looked.
 * @throws StartError when another process has the lock or is taking it; it names the directory and the process.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const name = `lock-${randomText(8)}`
  const claim = await announce(directory, name)
  try {
    const rivals = await connectToRivals(directory, name)
    // A rival that comes first by name waits for this one's answer, so this one may not wait for its.
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
    `${resolve(directory)} is in use by ${owner}. Only one process at a time may use a DATA_DIR: stop the other one, or give this one its own.`,
  )
}

interface Claim {
  /** From now on whoever asks, and whoever has asked, is told this process's id. */
  win(): void
  /** Ends the claim; whoever has asked sees the connection end. */
  withdraw(): Promise<void>
}

async function announce(directory: string, name: string): Promise<Claim> {
  const asking = new Set<Socket>()
  let won = false
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    if (won) socket.end(String(process.pid))
    else asking.add(socket)
  })
  // It gets its name only once it listens: before, others would take it for a dead process's.
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
  /** Who has the lock, in words, as the rival tells it; null when it has given up. */
  readonly answer: Promise<string | null>
}

/** Connects to every other contender that is alive, and removes what the dead ones left. */
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

/** Resolves once connected; to null when nobody listens any more. */
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
    // After the connection, an error is the end of the rival, which `answer` tells.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(null)
      else reject(error)
    })
  })
}

/** The longest address of a socket, in bytes: 107 on Linux (unix(7)), 103 on macOS. */
const longestAddress = 103

/** Runs `use` with the path, or with a shorter way to the same place when it is too long for the address of a socket. */
async function atShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= longestAddress) return use(path)
  const detour = await mkdtemp(join(tmpdir(), 'allclear-'))
  try {
    await symlink(resolve(dirname(path)), join(detour, 'd'))
    return await use(join(detour, 'd', basename(path)))
  } finally {
    await rm(detour, { recursive: true })
  }
}
