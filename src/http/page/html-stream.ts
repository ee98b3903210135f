import { Duplex } from 'node:stream'
import { createGzip, constants as zlib } from 'node:zlib'

/** The chunks of a streamed page. */
export interface ChunkSource {
  /** Returns the next chunk, which must not be empty. */
  next(): Promise<{ readonly html: string; readonly isLast: boolean }>
  /** Called after the last chunk, or as soon as the reader disconnects, also while `next` runs. */
  close(): Promise<void>
}

/** Creates a body that sends `first` at once, then the source's chunks at the reader's pace. */
export function createHtmlStream(first: string, source: ChunkSource): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isCancelled = false
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(first))
    },
    async pull(controller) {
      const { html, isLast } = await source.next()
      if (isCancelled) return
      controller.enqueue(encoder.encode(html))
      if (!isLast) return
      controller.close()
      await source.close()
    },
    async cancel() {
      isCancelled = true
      await source.close()
    },
  })
}

/** Compresses a stream so that written data can be read at once. */
export function zippedStream(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // Node's types of web streams differ from those of the platform in members that are not used here.
  const zip = Duplex.toWeb(createGzip({ flush: zlib.Z_SYNC_FLUSH })) as unknown
  return stream.pipeThrough(zip as ReadableWritablePair<Uint8Array, Uint8Array>)
}
