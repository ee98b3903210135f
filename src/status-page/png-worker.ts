import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { initWasm, Resvg } from '@resvg/resvg-wasm'
import { answerTasks } from '../core/task-worker.ts'

/** Renders SVG as PNG in a worker thread: one image takes as long as a hundred pages. */

const { resolve } = createRequire(import.meta.url)
await initWasm(await readFile(resolve('@resvg/resvg-wasm/index_bg.wasm')))
const font = (file: string) => readFile(resolve(`@expo-google-fonts/inter/${file}.ttf`))
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
