import { once } from 'node:events'
import { extname } from 'node:path'
import { Hono } from 'hono'
import { startWorker } from '../../core/thread/worker-thread.ts'
import { contentTypes, sendAsset } from './assets.ts'
import type { LibraryFile } from './library-worker.ts'

/** Libraries that single pages load in the browser. */
type LibraryName = 'graphiql'

/** The files of browser libraries, loaded on first use: most servers never need them. */
export interface Libraries {
  /**
   * Returns the paths of a library's files by name, such as `graphiql.js` → `/assets/graphiql/graphiql.3f2a9c01d4.js`.
   */
  paths(library: LibraryName): Promise<(file: string) => string>
  /** Serves the files as immutable: a changed file has another name. */
  readonly routes: Hono
}

/** Creates the libraries. A worker thread reads and compresses each one once; together they take about 4 MB. */
export function createLibraries(): Libraries {
  const loaded = new Map<LibraryName, Promise<ReadonlyMap<string, LibraryFile>>>()

  function load(library: LibraryName): Promise<ReadonlyMap<string, LibraryFile>> {
    const existing = loaded.get(library)
    if (existing !== undefined) return existing
    const loading = readInThread(library)
    // The next request retries after an error.
    loading.catch(() => loaded.delete(library))
    loaded.set(library, loading)
    return loading
  }

  const routes = new Hono()
  routes.get('/assets/:library{graphiql}/:file', async (c) => {
    const file = (await load(c.req.param('library') as LibraryName)).get(c.req.param('file'))
    return file === undefined ? c.text('File not found.', 404) : sendAsset(c, contentTypeOf(file), file)
  })

  return {
    routes,
    async paths(library) {
      const files = [...(await load(library))]
      return (name) => {
        const found = files.find(([, file]) => file.name === name)
        if (found === undefined) throw new Error(`The library ${library} has no file ${name}.`)
        return `/assets/${library}/${found[0]}`
      }
    },
  }
}

/** Reads a library's files, by names that contain their hashes. */
async function readInThread(library: LibraryName): Promise<ReadonlyMap<string, LibraryFile>> {
  const [files]: LibraryFile[][] = await once(
    startWorker('http/assets/library-worker', { workerData: { library } }),
    'message',
  )
  return new Map((files ?? []).map((file) => [`${stemOf(file)}.${file.hash}${extname(file.name)}`, file]))
}

const stemOf = ({ name }: LibraryFile) => name.slice(0, -extname(name).length)

const contentTypeOf = ({ name }: LibraryFile) => contentTypes[extname(name)] ?? 'application/octet-stream'
