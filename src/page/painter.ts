import type { Worker } from 'node:worker_threads'
import { Unavailable } from '../errors.ts'
import { MINUTE } from '../time.ts'
import { startWorker } from '../worker.ts'
import type { Drawn, Wanted } from './picture-worker.ts'

/** Makes PNG pictures of SVG, without keeping anybody else waiting. */
export interface Painter {
  /** @throws Unavailable while too many are being drawn already. */
  paint(svg: string): Promise<Buffer<ArrayBuffer>>
  /** Ends its thread; what is being drawn is not finished. */
  close(): Promise<void>
}

/** How many pictures may be asked for at once. */
const MOST_WAITING = 20
/** How long the thread stays when no picture is wanted: starting it takes half a second, keeping it tens of megabytes. */
const IDLE = MINUTE

interface Waiting {
  done(png: Buffer<ArrayBuffer>): void
  failed(error: Error): void
}

/** A painter whose thread runs while it is needed. */
export function createPainter(): Painter {
  const waiting = new Map<number, Waiting>()
  let thread: Worker | null = null
  let last = 0
  let idle: NodeJS.Timeout | undefined

  function start(): Worker {
    const started = startWorker('page/picture-worker', {})
    // It keeps nothing running by itself.
    started.unref()
    started.on('message', ({ number, png }: Drawn) => {
      waiting.get(number)?.done(Buffer.from(png.buffer as ArrayBuffer, png.byteOffset, png.byteLength))
      waiting.delete(number)
      if (waiting.size === 0) idle = setTimeout(() => void stop(started), IDLE).unref()
    })
    started.on('error', (error) => abandon(started, error))
    started.on('exit', () => abandon(started, new Unavailable('The picture is not drawn, for the service stops.')))
    return started
  }

  /** The next picture gets a new thread, and those that waited for this one none. */
  function abandon(ended: Worker, error: Error): void {
    if (thread !== ended) return
    thread = null
    for (const { failed } of waiting.values()) failed(error)
    waiting.clear()
  }

  async function stop(running: Worker | null): Promise<void> {
    clearTimeout(idle)
    if (running === null) return
    abandon(running, new Unavailable('The picture is not drawn, for the service stops.'))
    await running.terminate()
  }

  return {
    paint(svg) {
      if (waiting.size >= MOST_WAITING) throw new Unavailable('Too many pictures are wanted at once. Try again soon.')
      clearTimeout(idle)
      thread ??= start()
      last += 1
      const wanted: Wanted = { number: last, svg }
      thread.postMessage(wanted)
      return new Promise((done, failed) => waiting.set(wanted.number, { done, failed }))
    },
    close: () => stop(thread),
  }
}
