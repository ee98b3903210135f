import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { ownValue } from '../../core/own-value.ts'
import { packageFile } from '../../core/process/package-file.ts'
import type { Compressed } from '../response/encoding.ts'
import { compress } from '../response/encoding.ts'

/** Reads and compresses a browser library in a worker thread: GraphiQL takes 40 MB and a second of CPU time. */

/** A file, ready to serve. */
export interface LibraryFile extends Compressed {
  readonly name: string
  /** The hash of its content. */
  readonly hash: string
}

/** The readers of the libraries' files, by library name. */
const libraries: Readonly<Record<string, () => Promise<Readonly<Record<string, string | Buffer>>>>> = {
  async graphiql() {
    const { js, css, editorWorkerService, jsonWorker, graphqlWorker } = await importGraphiql()
    return {
      'graphiql.js': js,
      'graphiql.css': css,
      'graphiql-editor.js': editorWorkerService,
      'graphiql-json.js': jsonWorker,
      'graphiql-graphql.js': graphqlWorker,
    }
  },
}

type Graphiql = typeof import('@graphql-yoga/render-graphiql/graphiql')

function importGraphiql(): Promise<Graphiql> {
  return import(packageFile('@graphql-yoga/render-graphiql/graphiql').href)
}

async function prepare([name, content]: [string, string | Buffer]): Promise<LibraryFile> {
  const file = Buffer.from(content)
  const hash = createHash('sha256').update(file).digest('hex').slice(0, 10)
  return { name, hash, ...(await compress(file)) }
}

const read = ownValue(libraries, workerData.library)
if (read === undefined) throw new Error(`There is no library ${workerData.library}.`)
parentPort?.postMessage(await Promise.all(Object.entries(await read()).map(prepare)))
