import fs from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { logDestination } from '../../src/app/log.ts'
import { temporaryDirectory } from '../support/scratch.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('a log that cannot be written does not block, and resumes when it can', async () => {
  const { path, remove } = await temporaryDirectory()
  const file = join(path, 'log')
  const fd = fs.openSync(file, 'a')
  const log = pino({ base: undefined }, logDestination(fd))
  log.info('before')
  const full = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  })
  for (let line = 0; line < 5000; line += 1) log.info(`while full ${line} ${'x'.repeat(200)}`)
  log.fatal('while full')
  expect(full.mock.calls.length).toBeGreaterThan(1)
  full.mockRestore()
  for (let line = 0; line < 100; line += 1) log.info(`after ${line}`)
  const written = fs.readFileSync(file, 'utf8')
  expect(written).toContain('"msg":"before"')
  expect(written).toContain('"msg":"after 99"')
  expect(written.length, 'so much is kept, and the rest is lost').toBeLessThan(300_000)
  fs.closeSync(fd)
  await remove()
})

test('a full device does not end the process', () => {
  const fd = fs.openSync('/dev/full', 'w')
  const log = pino({ base: undefined }, logDestination(fd))
  log.info('one')
  log.fatal('two')
  fs.closeSync(fd)
})
