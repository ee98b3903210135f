import { mkdir, rename, rm } from 'node:fs/promises'
import { Duplex } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import type pg from 'pg'
import { isTimeSliceOver } from '../../core/concurrency/time-slice.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { createPool } from '../connection/pool.ts'
import { LONG_DEADLINE } from '../connection/statement-deadline.ts'
import { takeThread } from './early-opening.ts'
import { asOpenError, holdsDatabase } from './embedded-directory.ts'
import { openInThread } from './embedded-thread.ts'
import { takeTurns } from './turns.ts'
import { unpack } from './unpack.ts'

/** How long a statement waits for the connection. */
const CONNECTION_TIMEOUT_MS = 10 * SECOND

/** The embedded PostgreSQL: one session, in a worker thread, used by `pg` over a stream instead of a socket. */
export interface Embedded {
  readonly pool: pg.Pool
  /** Resolves with the reason if the database is lost while in use. Otherwise never resolves. */
  readonly failure: Promise<Error>
  /** Waits for running statements, then closes the database and ends its thread. */
  close(): Promise<void>
}

/**
 * Creates a database in `directory`, which must not exist. Unpacks the template; without one, PGlite creates an empty
 * database in its own thread, whose end frees the memory (twice that of a running database). A crash leaves nothing in
 * `directory`.
 */
async function createEmbedded(directory: string, template: () => Promise<Buffer | null>): Promise<void> {
  const unfinished = `${directory}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  try {
    await mkdir(unfinished, { mode: 0o700 })
    const archive = await template()
    if (archive) unpack(archive, unfinished)
    else await (await openBackend(unfinished)).close()
  } catch (error) {
    const why = await asOpenError(error, unfinished, { isNew: true })
    await rm(unfinished, { recursive: true, force: true })
    throw why
  }
  await rename(unfinished, directory)
}

/**
 * Opens the database in `directory`, and creates it if none exists.
 * @param template returns the files of a new database, as a tar archive; null: PGlite creates them.
 * @throws StartError with the problem of the directory and the remedy.
 */
export async function openEmbedded(directory: string, template: () => Promise<Buffer | null>): Promise<Embedded> {
  if (!(await holdsDatabase(directory))) await createEmbedded(directory, template)
  const thread = takeThread()
  return openedEmbedded(directory, thread, openInThread(thread, directory))
}

/**
 * Takes over a database that a thread is already opening.
 * @param opened resolves once it is open.
 * @throws StartError with the problem of the directory and the remedy.
 */
export async function openedEmbedded(directory: string, thread: Worker, opened: Promise<void>): Promise<Embedded> {
  const backend = await createBackend(thread, opened).catch(async (error: unknown) => {
    throw await asOpenError(error, directory)
  })
  const pool = takeTurns(
    createPool({
      // Set here, because `pg` takes defaults from PGUSER, PGOPTIONS and similar variables.
      user: 'postgres',
      database: 'postgres',
      options: '-c TimeZone=UTC',
      ssl: false,
      max: 1,
      pipeline: true,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      idleTimeoutMillis: 0,
      stream: () => connectionTo(backend),
    }),
    CONNECTION_TIMEOUT_MS,
  )
  return {
    pool,
    failure: backend.failure,
    async close() {
      await pool.end()
      await backend.close()
    },
  }
}

interface Backend {
  /** Sends complete protocol messages and resolves to the answer. Rejects when the backend is lost. */
  send(messages: Uint8Array): Promise<Uint8Array>
  readonly failure: Promise<Error>
  close(): Promise<void>
}

/** The id of a thread that has ended (Node.js, `worker.threadId`). */
const ENDED = -1

interface PendingAnswer {
  resolve(answer: Uint8Array): void
  reject(error: Error): void
}

function openBackend(directory: string): Promise<Backend> {
  const thread = takeThread()
  return createBackend(thread, openInThread(thread, directory))
}

async function createBackend(worker: Worker, opened: Promise<void>): Promise<Backend> {
  await opened
  // The thread ended before the listeners below were added, so no event follows.
  if (worker.threadId === ENDED) throw new Error('its thread ended')

  const waiting: PendingAnswer[] = []
  let answerTimeout: NodeJS.Timeout | undefined
  let reason = 'its thread ended'
  let lost: Error | null = null
  let closing = false
  worker.on('message', (message: Uint8Array | string) => {
    if (typeof message === 'string') {
      reason = message
      return
    }
    const answered = waiting.shift()
    expectAnswer()
    // A port delivers messages that arrive meanwhile before the event loop continues, so a series of quick statements
    // would block the event loop for a long time.
    if (isTimeSliceOver()) setImmediate(() => answered?.resolve(message))
    else answered?.resolve(message)
  })

  /** Limits the time of the current statement. Ends the thread if it hangs, because it cannot be cancelled. */
  function expectAnswer(): void {
    clearTimeout(answerTimeout)
    if (waiting.length === 0) return
    answerTimeout = setTimeout(() => {
      reason = `a statement did not end within ${LONG_DEADLINE / MINUTE} minutes`
      void worker.terminate()
    }, LONG_DEADLINE).unref()
  }
  worker.on('error', (error) => {
    reason = error.message
  })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failure = new Promise<Error>((resolve) => {
    worker.once('exit', () => {
      clearTimeout(answerTimeout)
      lost = new Error(`The embedded database has stopped: ${reason}`)
      for (const { reject } of waiting.splice(0)) reject(lost)
      if (!closing) resolve(lost)
    })
  })

  return {
    failure,
    send(messages) {
      return new Promise((resolve, reject) => {
        if (lost) return reject(lost)
        if (waiting.push({ resolve, reject }) === 1) expectAnswer()
        const copy = Uint8Array.from(messages)
        worker.postMessage(copy, [copy.buffer])
      })
    },
    async close() {
      closing = true
      worker.postMessage(null)
      await exited
    },
  }
}

/** Creates the stream that a `pg` client uses as its socket. Resets the session first. */
function connectionTo(backend: Backend): Duplex {
  const forward = (messages: readonly Uint8Array[], done: (error?: Error) => void) => {
    const bytes = Buffer.concat(messages.filter((message) => !isTerminate(message)))
    if (messages.some(isTerminate)) stream.push(null)
    if (bytes.length > 0) {
      backend.send(bytes).then(
        (answer) => stream.push(answer),
        (error: Error) => stream.destroy(error),
      )
    }
    // The thread processes messages in order, so the statements of a transaction need not wait for each other.
    done()
  }
  const stream = new Duplex({
    read() {},
    write: (message: Uint8Array, _encoding, done) => forward([message], done),
    writev: (chunks, done) =>
      forward(
        chunks.map(({ chunk }): Uint8Array => chunk),
        done,
      ),
  })
  const connect = () => {
    backend.send(reset).then(
      () => stream.emit('connect'),
      (error: Error) => stream.destroy(error),
    )
  }
  const nothing = () => stream
  return Object.assign(stream, { connect, setNoDelay: nothing, setKeepAlive: nothing, ref: nothing, unref: nothing })
}

/** Returns whether a message is Terminate (PostgreSQL manual, "Message Formats"), which would end the only session. */
function isTerminate(message: Uint8Array): boolean {
  return message.length === 5 && message[0] === 'X'.charCodeAt(0)
}

/** Returns a simple query message of PostgreSQL's protocol. */
function query(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`)
  const header = Buffer.from('Q\0\0\0\0')
  header.writeInt32BE(text.length + 4, 1)
  return Buffer.concat([header, text])
}

/**
 * Resets everything that the previous client may have left open: `pg` drops its client after a failed statement, but
 * the session remains. It is DISCARD ALL without UNLISTEN, because listeners belong to the process and not to a client.
 */
const reset = Buffer.concat([
  Buffer.from('S\0\0\0\x04'),
  query('ROLLBACK'),
  query('CLOSE ALL; RESET ALL; DEALLOCATE ALL; SELECT pg_advisory_unlock_all(); DISCARD TEMP'),
])
