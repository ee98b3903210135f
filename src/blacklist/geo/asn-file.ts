import { createHash, randomUUID, webcrypto } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { startWorker } from '../../core/thread/worker-thread.ts'
import type { AsnFiles } from './asn-csv.ts'
import { ASN_TABLE_LAYOUT, readAsnTable } from './asn-table.ts'
import { openPagedFile, randomAccessTo } from './paged-file.ts'
import type { Network } from './record.ts'

/** The CSV files to compile, and their version. A new version is compiled again. */
export interface AsnSource extends AsnFiles {
  readonly version: string
}

const DIGEST_BYTES = 32

/**
 * Opens the network lookup from the table at `path` if the table is intact and of this source version. Otherwise
 * compiles the table and stores it there. Several processes can do this at once. If the table cannot be stored, logs a
 * warning and keeps it in memory.
 * @throws when the source cannot be read, or the signal aborts.
 */
export async function openAsnTable(
  source: AsnSource,
  path: string,
  log: Logger,
  signal: AbortSignal,
): Promise<(address: string) => Network | null> {
  if (await isIntact(path, source.version, log)) return openStored(path, signal)
  log.info('geo: compiling AS numbers (first start or new data; takes a few seconds)')
  const block = await compile(source, signal)
  try {
    await writeStored(path, source.version, block)
  } catch (error) {
    log.warn(
      { err: error },
      `geo: could not store the compiled AS numbers in ${path}; the next start compiles them again`,
    )
    return readAsnTable(randomAccessTo(block))
  }
  return openStored(path, signal)
}

/** Opens a stored table, and closes it when the signal aborts. */
function openStored(path: string, signal: AbortSignal): (address: string) => Network | null {
  signal.throwIfAborted()
  const file = openPagedFile(path)
  signal.addEventListener('abort', file.close, { once: true })
  return readAsnTable(file, DIGEST_BYTES)
}

async function isIntact(path: string, version: string, log: Logger): Promise<boolean> {
  try {
    const file = await readFile(path)
    return (await digest(version, file.subarray(DIGEST_BYTES))).equals(file.subarray(0, DIGEST_BYTES))
  } catch (error) {
    log.debug({ err: error }, 'geo: could not read compiled AS numbers')
    return false
  }
}

/** Writes a temporary file and renames it, so that no process reads an incomplete table. */
async function writeStored(path: string, version: string, block: Uint8Array<ArrayBuffer>): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, [await digest(version, block), block])
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Returns a digest of layout, version and content, which detects a damaged, truncated or outdated file. */
async function digest(version: string, block: Uint8Array<ArrayBuffer>): Promise<Buffer> {
  // Runs in another thread. createHash would block this one for about ten milliseconds (10 MB).
  const content = await webcrypto.subtle.digest('SHA-256', block)
  return createHash('sha256').update(`${ASN_TABLE_LAYOUT}\n${version}\n`).update(Buffer.from(content)).digest()
}

async function compile(files: AsnFiles, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  signal.throwIfAborted()
  const worker = startWorker('blacklist/geo/asn-compiler', { workerData: files })
  const stop = () => void worker.terminate()
  signal.addEventListener('abort', stop)
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', resolve)
      worker.on('error', reject)
      worker.on('exit', () => reject(new Error('the worker thread that compiles AS numbers has stopped')))
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
