import { chmod, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closeToOthers, KEY_FILE } from '../src/private-directory.ts'
import { temporaryDirectory } from './support/scratch.ts'

const { path, remove } = await temporaryDirectory()
const modeOf = async (file: string) => ((await stat(file)).mode & 0o7777).toString(8)

test('closes a data directory, and the key in it, that were open to others', async () => {
  const directory = join(path, 'data')
  const key = join(directory, KEY_FILE)
  await mkdir(directory)
  await chmod(directory, 0o755)
  await writeFile(key, 'secret')
  await chmod(key, 0o644)
  await closeToOthers(directory)
  expect([await modeOf(directory), await modeOf(key)]).toEqual(['700', '600'])
})

test('leaves a directory alone that others have files in, and one that is not there', async () => {
  const shared = join(path, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o1777)
  await closeToOthers(shared)
  expect(await modeOf(shared)).toBe('1777')
  await closeToOthers(join(path, 'nowhere'))
  await remove()
})
