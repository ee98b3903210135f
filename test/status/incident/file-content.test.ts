import { describe, expect, test } from 'vitest'
import { Invalid } from '../../../src/core/errors.ts'
import {
  checkFile,
  cleanName,
  isPicture,
  MAX_FILE_BYTES,
  MAX_NAME_LENGTH,
} from '../../../src/status/incident/file-content.ts'
import { gif, jpeg, png, svg, textFile, webp } from '../../support/pictures.ts'

const check = (name: string, content: Uint8Array, alt?: string) => checkFile({ name, content, alt }, ['files', '0'])

describe('the type of a file is detected in its content', () => {
  test.each([
    ['a.png', png(8, 8), 'image/png', true],
    ['a.jpg', jpeg(8, 8), 'image/jpeg', true],
    ['a.webp', webp(8, 8), 'image/webp', true],
    ['a.gif', gif(8, 8), 'image/gif', true],
    ['a.svg', svg('<script>alert(1)</script>'), 'text/plain; charset=utf-8', false],
    ['a.png', textFile('<html><script>alert(1)</script>'), 'text/plain; charset=utf-8', false],
    ['a.log', textFile('ä'), 'text/plain; charset=utf-8', false],
    ['a.txt', new Uint8Array([65, 0, 66]), 'application/octet-stream', false],
    ['a.txt', new Uint8Array([0xff, 0xfe, 0x41]), 'application/octet-stream', false],
    ['a.html', textFile('%PDF-1.7'), 'application/pdf', false],
    // Decoded, each takes more than 100 MB.
    ['bomb.png', png(60_000, 60_000), 'application/octet-stream', false],
    ['wide.png', png(65_000, 2), 'application/octet-stream', false],
    ['empty.png', png(0, 8), 'application/octet-stream', false],
  ])('%s %#', (name, content, type, isShown) => {
    const file = check(name, content, 'A picture.')
    expect([file.type, isPicture(file), file.alt]).toEqual([type, isShown, isShown ? 'A picture.' : ''])
  })
})

test('a picture needs a description, and a file needs content', () => {
  const issuesOf = (name: string, content: Uint8Array, alt?: string) => {
    try {
      return check(name, content, alt)
    } catch (error) {
      return error instanceof Invalid ? error.issues.map(({ path }) => path.join('.')) : error
    }
  }
  expect(issuesOf('a.png', png(8, 8))).toEqual(['files.0.alt'])
  expect(issuesOf('a.png', png(8, 8), ' ')).toEqual(['files.0.alt'])
  expect(issuesOf('a.png', png(8, 8), 'x'.repeat(501))).toEqual(['files.0.alt'])
  expect(issuesOf('a.png', png(8, 8), 'a\u202eb')).toEqual(['files.0.alt'])
  expect(issuesOf('a.txt', new Uint8Array())).toEqual(['files.0.content'])
  expect(issuesOf('a.txt', new Uint8Array(MAX_FILE_BYTES + 1))).toEqual(['files.0.content'])
  expect(check('a.txt', new Uint8Array(MAX_FILE_BYTES)).type).toBe('application/octet-stream')
})

test.each([
  ['graph.png', 'graph.png'],
  ['/etc/passwd', 'passwd'],
  ['C:\\Users\\ana\\Bericht 1.pdf', 'Bericht 1.pdf'],
  ['../../.htaccess', 'htaccess'],
  ['a\u0000b\r\nc.log', 'a b c.log'],
  ['evil\u202egnp.exe', 'evil gnp.exe'],
  ['a<b>"c"|d?*.txt', 'a b c d.txt'],
  ['日本語.txt', '日本語.txt'],
  ['e\u0301.txt', 'é.txt'],
  ['\ud800.txt', 'txt'],
  ['...', 'file'],
  ['', 'file'],
])('the name %j becomes %j', (name, clean) => {
  expect(cleanName(name)).toBe(clean)
})

test('a huge name is cut, and keeps its extension', () => {
  const clean = cleanName(`${'💥'.repeat(100_000)}.log`)
  expect([...clean]).toHaveLength(MAX_NAME_LENGTH)
  expect(clean.endsWith('💥.log')).toBe(true)
})

test('a picture is saved with the extension of its type, regardless of its name', () => {
  expect(check('page.html', png(8, 8), 'x').name).toBe('page.html.png')
  expect(check('photo.JPEG', jpeg(8, 8), 'x').name).toBe('photo.JPEG')
  expect([...check('x'.repeat(500), gif(8, 8), 'x').name]).toHaveLength(MAX_NAME_LENGTH)
})
