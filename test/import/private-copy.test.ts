import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { removeLeftCopies, withPrivateCopy } from '../../src/import/private-copy.ts'
import { temporaryDirectory } from '../support/scratch.ts'

let remove = async () => {}
beforeEach(async () => {
  const scratch = await temporaryDirectory()
  remove = scratch.remove
  vi.stubEnv('TMPDIR', scratch.path)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await remove()
})

/** Leaves a copy as a process with this id does that is killed. */
function left(pid: number | string): string {
  const directory = mkdtempSync(join(tmpdir(), `allclear-import-${pid}-`))
  writeFileSync(join(directory, 'database'), 'secret')
  return directory
}

const ended = spawnSync(process.execPath, ['-e', '']).pid

test('a copy exists while it is used, and is removed afterwards', async () => {
  const path = await withPrivateCopy(Buffer.from('content'), async (file) => {
    await removeLeftCopies()
    expect(await readFile(file, 'utf8')).toBe('content')
    return file
  })
  expect(existsSync(dirname(path))).toBe(false)
})

test('copies of killed processes are removed, also if this process has the same id, as in a container', async () => {
  const [killed, before] = [left(ended), left(process.pid)]
  await removeLeftCopies()
  expect([killed, before].map((path) => existsSync(path))).toEqual([false, false])
  const another = left(ended)
  await withPrivateCopy(Buffer.from(''), () => {})
  expect(existsSync(another)).toBe(false)
})

test('copies of running processes and other directories stay', async () => {
  const kept = [left(process.ppid), left('x'), mkdtempSync(join(tmpdir(), 'other-'))]
  await removeLeftCopies()
  expect(kept.map((path) => existsSync(path))).toEqual([true, true, true])
})
