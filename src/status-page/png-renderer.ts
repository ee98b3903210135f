import { Unavailable } from '../core/errors.ts'
import { TaskTimeout } from '../core/thread/task-runner.ts'
import { createTaskThread } from '../core/thread/task-thread.ts'
import { SECOND } from '../core/time.ts'

/** Renders SVG as PNG in a worker thread, so that rendering delays no other request. */
export interface PngRenderer {
  /**
   * @param owner the organization; each has a share of the queue.
   * @throws Unavailable when the queue is full, or when rendering takes too long.
   */
  render(svg: string, owner: string): Promise<Buffer<ArrayBuffer>>
  /** Ends the thread and drops unfinished images. */
  close(): Promise<void>
}

/** An image takes about a twentieth of it. */
const DEADLINE_MS = 5 * SECOND

/** Creates a renderer. Its thread runs only while it is needed. */
export function createPngRenderer(): PngRenderer {
  const thread = createTaskThread<string, Uint8Array<ArrayBuffer>>('status-page/png-worker', {
    timeoutMs: DEADLINE_MS,
    maxWaiting: 20,
    maxWaitingPerOwner: 5,
  })
  return {
    async render(svg, owner) {
      try {
        const png = await thread.run(owner, svg)
        return Buffer.from(png.buffer, png.byteOffset, png.byteLength)
      } catch (error) {
        if (error instanceof TaskTimeout) throw new Unavailable('Rendering the image took too long. Try again later.')
        throw error
      }
    },
    close: thread.close,
  }
}
