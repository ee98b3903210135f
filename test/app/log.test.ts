import fs from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createBoundedLog, createLog, logDestination } from '../../src/app/log.ts'
import { escapeControls } from '../../src/core/control-characters.ts'
import { MINUTE } from '../../src/core/time.ts'
import { logUnexpected } from '../../src/http/response/errors.ts'
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

/** A log in memory, its lines, and its clock. */
function memoryLog(level = 'info') {
  const lines: string[] = []
  let time = Date.parse('2026-11-28T12:00:00Z')
  const { log, report } = createBoundedLog({
    level,
    escaped: escapeControls,
    write: (line) => lines.push(line),
    now: () => new Date(time),
  })
  const minute = () => {
    time += MINUTE
    report()
  }
  return { log, lines, minute, read: () => lines.map((line) => JSON.parse(line)) }
}

describe('a line', () => {
  test('has at most 2 KiB, and stays JSON with the members of a shorter one', () => {
    const long = 'Zürich 💥'.repeat(1000)
    const controls = '\u0000\u009b\u2028\u{e0001}'.repeat(5000)
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${long}${n}`, long]))
    const { log, lines, read } = memoryLog('debug')
    for (const about of [
      { long },
      { list: Array(50).fill(long) },
      wide,
      { wide },
      { deep: nested(3000) },
      { controls },
    ]) {
      log.error(
        { ...about, err: new Error(long, { cause: new TypeError(long) }), errorId: 'x1' },
        'http: unexpected error',
      )
      log.debug({ args: [about, about] }, long)
    }
    expect(lines).toHaveLength(12)
    for (const line of lines) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(2048)
      expect(line.endsWith('\n') && line.indexOf('\n') === line.length - 1).toBe(true)
    }
    const [first] = read()
    expect(first).toMatchObject({
      level: 50,
      time: '2026-11-28T12:00:00.000Z',
      msg: 'http: unexpected error',
      errorId: 'x1',
    })
    expect(first.err).toMatchObject({ type: 'Error', message: expect.stringMatching(/^Zürich 💥.*…$/) })
    expect(first.err.stack).toContain('log.test.ts')
  })

  test('of up to 2 KiB is left as it is', () => {
    const { log, read } = memoryLog()
    const message = 'x'.repeat(1800)
    log.warn({ host: 'a.example' }, message)
    expect(read()).toEqual([{ level: 40, time: '2026-11-28T12:00:00.000Z', host: 'a.example', msg: message }])
  })

  test('about an error has no values of its members', () => {
    const { log, lines } = memoryLog()
    const error = Object.assign(new Error('no'), { code: '22021', parameters: ['secret'], detail: 'Key (a)=(secret)' })
    log.error({ err: error }, 'http: unexpected error')
    log.error(new Error('first', { cause: error }), 'as the only argument')
    expect(lines.join('')).not.toContain('secret')
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      err: { message: 'first', cause: { code: '22021', message: 'no' } },
    })
  })

  test('about an error of the ORM has neither the program nor the call', () => {
    const { log, lines, read } = memoryLog()
    const program = `const a = ${'x'.repeat(70_000)}`
    const invocation = 'Invalid `prisma.organization.findUnique()` invocation in\n/app/dist/program.cjs:3:1\n\n  2 '
    log.error(
      { err: new Error(`\n${invocation}${program}\n→ 3 b(\n\nThe text contains NUL.`) },
      'http: unexpected error',
    )
    expect(read()).toMatchObject([{ err: { message: 'The text contains NUL.' } }])
    expect(lines[0]?.length).toBeLessThan(2048)
  })
})

describe('lines that repeat', () => {
  const fail = (text: string) => new RangeError(text)
  const other = (text: string) => new RangeError(text)

  test('are counted after ten in a minute, and the next minute begins anew', () => {
    const { log, minute, read, lines } = memoryLog()
    for (let n = 0; n < 500; n++) log.error({ err: fail(`text ${n}`), errorId: `e${n}` }, 'http: unexpected error')
    expect(lines).toHaveLength(10)
    minute()
    expect(read().slice(10)).toEqual([
      {
        ...{ level: 50, time: '2026-11-28T12:01:00.000Z', repeated: 490, errorIds: 'e0…' },
        msg: '490 more of these: http: unexpected error',
      },
    ])
    minute()
    expect(lines).toHaveLength(11)
    log.error({ err: fail('again') }, 'http: unexpected error')
    expect(read().at(-1)).toMatchObject({ err: { message: 'again' } })
  })

  test('can be found by the id of an error that was only counted', () => {
    const { log, minute, read } = memoryLog()
    const ids = Array.from({ length: 300 }, (_, n) => logUnexpected(fail(`text ${n}`), log))
    expect(new Set(ids).size).toBe(300)
    minute()
    const start = ids.at(-1)?.slice(0, 6) ?? ''
    const found = read().filter((line) => JSON.stringify(line).includes(start))
    expect(found).toHaveLength(11)
    expect(found[0]).toMatchObject({ err: { type: 'RangeError', message: 'text 0' } })
    expect(found.at(-1)).toMatchObject({ repeated: 290, errorIds: `${start}…` })
    expect(logUnexpected(other('text'), log).slice(0, 6)).not.toBe(start)
  })

  test('are of one kind only with the same level, message and place', () => {
    const { log, lines, minute, read } = memoryLog()
    for (let n = 0; n < 20; n++) {
      log.error({ err: fail('x') }, 'one')
      log.error({ err: other('x') }, 'one')
      log.error({ err: fail('x') }, 'two')
      log.warn({ err: fail('x') }, 'one')
      log.warn(`attempt ${n} failed`)
    }
    expect(lines).toHaveLength(50)
    minute()
    expect(
      read()
        .slice(50)
        .map(({ level, repeated }) => [level, repeated]),
    ).toEqual([
      [50, 10],
      [50, 10],
      [50, 10],
      [40, 10],
      [40, 10],
    ])
  })

  test('of level debug all pass', () => {
    const { log, lines, minute } = memoryLog('debug')
    for (let n = 0; n < 100; n++) log.debug('same')
    minute()
    expect(lines).toHaveLength(100)
  })

  test('of too many kinds are written, but not remembered', () => {
    const { log, lines, minute } = memoryLog()
    const kinds = Array.from({ length: 1500 }, (_, n) => String.fromCodePoint(0x4e00 + n))
    for (const kind of kinds) log.error(kind)
    for (const kind of kinds) for (let n = 0; n < 20; n++) log.error(kind)
    expect(lines).toHaveLength(1000 * 10 + 500 * 21)
    minute()
    expect(lines).toHaveLength(1000 * 10 + 500 * 21 + 1000)
  })
})

function nested(depth: number): object {
  let value: object = {}
  for (let level = 0; level < depth; level++) value = { value }
  return value
}
