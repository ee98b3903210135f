import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { Compressed } from './encoding.ts'
import { compress } from './encoding.ts'

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
    const { js, css, editorWorkerService, jsonWorker, graphqlWorker } = await import(
      '@graphql-yoga/render-graphiql/graphiql'
    )
    return {
      'graphiql.js': js,
      'graphiql.css': css,
      'graphiql-editor.js': editorWorkerService,
      'graphiql-json.js': jsonWorker,
      'graphiql-graphql.js': graphqlWorker,
    }
  },
  async 'swagger-ui'() {
    const { resolve } = createRequire(import.meta.url)
    const read = (file: string) => readFile(resolve(`swagger-ui-dist/${file}`))
    return { 'swagger-ui.css': await read('swagger-ui.css'), 'swagger-ui.js': await read('swagger-ui-bundle.js') }
  },
}

async function prepare([name, content]: [string, string | Buffer]): Promise<LibraryFile> {
  const file = Buffer.from(content)
  const hash = createHash('sha256').update(file).digest('hex').slice(0, 10)
  return { name, hash, ...(await compress(file)) }
}

const read = libraries[workerData.library]
if (read === undefined) throw new Error(`There is no library ${workerData.library}.`)
parentPort?.postMessage(await Promise.all(Object.entries(await read()).map(prepare)))
