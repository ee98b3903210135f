// @slow
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DirectoryLock, lockDirectory } from '../../../src/database/embedded/directory-lock.ts'
import { startChild } from '../../support/child.ts'
import { temporaryDirectory } from '../../support/scratch.ts'

let directory: string
let remove: () => Promise<void>

beforeEach(async () => {
  const temporary = await temporaryDirectory()
  directory = temporary.path
  remove = temporary.remove
})
afterEach(() => remove())

const startHolder = () => startChild('lock-child', [directory])

test('a second lock is refused with its directory and owner', async () => {
  const lock = await lockDirectory(directory)
  await expect(lockDirectory(directory)).rejects.toThrow(`${directory} is in use by process ${process.pid}.`)
  await lock.release()
})

test('a released lock can be taken again and leaves nothing behind', async () => {
  const first = await lockDirectory(directory)
  await first.release()
  const second = await lockDirectory(directory)
  await second.release()
  expect(await readdir(directory)).toEqual([])
})

test('another process is refused while the first one lives, and takes over after it was killed', async () => {
  const first = startHolder()
  expect(await first.line()).toBe('locked')
  await expect(lockDirectory(directory)).rejects.toThrow(`is in use by process ${first.pid}.`)
  await first.kill()
  const lock = await lockDirectory(directory)
  expect(await readdir(directory)).toHaveLength(1)
  await lock.release()
})

test('exactly one of ten concurrent starts wins, even with a lock left by a killed process', async () => {
  const dead = startHolder()
  expect(await dead.line()).toBe('locked')
  await dead.kill()
  for (let round = 0; round < 50; round++) {
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => lockDirectory(directory)))
    const won = results.filter(
      (result): result is PromiseFulfilledResult<DirectoryLock> => result.status === 'fulfilled',
    )
    expect(won).toHaveLength(1)
    await won[0]?.value.release()
  }
})

test('exactly one of four concurrent processes wins', async () => {
  const children = Array.from({ length: 4 }, startHolder)
  const lines = await Promise.all(children.map((child) => child.line()))
  expect(lines.filter((line) => line === 'locked')).toHaveLength(1)
  expect(lines.filter((line) => line?.includes('is in use by'))).toHaveLength(3)
  await Promise.all(children.map((child) => child.kill()))
})

test('a directory with a path too long for a socket address can be locked', async () => {
  const deep = join(directory, 'a-long-name'.repeat(10), 'ü'.repeat(60))
  await mkdir(deep, { recursive: true })
  const lock = await lockDirectory(deep)
  await expect(lockDirectory(deep)).rejects.toThrow('is in use by process')
  await lock.release()
  expect(await readdir(deep)).toEqual([])
})
