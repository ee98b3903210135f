import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { initWasm, Resvg } from '@resvg/resvg-wasm'

/** Draws SVG as PNG, in a thread of its own: a picture takes as long as a hundred pages. */

const { resolve } = createRequire(import.meta.url)
async function load(): Promise<Uint8Array[]> {
  await initWasm(await readFile(resolve('@resvg/resvg-wasm/index_bg.wasm')))
  const font = (file: string) => readFile(resolve(`@expo-google-fonts/inter/${file}.ttf`))
  return Promise.all([font('400Regular/Inter_400Regular'), font('700Bold/Inter_700Bold')])
}

/** A picture that is wanted: a number to tell it by, and its SVG. */
export interface Wanted {
  readonly number: number
  readonly svg: string
}

/** A picture that is drawn. */
export interface Drawn {
  readonly number: number
  readonly png: Uint8Array
}

function draw({ number, svg }: Wanted, fontBuffers: Uint8Array[]): void {
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'Inter' } })
  const image = drawing.render()
  const drawn: Drawn = { number, png: image.asPng() }
  image.free()
  drawing.free()
  parentPort?.postMessage(drawn)
}

let turn = load()
parentPort?.on('message', (wanted: Wanted) => {
  // What is thrown ends the thread, and with it those whose turn has not come.
  turn = turn.then((fonts) => {
    draw(wanted, fonts)
    return fonts
  })
})
