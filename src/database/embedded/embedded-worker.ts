/**
 * Runs the embedded PostgreSQL in a thread.
 *
 * Messages in: the directory of the database, then bytes of the PostgreSQL wire protocol, or null to close it.
 *
 * Messages out: null once the database is open, then the answer to each message in bytes, in order. A string is the
 * reason why the database can no longer be trusted; the thread ends after it.
 */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { createLimiter } from '../../core/concurrency/limiter.ts'

const main = parentPort
if (main === null) throw new Error('embedded-worker.ts runs as a worker thread only')

const directory = once(main, 'message').then(([path]: string[]) => path)
// Compiling takes a while and does not need the directory. The file is not kept, because the module has a copy of it.
const pgliteWasmModule = await readFile(fileURLToPath(import.meta.resolve('@electric-sql/pglite/pglite.wasm'))).then(
  (code) => WebAssembly.compile(code),
)

const database = await PGlite.create({
  dataDir: await directory,
  pgliteWasmModule,
  // The default shared buffers would take 128 MB of memory, and the system caches the files anyway: reading 20 MB again
  // takes as long with 8 MB as with 32 MB.
  startParams: [...PGlite.defaultStartParams, '-c', 'TimeZone=UTC', '-c', 'shared_buffers=8MB'],
})

// PGlite continues after any error thrown here, but only this exit status (its POSTGRES_MAIN_LONGJMP) means that a
// statement has failed. Any other means that the backend has exited, or that a trap has corrupted its memory.
const failedStatement = 100
const backend = database.Module
const runMessage = backend._PostgresMainLoopOnce
backend._PostgresMainLoopOnce = () => {
  try {
    runMessage()
  } catch (error) {
    const { status, message } = error as { status?: number; message?: string }
    if (status !== failedStatement) {
      main.postMessage(message ?? `it ended with status ${status}`)
      process.exit(1)
    }
    throw error
  }
}

/** Returns the answer to a message. Unlike `execProtocolRaw`, does not keep a parsed copy of every answer forever. */
async function answer(message: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  await database.execProtocolRawStream(message, { onRawData: (bytes) => chunks.push(bytes.slice()) })
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.length
  }
  return whole
}

async function handle(message: Uint8Array | null): Promise<void> {
  if (message === null) {
    await database.close()
    process.exit(0)
  }
  const bytes = await answer(message)
  main?.postMessage(bytes, [bytes.buffer])
}

const oneAtATime = createLimiter({ atOnce: 1 })
// A rejection ends the thread, because nothing handles it.
main.on('message', (message: Uint8Array | null) => void oneAtATime(() => handle(message)))
main.postMessage(null)
