import { expect, test } from 'vitest'
import { progressOn } from '../../src/cli/terminal.ts'

const screenOf = (isTTY?: boolean, columns?: number) => {
  const written: string[] = []
  const screen = { ...(isTTY !== undefined && { isTTY }), ...(columns !== undefined && { columns }) }
  return { written, progress: progressOn({ ...screen, write: (text) => written.push(text) }) }
}

test('progress replaces the previous progress, and can be erased', () => {
  const { written, progress } = screenOf(true)
  for (const text of [null, 'one', 'two', null, null]) progress(text)
  expect(written).toEqual(['one', '\r\u001b[2K', 'two', '\r\u001b[2K'])
})

test('progress stays on one line, without terminal control characters', () => {
  const { written, progress } = screenOf(true, 10)
  progress('a\u001b[2J\nbcdefghijklm')
  expect(written).toEqual(['a [2J bcd'])
})

test.each([[false], [undefined]])('shows no progress unless the stream is a terminal: isTTY %s', (isTTY) => {
  const { written, progress } = screenOf(isTTY)
  progress('one')
  progress(null)
  expect(written).toEqual([])
})
