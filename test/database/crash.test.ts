// @slow
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { type Child, startChild } from '../support/child.ts'
import { copyDataDir, serverDatabase, serverUrl } from '../support/database.ts'
import { temporaryDirectory } from '../support/scratch.ts'

/** Starts a process that writes rows. Returns it and the number of rows that it found. */
async function startWriter(where: string): Promise<{ child: Child; found: number }> {
  const child = startChild('database-child', ['write', where])
  expect(await child.line()).toBe('open')
  return { child, found: Number(await child.line()) }
}

async function place(): Promise<{ where: string; remove(): Promise<void> }> {
  if (serverUrl !== undefined) {
    const { url, remove } = await serverDatabase(serverUrl, inject('databaseTemplate'))
    return { where: url, remove }
  }
  const { path, remove } = await temporaryDirectory()
  copyDataDir(inject('databaseTemplate'), join(path, 'data'))
  return { where: join(path, 'data'), remove }
}

test('a process killed while writing loses no acknowledged write', async () => {
  const { where, remove } = await place()
  let written = -1
  for (const rows of [40, 300, 1]) {
    const { child, found } = await startWriter(where)
    // The process continues counting from the rows that it finds. If it was killed between writing and reporting the
    // last row, that row exists without having been reported.
    expect(found).toBeGreaterThan(written)
    expect(found).toBeLessThanOrEqual(written + 2)
    for (let reported = 0; reported < rows; reported++) written = Number(await child.line())
    await child.kill()
    for (let line = await child.line(); line !== null; line = await child.line()) written = Number(line)
  }
  await remove()
})
