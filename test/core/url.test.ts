import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseUrl } from '../../src/core/url.ts'

test.each([
  ['https://bücher.example/ä?ö', 'https://xn--bcher-kva.example/%C3%A4?%C3%B6'],
  ['http://127.1:80', 'http://127.0.0.1/'],
  ['no url', undefined],
  ['http://', undefined],
  ['http://[::1', undefined],
])('%s is %s', (text, href) => {
  expect(parseUrl(text)?.href).toBe(href)
})

test('a base completes relative URLs', () => {
  expect(parseUrl('/a', 'https://own.example/b')?.href).toBe('https://own.example/a')
  expect(parseUrl('/a')).toBeNull()
})

// On Node 20, URL.canParse refuses such hosts after about 7,500 calls.
test('letters beyond ASCII are accepted however often URLs are parsed', () => {
  for (let count = 0; count < 50_000; count++) {
    if (parseUrl('https://bücher.example') === null) throw new Error(`Refused after ${count} calls.`)
  }
})

test('no other code calls URL.canParse', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const asking = files.filter((file) => readFileSync(join('src', file), 'utf8').includes('URL.canParse('))
  expect(asking).toEqual([])
})
