import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { atShortPath } from '../database/embedded/directory-lock.ts'

/*
 * The sockets in a data directory over which a command speaks to the service that has the embedded database. Only the owner of the
 * directory may enter it.
 */

/** What the service does for a connection. */
export interface SocketHandler {
  /** Closes the connection afterwards. Never rejects. @param isEnding says whether the service ends. */
  handle(socket: Socket, isEnding: () => boolean): Promise<void>
}

/** Serves one connection at a time; others read `busy`. @returns what ends it. */
export async function serveSocket(
  dataDir: string,
  name: string,
  { handle }: SocketHandler,
  log: Logger,
): Promise<() => Promise<void>> {
  let running: Promise<void> | null = null
  let isEnding = false
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    if (running !== null) return void socket.end('busy\n')
    open.add(socket)
    running = handle(socket, () => isEnding).finally(() => {
      running = null
      open.delete(socket)
      socket.destroy()
    })
  })
  const path = join(dataDir, name)
  // This process alone has the directory: a socket there is a dead process's.
  await rm(path, { force: true })
  try {
    await atShortPath(path, (short) => once(server.listen(short), 'listening'))
    await chmod(path, 0o600)
  } catch (error) {
    log.warn({ err: error }, `${name}: this service cannot be backed up or moved while it runs`)
  }
  server.unref()
  return async () => {
    isEnding = true
    server.close()
    for (const socket of open) socket.destroy()
    await running
    await rm(path, { force: true })
  }
}

/** Connects to a service; null: none runs. */
export async function connectToService(dataDir: string, name: string): Promise<Socket | null> {
  return atShortPath(join(dataDir, name), async (short) => {
    const socket = createConnection(short)
    try {
      await once(socket, 'connect')
      return socket
    } catch {
      return null
    }
  })
}
