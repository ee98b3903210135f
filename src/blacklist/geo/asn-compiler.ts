/** The worker thread in which `asn-file.ts` compiles: seconds of work that would hold up everything else. */
import { parentPort, workerData } from 'node:worker_threads'
import { type AsnFiles, readAsnFiles } from './asn-csv.ts'
import { packAsnTable } from './asn-table.ts'

const files: AsnFiles = workerData
const block = packAsnTable(await readAsnFiles(files))
parentPort?.postMessage(block, [block.buffer])
