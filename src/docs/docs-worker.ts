/**
 * Renders the guides and builds their search index in a worker thread, once: it takes some tenths of a second of CPU
 * time.
 */
import { readdir, readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { fileOf, sections } from './contents.ts'
import type { Guide } from './guide.ts'
import { renderGuide } from './guide.ts'
import { buildIndex } from './search.ts'

/** The input of the thread. */
export interface DocsWorkerData {
  /** The URL of the repository. */
  readonly root: string
}

/** The output of the thread. */
export interface RenderedDocs {
  readonly guides: readonly Guide[]
  /** The serialized index for `openSearch`. */
  readonly index: string
  /** PNG images by name. */
  readonly images: ReadonlyMap<string, Uint8Array<ArrayBuffer>>
}

const { root } = workerData as DocsWorkerData
const slugs = sections.flatMap((section) => section.slugs)
const guides = await Promise.all(
  slugs.map(async (slug) => renderGuide(slug, await readFile(new URL(fileOf(slug), root), 'utf8'))),
)
const folder = new URL('docs/images/', root)
const names = (await readdir(folder)).filter((name) => name.endsWith('.png'))
const images = new Map(
  await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(new URL(name, folder)))] as const)),
)
const rendered: RenderedDocs = { guides, index: buildIndex(guides), images }
parentPort?.postMessage(rendered)
