import { chmod, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KEY_FILE, restrictDirectory } from '../../../src/core/process/private-directory.ts'
import { temporaryDirectory } from '../../support/scratch.ts'

const { path, remove } = await temporaryDirectory()
const modeOf = async (file: string) => ((await stat(file)).mode & 0o7777).toString(8)

test('removes other users’ access to the data directory and its key', async () => {
  const directory = join(path, 'data')
  const key = join(directory, KEY_FILE)
  await mkdir(directory)
  await chmod(directory, 0o755)
  await writeFile(key, 'secret')
  await chmod(key, 0o644)
  await restrictDirectory(directory)
  expect([await modeOf(directory), await modeOf(key)]).toEqual(['700', '600'])
})

test('ignores shared and missing directories', async () => {
  const shared = join(path, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o1777)
  await restrictDirectory(shared)
  expect(await modeOf(shared)).toBe('1777')
  await restrictDirectory(join(path, 'nowhere'))
  await remove()
})
