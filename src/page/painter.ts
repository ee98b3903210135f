import { Unavailable } from '../errors.ts'
import { createTaskThread, TookTooLong } from '../task-thread.ts'
import { SECOND } from '../time.ts'

/** Makes PNG pictures of SVG, without keeping anybody else waiting. */
export interface Painter {
  /**
   * @param owner the organization, of which there may be many at once.
   * @throws Unavailable while too many are being drawn already, or when it takes too long.
   */
  paint(svg: string, owner: string): Promise<Buffer<ArrayBuffer>>
  /** Ends its thread; what is being drawn is not finished. */
  close(): Promise<void>
}

/** A picture takes a twentieth of it. */
const DEADLINE = 5 * SECOND

/** A painter whose thread runs while it is needed. */
export function createPainter(): Painter {
  const thread = createTaskThread<string, Uint8Array<ArrayBuffer>>('page/picture-worker', {
    deadline: DEADLINE,
    waiting: 20,
    waitingOfOne: 5,
  })
  return {
    async paint(svg, owner) {
      try {
        const png = await thread.run(owner, svg)
        return Buffer.from(png.buffer, png.byteOffset, png.byteLength)
      } catch (error) {
        if (error instanceof TookTooLong) throw new Unavailable('The picture takes too long to draw.')
        throw error
      }
    },
    close: thread.close,
  }
}
