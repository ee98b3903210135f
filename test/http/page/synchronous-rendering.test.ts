import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Prints the id of a continuation after a page was rendered: 0 unless promises are tracked. */
const script = (prepare: string) => `
  import { executionAsyncId } from 'node:async_hooks'
  import { jsx } from 'hono/jsx'
  import { renderSynchronously } from './src/http/page/synchronous-rendering.ts'
  ${prepare}
  const text = String(jsx('p', {}, 'text'))
  await null
  console.log(text, executionAsyncId())`

/** In a separate process, because other tests have already rendered in this one. */
async function printed(prepare: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', 'tsx', '--input-type=module', '--eval'],
    script(prepare),
  ])
  return stdout.trim()
}

test('rendering a page leaves the promises of the process untracked', async () => {
  expect(await printed('renderSynchronously()')).toBe('<p>text</p> 0')
})

test.runIf(process.version < 'v24')('without it, Node.js before version 24 tracks them', async () => {
  expect(await printed('')).not.toBe('<p>text</p> 0')
})
