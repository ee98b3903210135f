import { createHash, randomUUID, webcrypto } from 'node:crypto'
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { startWorker } from '../../worker.ts'
import type { AsnFiles } from './asn-csv.ts'
import { asnLayout, readAsnTable } from './asn-table.ts'
import type { Network } from './record.ts'

/** The CSV files to compile, and their version: another version is compiled anew. */
export interface AsnSource extends AsnFiles {
  readonly version: string
}

const SEAL_BYTES = 32

/**
 * The lookup of networks, from the table at `path` when that is whole and made of this version of the source, else
 * compiled and stored there. Processes that do so at the same time do not disturb each other. Where nothing can be
 * stored it works all the same, with a warning.
 * @throws when the source cannot be read, or the signal aborts.
 */
export async function openAsnTable(
  source: AsnSource,
  path: string,
  log: Logger,
  signal: AbortSignal,
): Promise<(address: string) => Network | null> {
  const stored = await restore(path, source.version, log)
  if (stored !== null) return readAsnTable(stored)
  log.info('geo: compiling AS numbers (first start or new data, a few seconds)')
  const block = await compile(source, signal)
  await store(path, source.version, block).catch((error: unknown) => {
    log.warn({ err: error }, `geo: the compiled AS numbers cannot be kept in ${path}: every start compiles them again`)
  })
  return readAsnTable(block)
}

async function restore(path: string, version: string, log: Logger): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    const file = await readAligned(path)
    const block = file.subarray(SEAL_BYTES)
    return (await seal(version, block)).equals(file.subarray(0, SEAL_BYTES)) ? block : null
  } catch (error) {
    log.debug({ err: error }, 'geo: no compiled AS numbers could be read')
    return null
  }
}

/** The content of a file from the beginning of a block of memory, as the table's words need it: a Buffer may begin anywhere. */
async function readAligned(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = await open(path)
  try {
    const content = new Uint8Array((await file.stat()).size)
    await file.read(content)
    return content
  } finally {
    await file.close()
  }
}

/** Writes beside the file and renames, so that no reader ever meets half of it. */
async function store(path: string, version: string, block: Uint8Array<ArrayBuffer>): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, [await seal(version, block), block])
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

/** A digest that only the same layout, version and content have: a damaged, cut or outdated file has another one. */
async function seal(version: string, block: Uint8Array<ArrayBuffer>): Promise<Buffer> {
  // Off this thread, unlike createHash: 10 MB would hold it up for some ten milliseconds.
  const content = await webcrypto.subtle.digest('SHA-256', block)
  return createHash('sha256').update(`${asnLayout}\n${version}\n`).update(Buffer.from(content)).digest()
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
      worker.on('exit', () => reject(new Error('the thread that compiles AS numbers has stopped')))
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await worker.terminate()
  }
}
