/** What a streamed page is made of, piece by piece. */
export interface PieceSource {
  /** The next piece and whether it is the last. Must not be empty. */
  next(): Promise<{ readonly html: string; readonly last: boolean }>
  /** Called when the last piece is sent, or as soon as the reader has left, also while `next` is under way. */
  end(): Promise<void>
}

/** A body that sends `first` at once, then what the source gives, as fast as the reader takes it. */
export function streamOf(first: string, source: PieceSource): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let left = false
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(first))
    },
    async pull(controller) {
      const { html, last } = await source.next()
      if (left) return
      controller.enqueue(encoder.encode(html))
      if (!last) return
      controller.close()
      await source.end()
    },
    async cancel() {
      left = true
      await source.end()
    },
  })
}
