import type { Socket } from 'node:net'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../core/errors.ts'
import { type Batch, beginLog, createChangeReader, dropLog } from './change-log.ts'
import { linesOf } from './lines.ts'
import { connectToService, serveSocket } from './local-socket.ts'

/*
 * The changes of the embedded database while a service uses it. The service logs changes while a move is connected, and answers
 * each line with the next batch. When the service stops, the log stays for the move, which then opens the database itself.
 */
const SOCKET = 'move.sock'

/** Serves the changes of the embedded database in a data directory. @returns a function that stops it. */
export async function serveChanges(
  dataDir: string,
  pool: Pick<pg.Pool, 'query' | 'connect'>,
  log: Logger,
): Promise<() => Promise<void>> {
  // Drops the log of an earlier move that was killed, or that has read the rest of it.
  await dropLog(pool)
  return serveSocket(dataDir, SOCKET, { handle: (socket, isEnding) => serveOne(socket, isEnding, pool, log) }, log)
}

async function serveOne(
  socket: Socket,
  isEnding: () => boolean,
  pool: Pick<pg.Pool, 'query' | 'connect'>,
  log: Logger,
): Promise<void> {
  try {
    const id = await beginLog(pool)
    const read = await createChangeReader(pool)
    log.info('move: logging changes')
    socket.write(`begun ${id}\n`)
    for await (const _ of linesOf(socket)) {
      const connection = await pool.connect()
      try {
        socket.write(`${JSON.stringify(await read(connection))}\n`)
      } finally {
        connection.release()
      }
    }
  } catch (error) {
    if (!isEnding() && !socket.destroyed) log.error({ err: error }, 'move: failed')
  } finally {
    if (!isEnding()) {
      await dropLog(pool).catch((error) => log.error({ err: error }, 'move: could not drop the change log'))
      log.info('move: stopped logging changes')
    }
  }
}

/** The changes of a running service. */
export interface ChangeFeed {
  /** The id of its log. */
  readonly id: string
  /** Reads the next changes; null: the service has stopped. */
  take(): Promise<Batch | null>
  close(): void
}

/** Asks the service of a data directory to log its changes; null: no service is running. @throws StartError if it cannot. */
export async function openChangeFeed(dataDir: string): Promise<ChangeFeed | null> {
  const socket = await connectToService(dataDir, SOCKET)
  if (socket === null) return null
  const lines = linesOf(socket)
  // A service that stops may reset the connection.
  const next = () => lines.next().catch(() => ({ value: undefined, done: true as const }))
  const first = await next()
  if (first.done || first.value === 'busy') {
    socket.destroy()
    throw new StartError(
      first.done ? 'The service could not log its changes; see its log.' : 'Another move is running.',
    )
  }
  return {
    id: first.value.split(' ')[1] ?? '',
    async take() {
      if (socket.writable) socket.write('take\n')
      const { value, done } = await next()
      return done ? null : JSON.parse(value)
    },
    close: () => socket.destroy(),
  }
}

/** Returns whether a service that can log its changes is running. */
export async function hasService(dataDir: string): Promise<boolean> {
  const socket = await connectToService(dataDir, SOCKET)
  socket?.destroy()
  return socket !== null
}
