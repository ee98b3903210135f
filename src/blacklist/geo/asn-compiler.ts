/** Compiles the table for `asn-file.ts` in a worker thread, because the seconds of work would block the main thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { type AsnFiles, readAsnFiles } from './asn-csv.ts'
import { packAsnTable } from './asn-table.ts'

const files: AsnFiles = workerData
const block = packAsnTable(await readAsnFiles(files))
parentPort?.postMessage(block, [block.buffer])
