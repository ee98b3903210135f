import fs from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { createLog, logDestination } from '../../src/app/log.ts'
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

test.each([
  ['on a terminal', true],
  ['as JSON', undefined],
])('foreign texts in the log do not control a terminal: %s', async (_, isTTY) => {
  const written: string[] = []
  const write = (_fd: number, text: unknown) => {
    written.push(String(text))
    return Buffer.byteLength(String(text))
  }
  vi.spyOn(fs, 'writeSync').mockImplementation(write as never)
  const before = Object.getOwnPropertyDescriptor(process.stdout, 'isTTY')
  Object.defineProperty(process.stdout, 'isTTY', { value: isTTY, configurable: true })
  try {
    const evil = 'x\u001b]0;t\u0007\u001b[2J\u009b2J\u202ey\r\b'
    createLog('info').warn({ err: new Error(evil), reply: evil, nested: { evil } }, `said ${evil}`)
  } finally {
    if (before) Object.defineProperty(process.stdout, 'isTTY', before)
    else Reflect.deleteProperty(process.stdout, 'isTTY')
  }
  vi.restoreAllMocks()
  const text = written.join('')
  expect(text).toContain('said x')
  // The log has colours of its own (SGR, ECMA-48 §8.3.117).
  const esc = '\u001b'
  const plain = text.replace(new RegExp(`${esc}\\[\\d+m`, 'g'), '')
  expect(plain).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}]/u)
  if (isTTY === undefined) expect(JSON.parse(text).msg).toBe('said x\u001b]0;t\u0007\u001b[2J\u009b2J\u202ey\r\b')
})
