import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { atShortPath } from '../database/embedded/directory-lock.ts'

/*
 * The sockets in a data directory over which a command communicates with the service that uses the embedded database. Only the
 * owner of the directory may enter it.
 */

/** Handles the connections of a socket. */
export interface SocketHandler {
  /** Handles a connection, which is closed afterwards. Never rejects. @param isEnding whether the service is stopping. */
  handle(socket: Socket, isEnding: () => boolean): Promise<void>
}

/** Serves one connection at a time; others get `busy`. @returns a function that stops it. */
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
  // Only this process uses the directory, so an existing socket is that of a dead process.
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

/** Connects to a service; null: no service is running. */
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
