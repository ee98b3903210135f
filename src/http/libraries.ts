import { once } from 'node:events'
import { extname } from 'node:path'
import { Hono } from 'hono'
import { startWorker } from '../worker.ts'
import { contentTypes, sendAsset } from './assets.ts'
import type { LibraryFile } from './library-worker.ts'

/** Libraries that single pages load in the browser. */
export type LibraryName = 'graphiql' | 'swagger-ui'

/** The files of libraries, ready to serve. Nothing is loaded before it is asked for: most servers never are. */
export interface Libraries {
  /** The paths of a library's files by their names, such as `graphiql.js` → `/assets/graphiql/graphiql.3f2a9c01d4.js`. */
  paths(library: LibraryName): Promise<(file: string) => string>
  /** Serves the files, to be kept for ever: a changed file has another name. */
  readonly routes: Hono
}

/** Libraries that are read and compressed in a thread, once; some 4 MB of them are kept. */
export function createLibraries(): Libraries {
  const loaded = new Map<LibraryName, Promise<ReadonlyMap<string, LibraryFile>>>()

  function load(library: LibraryName): Promise<ReadonlyMap<string, LibraryFile>> {
    const known = loaded.get(library)
    if (known !== undefined) return known
    const loading = readInThread(library)
    // What failed is tried again at the next request.
    loading.catch(() => loaded.delete(library))
    loaded.set(library, loading)
    return loading
  }

  const routes = new Hono()
  routes.get('/assets/:library{graphiql|swagger-ui}/:file', async (c) => {
    const file = (await load(c.req.param('library') as LibraryName)).get(c.req.param('file'))
    return file === undefined ? c.text('There is no such file.', 404) : sendAsset(c, contentTypeOf(file), file)
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

/** A library's files by their names with their hashes. */
async function readInThread(library: LibraryName): Promise<ReadonlyMap<string, LibraryFile>> {
  const [files]: LibraryFile[][] = await once(
    startWorker('http/library-worker', { workerData: { library } }),
    'message',
  )
  return new Map((files ?? []).map((file) => [`${stemOf(file)}.${file.hash}${extname(file.name)}`, file]))
}

const stemOf = ({ name }: LibraryFile) => name.slice(0, -extname(name).length)

const contentTypeOf = ({ name }: LibraryFile) => contentTypes[extname(name)] ?? 'application/octet-stream'
