import { readFile } from 'node:fs/promises'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { packageFile } from '../core/process/package-file.ts'
import { answerTasks } from '../core/thread/task-worker.ts'

/** Renders SVG as PNG in a worker thread: one image takes as long as a hundred pages. */

await initWasm(await readFile(packageFile('@resvg/resvg-wasm/index_bg.wasm')))
// The font package of the pages is not suitable: this renderer draws only one weight of a variable font.
const font = (file: string) => readFile(packageFile(`@expo-google-fonts/inter/${file}.ttf`))
const fontBuffers: Uint8Array[] = await Promise.all([
  font('400Regular/Inter_400Regular'),
  font('700Bold/Inter_700Bold'),
])

answerTasks((svg: string): Uint8Array => {
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Inter' } })
  const image = drawing.render()
  const png = image.asPng()
  image.free()
  drawing.free()
  return png
})
