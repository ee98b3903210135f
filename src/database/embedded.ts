import { mkdir, rename, rm } from 'node:fs/promises'
import { Duplex } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import pg from 'pg'
import { MINUTE } from '../time.ts'
import { startWorker } from '../worker.ts'
import { holdsDatabase, whyNotOpened } from './embedded-directory.ts'
import { LONG_DEADLINE } from './patience.ts'

/** The embedded PostgreSQL: one session, in a worker thread, spoken to by `pg` over a stream in place of a socket. */
export interface Embedded {
  readonly pool: pg.Pool
  /** Resolves, with the reason, when the database is lost while in use; never otherwise. */
  readonly failure: Promise<Error>
  /** Waits for the statements under way, then closes the database and ends its thread. */
  close(): Promise<void>
}

/**
 * Makes an empty database in `directory`, which must not exist. A crash on the way leaves nothing there. The memory that
 * this takes (twice that of a running database) is given back with the thread it ran in.
 */
export async function createEmbedded(directory: string): Promise<void> {
  const unfinished = `${directory}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  try {
    await mkdir(unfinished, { mode: 0o700 })
    const backend = await startBackend(unfinished)
    await backend.close()
  } catch (error) {
    const why = await whyNotOpened(error, unfinished)
    await rm(unfinished, { recursive: true, force: true })
    throw why
  }
  await rename(unfinished, directory)
}

/**
 * Opens the database in `directory`, after `createEmbedded` where there is none.
 * @throws StartError with what is wrong with the directory and what to do.
 */
export async function openEmbedded(directory: string): Promise<Embedded> {
  if (!(await holdsDatabase(directory))) await createEmbedded(directory)
  const backend = await startBackend(directory).catch(async (error: unknown) => {
    throw await whyNotOpened(error, directory)
  })
  const pool = new pg.Pool({
    // Named here, since `pg` would take what is missing from PGUSER, PGOPTIONS and the like.
    user: 'postgres',
    database: 'postgres',
    options: '-c TimeZone=UTC',
    ssl: false,
    max: 1,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
    stream: () => connectionTo(backend),
  })
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
  /** The answer to some whole protocol messages. Rejects when the backend is lost. */
  send(messages: Uint8Array): Promise<Uint8Array>
  readonly failure: Promise<Error>
  close(): Promise<void>
}

interface Waiting {
  resolve(answer: Uint8Array): void
  reject(error: Error): void
}

async function startBackend(directory: string): Promise<Backend> {
  const worker = startWorker('database/embedded-worker', {
    // With the default of 4 MB a deeply nested statement ends the thread before PostgreSQL's own limit makes it an error.
    resourceLimits: { stackSizeMb: 64 },
    workerData: { directory },
  })
  await opened(worker)

  const waiting: Waiting[] = []
  let patience: NodeJS.Timeout | undefined
  let reason = 'its thread ended'
  let lost: Error | null = null
  let closing = false
  worker.on('message', (message: Uint8Array | string) => {
    if (typeof message === 'string') {
      reason = message
      return
    }
    waiting.shift()?.resolve(message)
    expectAnswer()
  })

  /** A statement that hangs in this database cannot be cancelled: the thread is ended, and with it the process's use of it. */
  function expectAnswer(): void {
    clearTimeout(patience)
    if (waiting.length === 0) return
    patience = setTimeout(() => {
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
      clearTimeout(patience)
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

/** Waits for the worker's word that its database is open. */
function opened(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`its thread ended with code ${code}`)))
  })
}

/** The stream that a `pg` client takes for a socket. It starts with a session as good as new. */
function connectionTo(backend: Backend): Duplex {
  const forward = (messages: readonly Uint8Array[], done: (error?: Error) => void) => {
    const bytes = Buffer.concat(messages.filter((message) => !isTerminate(message)))
    if (messages.some(isTerminate)) stream.push(null)
    if (bytes.length === 0) return done()
    backend.send(bytes).then((answer) => {
      stream.push(answer)
      done()
    }, done)
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

/** What a client says last (PostgreSQL manual, "Message Formats"). It would end the one session there is. */
function isTerminate(message: Uint8Array): boolean {
  return message.length === 5 && message[0] === 'X'.charCodeAt(0)
}

/** The simple query message of PostgreSQL's protocol. */
function query(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`)
  const header = Buffer.from('Q\0\0\0\0')
  header.writeInt32BE(text.length + 4, 1)
  return Buffer.concat([header, text])
}

/**
 * Ends what the client before may have left open: `pg` drops its client after any failed statement, but here the session
 * lives on. It is DISCARD ALL without UNLISTEN, since listeners belong to the process and not to a client.
 */
const reset = Buffer.concat([
  Buffer.from('S\0\0\0\x04'),
  query('ROLLBACK'),
  query('CLOSE ALL; RESET ALL; DEALLOCATE ALL; SELECT pg_advisory_unlock_all(); DISCARD TEMP'),
])
