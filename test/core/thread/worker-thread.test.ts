import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// The other tests, and the service, start theirs from bundles.
test('a thread starts from its source if the program runs from sources', async () => {
  const script = `
    import { createTaskThread } from ${JSON.stringify(new URL('../../../src/core/thread/task-thread.ts', import.meta.url).href)}
    const limits = { timeoutMs: 60_000, maxWaiting: 1, maxWaitingPerOwner: 1 }
    const thread = createTaskThread('core/markdown/markdown-worker', limits)
    console.log(await thread.run('me', '*Hello*'))
    await thread.close()`
  const node = [...['--import', 'tsx'], ...['--input-type', 'module'], '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, node)
  expect(stdout).toBe('<p><em>Hello</em></p>\n')
})
