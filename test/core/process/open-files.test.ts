import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openFileLimit } from '../../../src/core/process/open-files.ts'

const limits = (
  soft: string,
  hard: string,
) => `Limit                     Soft Limit           Hard Limit           Units
Max core file size        0                    unlimited            bytes
Max open files            ${soft.padEnd(20)} ${hard.padEnd(20)} files
Max locked memory         67108864             67108864             bytes
`

test.each([
  ['the hard limit', limits('1024', '524288'), 524_288],
  ['unlimited', limits('1024', 'unlimited'), Number.POSITIVE_INFINITY],
  ['a system without the figure', '', Number.POSITIVE_INFINITY],
])('%s', (_, text, limit) => {
  expect(openFileLimit(text)).toBe(limit)
})

test.runIf(process.platform === 'linux')('the kernel’s data about this process', () => {
  expect(readFileSync('/proc/self/limits', 'utf8')).toContain('Max open files')
  expect(openFileLimit()).toBeGreaterThan(100)
})
